"""Restrict a child process before it reads untrusted data, without needing root.

seccomp    no new sockets, no other programs, no inspecting or signalling other processes
Landlock   reads Python, system libraries and its input file; writes its own folder

If the kernel lacks one of them the child runs without it; `missing()` says which and why.
"""

from __future__ import annotations

import ctypes
import os
import struct
import sys
from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path

_PR_SET_SECCOMP, _PR_SET_NO_NEW_PRIVS, _PR_GET_SECCOMP = 22, 38, 21
_FILTER_MODE, _EPERM = 2, 1
_ALLOW, _REFUSE = 0x7FFF0000, 0x00050000 | _EPERM
_LOAD, _EQUAL, _AT_LEAST, _RETURN = 0x20, 0x15, 0x35, 0x06
# Offsets in the filter's data: the call, the machine, the lower half of the first argument.
_CALL, _MACHINE, _FIRST = 0, 4, 16
_X32_CALLS = 0x40000000

# Calls of io_uring, pidfd and mounts have the same number everywhere.
_REFUSED_EVERYWHERE = (424, 425, 426, 427, 428, 429, 430, 432, 434, 438, 442)
_MACHINES = {
    "x86_64": (
        0xC000003E,
        # socket connect accept bind listen socketpair accept4 · execve execveat
        (41, 42, 43, 49, 50, 53, 288, 59, 322,
         # ptrace process_vm_readv process_vm_writev kcmp tkill perf_event_open bpf userfaultfd
         101, 310, 311, 312, 200, 298, 321, 323,
         # mount umount2 pivot_root chroot unshare setns handles keys modules kexec
         165, 166, 155, 161, 272, 308, 303, 304, 248, 249, 250, 175, 176, 313, 246),
        # kill tgkill prlimit64: of itself only
        (62, 234, 302),
    ),
    "aarch64": (
        0xC00000B7,
        (198, 203, 202, 200, 201, 199, 242, 221, 281,
         117, 270, 271, 272, 130, 241, 280, 282,
         40, 39, 41, 51, 97, 268, 264, 265, 217, 218, 219, 105, 106, 273, 104),
        (129, 131, 261),
    ),
}  # fmt: skip

_CREATE_RULESET, _ADD_RULE, _RESTRICT_SELF = 444, 445, 446
_EXECUTE, _WRITE_FILE, _READ_FILE, _READ_DIR = 1 << 0, 1 << 1, 1 << 2, 1 << 3
_REMOVE_DIR, _REMOVE_FILE, _MAKE_DIR, _MAKE_REG, _TRUNCATE = 1 << 4, 1 << 5, 1 << 7, 1 << 8, 1 << 14
_READ = _READ_FILE | _READ_DIR | _EXECUTE
_CHANGE = _WRITE_FILE | _REMOVE_DIR | _REMOVE_FILE | _MAKE_DIR | _MAKE_REG | _TRUNCATE
_OF_FILES = _EXECUTE | _WRITE_FILE | _READ_FILE | _TRUNCATE
# The number of file rights that each version of Landlock knows.
_FILE_RIGHTS = {1: 13, 2: 14, 3: 15, 4: 15, 5: 16}
_NEWEST_KNOWN = 5
_SYSTEM = (
    "/lib", "/lib64", "/usr/lib", "/usr/lib64", "/usr/share/zoneinfo", "/etc/ld.so.cache",
    "/etc/localtime", "/etc/mime.types", "/dev/null", "/dev/zero", "/dev/urandom", "/proc/self",
)  # fmt: skip


def missing() -> dict[str, str]:
    """The protections that this machine lacks, with the reason. Empty if it has all."""
    found = {}
    if sys.platform != "linux":
        reason = f"there is none on {sys.platform}"
        return {"seccomp": reason, "Landlock": reason}
    if os.uname().machine not in _MACHINES:
        found["seccomp"] = f"no filter is written for {os.uname().machine}"
    elif _libc().prctl(_PR_GET_SECCOMP, 0, 0, 0, 0) < 0:
        found["seccomp"] = "the kernel was built without it"
    if _landlock_version() < 1:
        found["Landlock"] = "the kernel is older than 5.13 or has it switched off"
    return found


def enter(folder: Path, hidden: Sequence[Path]) -> None:
    """Restrict this process permanently. It may read ``folder``/in and write ``folder``/tmp;
    it cannot read below ``hidden``, even if Python's path leads there."""
    if sys.platform != "linux":
        return
    _libc().prctl(_PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0)
    if _landlock_version() >= 1:
        _restrict_files(folder, hidden)
    if os.uname().machine in _MACHINES:
        _restrict_calls()


def _restrict_calls() -> None:
    machine, refused, of_itself = _MACHINES[os.uname().machine]
    steps = [
        (_LOAD, 0, 0, _MACHINE), (_EQUAL, 1, 0, machine), (_RETURN, 0, 0, _REFUSE),
        (_LOAD, 0, 0, _CALL), (_AT_LEAST, 0, 1, _X32_CALLS), (_RETURN, 0, 0, _REFUSE),
    ]  # fmt: skip
    for call in (*refused, *_REFUSED_EVERYWHERE):
        steps += [(_EQUAL, 0, 1, call), (_RETURN, 0, 0, _REFUSE)]
    for call in of_itself:
        # prlimit64 calls itself 0.
        steps += [
            (_EQUAL, 0, 5, call), (_LOAD, 0, 0, _FIRST), (_EQUAL, 2, 0, os.getpid()),
            (_EQUAL, 1 if call == of_itself[-1] else 0, 0, 0), (_RETURN, 0, 0, _REFUSE),
            (_RETURN, 0, 0, _ALLOW),
        ]  # fmt: skip
    steps.append((_RETURN, 0, 0, _ALLOW))
    code = ctypes.create_string_buffer(b"".join(struct.pack("=HBBI", *step) for step in steps))
    program = struct.pack("@HP", len(steps), ctypes.addressof(code))
    if _libc().prctl(_PR_SET_SECCOMP, _FILTER_MODE, ctypes.c_char_p(program), 0, 0) != 0:
        raise OSError(ctypes.get_errno(), "the kernel refused the filter of calls")


def _restrict_files(folder: Path, hidden: Sequence[Path]) -> None:
    libc, version = _libc(), min(_landlock_version(), _NEWEST_KNOWN)
    handled = (1 << _FILE_RIGHTS[version]) - 1
    attributes = struct.pack("=Q", handled) if version < 4 else struct.pack("=QQ", handled, 0b11)
    rules = libc.syscall(_CREATE_RULESET, ctypes.c_char_p(attributes), len(attributes), 0)
    if rules < 0:
        raise OSError(ctypes.get_errno(), "the kernel refused the rules of files")
    try:
        for path, rights in _rights(folder, hidden):
            _allow(rules, path, rights & handled)
        if libc.syscall(_RESTRICT_SELF, rules, 0) != 0:
            raise OSError(ctypes.get_errno(), "the kernel refused the rules of files")
    finally:
        os.close(rules)


def _rights(folder: Path, hidden: Sequence[Path]) -> Iterator[tuple[Path, int]]:
    yield folder / "tmp", _READ_FILE | _READ_DIR | _CHANGE
    yield folder / "in", _READ_FILE | _READ_DIR
    yield Path("/dev/null"), _WRITE_FILE
    prefixes = {sys.prefix, sys.base_prefix, str(Path(os.__file__).parent), *sys.path}
    for given in (*_SYSTEM, *(prefixes - {"", "/", "/usr"})):
        yield from _without(Path(given), [one.resolve() for one in hidden])


def _without(path: Path, hidden: Sequence[Path]) -> Iterator[tuple[Path, int]]:
    """The path, or its parts without the hidden ones; folders can still be listed."""
    resolved = path.resolve()
    if any(resolved.is_relative_to(one) for one in hidden):
        return
    if not any(one.is_relative_to(resolved) for one in hidden):
        yield path, _READ
        return
    yield path, _READ_DIR
    for inner in resolved.iterdir():
        yield from _without(inner, hidden)


def _allow(rules: int, path: Path, rights: int) -> None:
    try:
        opened = os.open(path, os.O_PATH | os.O_CLOEXEC)
    except OSError:
        return  # not on every system
    try:
        if not path.is_dir():
            rights &= _OF_FILES
        beneath = struct.pack("=Qi", rights, opened)
        _libc().syscall(_ADD_RULE, rules, 1, ctypes.c_char_p(beneath), 0)
    finally:
        os.close(opened)


def _landlock_version() -> int:
    return int(_libc().syscall(_CREATE_RULESET, None, 0, 1)) if sys.platform == "linux" else 0


def _libc() -> ctypes.CDLL:
    return ctypes.CDLL(None, use_errno=True)


def described(lacking: dict[str, str], all_of: Iterable[str] = ("seccomp", "Landlock")) -> str:
    """One line about the protections of children, with the reasons of missing ones."""
    parts = [f"{name}: {lacking[name]}" if name in lacking else f"{name} active" for name in all_of]
    return "; ".join(parts)
