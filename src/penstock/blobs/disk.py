"""Shared code for files on the local disk: sizes, errors, durability."""

from __future__ import annotations

import contextlib
import errno
import os
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from penstock.model.errors import TransientError, Unavailable

HEAD_BYTES = 64 * 1024
# Chunks are buffered to this size, so that a thread is used once per MiB, not per chunk.
WRITE_BYTES = 1024 * 1024


@dataclass(frozen=True, slots=True)
class LocalBlob:
    sha256: str
    size: int
    head: bytes

    @property
    def key(self) -> str:
        return self.sha256


def remove_old(path: Path, before: float) -> bool:
    with contextlib.suppress(FileNotFoundError):
        if path.stat().st_mtime <= before:
            path.unlink()
            return True
    return False


def sync_folder(folder: Path) -> None:
    number = os.open(folder, os.O_RDONLY | os.O_DIRECTORY)
    try:
        os.fsync(number)
    finally:
        os.close(number)


@contextlib.contextmanager
def named_errors() -> Iterator[None]:
    try:
        yield
    except OSError as error:
        if error.errno in (errno.ENOSPC, errno.EDQUOT):
            raise TransientError(
                "STORAGE_FULL",
                "The server has no space left for files. Try again later.",
            ) from error
        raise Unavailable(
            "BLOB_UNAVAILABLE", f"Files cannot be stored: {error.strerror}."
        ) from error
