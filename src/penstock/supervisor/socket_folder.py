"""The private folder of PostgreSQL's socket. Its path must be short."""

from __future__ import annotations

import hashlib
import os
import re
import stat
from pathlib import Path

from penstock.supervisor.errors import UnsafeFolder

PORT = 5432
_SOCKET = f".s.PGSQL.{PORT}"
_LONGEST = 107
# A comma separates folders for PostgreSQL and hosts for its clients; others need quoting.
_PLAIN = re.compile(r"[A-Za-z0-9._/+-]+")
# Its owner, mode and kind are checked before it is used.
_TEMPORARY = Path("/tmp")  # noqa: S108


def socket_folder(data_dir: Path, uid: int) -> Path:
    """The same folder for every process of this data folder, whatever its environment."""
    beside = data_dir / "run"
    if len(os.fsencode(beside / _SOCKET)) <= _LONGEST and _PLAIN.fullmatch(str(beside)):
        return beside
    name = hashlib.sha256(os.fsencode(data_dir)).hexdigest()[:16]
    return _TEMPORARY / f"penstock-{uid}-{name}"


def make_socket_folder(data_dir: Path, uid: int, gid: int) -> Path:
    folder = socket_folder(data_dir, uid)
    try:
        os.mkdir(folder, 0o700)
    except FileExistsError:
        if folder.parent == data_dir:
            _take_back(folder, uid, gid)
    else:
        if os.geteuid() == 0:
            os.chown(folder, uid, gid, follow_symlinks=False)
    require_private(folder, uid)
    return folder


def _take_back(folder: Path, uid: int, gid: int) -> None:
    """Only inside our own data folder, where a changed owner or mode is ours to repair."""
    if not stat.S_ISDIR(folder.lstat().st_mode):
        return
    if os.geteuid() == 0:
        os.chown(folder, uid, gid, follow_symlinks=False)
    os.chmod(folder, 0o700)


def require_private(folder: Path, uid: int) -> None:
    found = folder.lstat()
    if not stat.S_ISDIR(found.st_mode):
        wrong = "is not a folder"
    elif found.st_uid != uid:
        wrong = f"belongs to user {found.st_uid}, not {uid}"
    elif stat.S_IMODE(found.st_mode) & 0o077:
        wrong = f"is open to others (mode {stat.S_IMODE(found.st_mode):04o})"
    else:
        return
    raise UnsafeFolder(
        f"{folder} {wrong}, so the database's socket is not safe in it. "
        "Remove it, or choose a short PENSTOCK_DATA_DIR."
    )
