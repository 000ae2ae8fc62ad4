"""Locks on files of the data folder. The kernel releases those of a process that dies."""

from __future__ import annotations

import fcntl
import os
from pathlib import Path

from penstock.supervisor.credentials import give_to_folder_owner
from penstock.supervisor.errors import AlreadyRunning, UnsafeFolder


class FolderLock:
    """The lock of the process that runs PostgreSQL on a data folder. The file contains its pid."""

    def __init__(self, path: Path) -> None:
        self._path = path
        self._fd: int | None = None

    @property
    def held(self) -> bool:
        return self._fd is not None

    def take(self) -> None:
        if self._fd is not None:
            return
        fd = _try_lock(self._path, fcntl.LOCK_EX)
        if fd is None:
            raise AlreadyRunning(self._path.parent, self.holder())
        os.ftruncate(fd, 0)
        os.pwrite(fd, f"{os.getpid()}\n".encode(), 0)
        self._fd = fd

    def release(self) -> None:
        if self._fd is not None:
            os.ftruncate(self._fd, 0)
            os.close(self._fd)
            self._fd = None

    def holder(self) -> int | None:
        try:
            pid = int(self._path.read_text())
            os.kill(pid, 0)
        except (OSError, ValueError):
            return None
        return pid


class UseLock:
    """Shared by processes that use a server of another process, so that it can wait for them."""

    def __init__(self, path: Path) -> None:
        self._path = path
        self._fd: int | None = None

    def share(self) -> bool:
        return self._lock(fcntl.LOCK_SH)

    def exclude_others(self) -> bool:
        return self._lock(fcntl.LOCK_EX)

    def release(self) -> None:
        if self._fd is not None:
            os.close(self._fd)
            self._fd = None

    def _lock(self, kind: int) -> bool:
        if self._fd is None:
            self._fd = _try_lock(self._path, kind)
        return self._fd is not None


def _try_lock(path: Path, kind: int) -> int | None:
    try:
        fd = os.open(path, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC | os.O_NOFOLLOW, 0o600)
    except PermissionError as error:
        raise UnsafeFolder(
            f"No permission for {path}: the folder belongs to another user. "
            "Run Penstock as that user, or choose another folder with PENSTOCK_DATA_DIR."
        ) from error
    try:
        give_to_folder_owner(fd, path.parent)
        fcntl.flock(fd, kind | fcntl.LOCK_NB)
    except BlockingIOError:
        os.close(fd)
        return None
    except BaseException:
        os.close(fd)
        raise
    return fd
