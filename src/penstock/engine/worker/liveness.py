"""Detects dead workers on this machine at once, without guessing from process ids.

Each worker holds a file lock while it lives; the kernel releases it however the worker dies.
"""

from __future__ import annotations

import fcntl
import os
from pathlib import Path


class Liveness:
    def __init__(self, folder: Path, worker: str) -> None:
        self._folder = folder
        self._worker = worker
        self._fd: int | None = None

    def _file(self, worker: str) -> Path:
        return self._folder / f"{worker}.lock"

    def announce(self) -> None:
        self._folder.mkdir(mode=0o700, parents=True, exist_ok=True)
        self._fd = os.open(self._file(self._worker), os.O_CREAT | os.O_RDWR | os.O_CLOEXEC, 0o600)
        fcntl.flock(self._fd, fcntl.LOCK_EX | fcntl.LOCK_NB)

    def leave(self) -> None:
        if self._fd is not None:
            self._file(self._worker).unlink(missing_ok=True)
            os.close(self._fd)
            self._fd = None

    def is_dead(self, worker: str) -> bool:
        """True only if it is certain: the lock file exists and is not locked."""
        if worker == self._worker:
            return False
        try:
            fd = os.open(self._file(worker), os.O_RDWR | os.O_CLOEXEC)
        except OSError:
            return False
        try:
            fcntl.flock(fd, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except OSError:
            return False
        finally:
            os.close(fd)
        return True

    def forget(self, worker: str) -> None:
        self._file(worker).unlink(missing_ok=True)
