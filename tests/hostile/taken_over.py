"""What a child might try once it runs somebody else's code."""

from __future__ import annotations

import ctypes
import gc
import importlib
import os
import pickle
import resource
import signal
import socket
import subprocess
import sys
import tempfile
from pathlib import Path
from typing import Any

from penstock.guards.child import END, FRAME, Child


def tried(what: str, target: Any) -> str:
    """The name of the error it ended with, or `done`."""
    try:
        _ATTEMPTS[what](target)
    except OSError as error:
        return type(error).__name__
    return "done"


def read(path: str) -> str:
    return Path(path).read_text()


def left_behind() -> list[str]:
    return [str(one) for one in Path(os.environ["TMPDIR"]).parent.glob("*/*")]


def imported(module: str) -> int:
    return int(importlib.import_module(module).VALUE)


def _ptrace(pid: int) -> None:
    libc = ctypes.CDLL(None, use_errno=True)
    if libc.ptrace(16, pid, None, None) != 0:
        raise OSError(ctypes.get_errno(), "refused")


def _move_and_write(path: str) -> None:
    moved = Path(os.environ["TMPDIR"], "moved")
    os.rename(path, moved)
    moved.write_text("changed")


def _use_temporary_file(_: str) -> None:
    with tempfile.NamedTemporaryFile("w", delete=False) as file:
        file.write("left behind")


_ATTEMPTS: dict[str, Any] = {
    "socket": lambda family: socket.socket(family, socket.SOCK_STREAM),
    "execute": lambda _: subprocess.run([sys.executable, "-c", ""], check=True),
    "kill_parent": lambda pid: os.kill(pid, signal.SIGCONT),
    "limit_parent": lambda pid: resource.prlimit(pid, resource.RLIMIT_CORE),
    "ptrace_parent": _ptrace,
    "read": lambda path: Path(path).read_bytes() if Path(path).is_file() else os.listdir(path),
    "write": lambda path: Path(path).write_text("changed"),
    "move_and_write": _move_and_write,
    "use_temporary_file": _use_temporary_file,
}


class _Command:
    def __init__(self, trace: str) -> None:
        self._trace = trace

    def __reduce__(self) -> Any:
        return os.system, (f"touch {self._trace}",)


def forged(trace: str) -> list[bytes]:
    return [pickle.dumps(_Command(trace)), b"\0\0\0\1" + b"\0" * 8, b"", b"\xff" * 64]


def answer_with(payload: bytes) -> None:
    """Straight onto the line, past everything that encodes."""
    _connection().sendall(FRAME.pack(END, len(payload)) + payload)


def claim_length(length: int) -> None:
    _connection().sendall(FRAME.pack(END, length))


def _connection() -> socket.socket:
    (child,) = [one for one in gc.get_objects() if isinstance(one, Child)]
    return child._connection
