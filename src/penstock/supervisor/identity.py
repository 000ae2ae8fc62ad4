"""Which user PostgreSQL runs as. It refuses root; the modes of folders are not changed for it."""

from __future__ import annotations

import os
import pwd
import stat
import subprocess
import sys
from collections.abc import Callable, Collection
from dataclasses import dataclass
from pathlib import Path
from typing import Literal

from penstock.supervisor.children import LIBC, die_with_parent
from penstock.supervisor.errors import UnsafeFolder

NO_NAMESPACE = "PENSTOCK_PG_NO_NAMESPACE"
_CLONE_NEWUSER = 0x10000000
_INSIDE_ID = 1000


@dataclass(frozen=True)
class Identity:
    uid: int
    gid: int
    how: Literal["self", "namespace", "account"]

    def launch_hook(self, death_signal: int) -> Callable[[], None]:
        """For ``preexec_fn``: become this identity, tied to the life of the caller."""
        parent = os.getpid()
        group = os.getegid()

        def become() -> None:
            if self.how == "namespace":
                _enter_user_namespace(group)
            elif self.how == "account":
                os.setgroups([])
                os.setgid(self.gid)
                os.setuid(self.uid)
            die_with_parent(death_signal, parent)

        return become


def _enter_user_namespace(group: int) -> None:
    """Inside, root is user 1000; outside, every file it touches is still root's."""
    if LIBC.unshare(_CLONE_NEWUSER) != 0:
        raise OSError("user namespaces are not permitted")
    for name, text in (
        ("setgroups", "deny"),
        ("uid_map", f"{_INSIDE_ID} 0 1"),
        ("gid_map", f"{_INSIDE_ID} {group} 1"),
    ):
        fd = os.open(f"/proc/self/{name}", os.O_WRONLY)
        os.write(fd, text.encode())
        os.close(fd)


def choose_identity(data_dir: Path, binaries: Path) -> Identity:
    if os.geteuid() != 0:
        return Identity(os.geteuid(), os.getegid(), "self")
    owner = data_dir.stat()
    if owner.st_uid != 0:
        # Root must not leave files that the owner of the folder cannot use.
        chosen = Identity(owner.st_uid, owner.st_gid, "account")
    elif namespaces_work(binaries):
        chosen = Identity(0, os.getegid(), "namespace")
    else:
        account = unprivileged_account()
        chosen = Identity(account.pw_uid, account.pw_gid, "account")
    groups = {chosen.gid, *os.getgroups()} if chosen.how == "namespace" else {chosen.gid}
    for path in (data_dir, binaries):
        _require_reach(chosen, groups, path)
    return chosen


def wants_fallback(binaries: Path) -> bool:
    return os.geteuid() == 0 and not namespaces_work(binaries)


def namespaces_work(binaries: Path) -> bool:
    if sys.platform != "linux" or os.environ.get(NO_NAMESPACE):
        return False
    group = os.getegid()
    try:
        subprocess.run(
            [binaries / "postgres", "--version"],
            preexec_fn=lambda: _enter_user_namespace(group),
            capture_output=True,
            check=True,
            timeout=10,
        )
    except (OSError, subprocess.SubprocessError):
        return False
    return True


def unprivileged_account() -> pwd.struct_passwd:
    for name in ("postgres", "nobody"):
        try:
            return pwd.getpwnam(name)
        except KeyError:
            continue
    raise UnsafeFolder(
        "PostgreSQL does not run as root, and there is neither an account `postgres` nor "
        "`nobody` to run it as. Run Penstock as an ordinary user."
    )


def _require_reach(who: Identity, groups: Collection[int], path: Path) -> None:
    blocked = blocking_folder(who.uid, groups, path)
    if blocked is None:
        return
    account = pwd.getpwuid(who.uid).pw_name if who.uid in _known_uids() else str(who.uid)
    raise UnsafeFolder(
        f"PostgreSQL does not run as root, and as `{account}` it cannot enter {blocked} on the "
        f"way to {path}. Set PENSTOCK_DATA_DIR to a folder it can reach (and install Penstock "
        "where it can read it), or run Penstock as an ordinary user."
    )


def _known_uids() -> set[int]:
    return {entry.pw_uid for entry in pwd.getpwall()}


def blocking_folder(uid: int, groups: Collection[int], path: Path) -> Path | None:
    """The first folder from the root down that this user may not pass through."""
    resolved = path.resolve()
    for folder in [*reversed(resolved.parents), resolved]:
        found = folder.stat()
        if found.st_uid == uid:
            needed = stat.S_IXUSR
        elif found.st_gid in groups:
            needed = stat.S_IXGRP
        else:
            needed = stat.S_IXOTH
        if not found.st_mode & needed:
            return folder
    return None


def hand_over(tree: Path, uid: int, gid: int) -> None:
    """Give a whole tree to its new owner; a tree that has the owner already costs one stat."""
    if os.geteuid() != 0 or tree.lstat().st_uid == uid:
        return
    for folder, subfolders, files, fd in os.fwalk(tree, topdown=False, follow_symlinks=False):
        del folder
        for name in (*subfolders, *files):
            os.chown(name, uid, gid, dir_fd=fd, follow_symlinks=False)
    # Last, so that a walk cut short by a kill is done again at the next start.
    os.chown(tree, uid, gid, follow_symlinks=False)
