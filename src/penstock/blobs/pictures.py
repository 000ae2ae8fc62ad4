"""A cache of thumbnails. They can be fetched again, so nothing is synced to disk, and the oldest
are evicted."""

from __future__ import annotations

import asyncio
import contextlib
import re
import time
from pathlib import Path
from uuid import uuid4

from penstock.blobs.disk import named_errors

_NAME = re.compile(r"[0-9a-f]{64}\.[a-z]+")
_KEPT_S = 30 * 24 * 3600
# There are 256 folders: at most a gibibyte in total.
_MAX_BYTES_IN_FOLDER = 4 * 1024 * 1024


class LocalPictures:
    def __init__(self, folder: Path, most_bytes_in_folder: int = _MAX_BYTES_IN_FOLDER) -> None:
        self._folder = folder
        self._most = most_bytes_in_folder

    async def get(self, name: str) -> bytes | None:
        """None if it is missing or too old."""
        return await asyncio.to_thread(self._get, self._path(name))

    async def put(self, name: str, content: bytes) -> None:
        await asyncio.to_thread(self._put, self._path(name), content)

    def _path(self, name: str) -> Path:
        if not _NAME.fullmatch(name):
            raise ValueError(f"{name!r} names no picture")
        return self._folder / name[:2] / name

    def _get(self, path: Path) -> bytes | None:
        try:
            return path.read_bytes() if path.stat().st_mtime > time.time() - _KEPT_S else None
        except FileNotFoundError:
            return None

    def _put(self, path: Path, content: bytes) -> None:
        with named_errors():
            path.parent.mkdir(parents=True, exist_ok=True, mode=0o700)
            aside = path.parent / uuid4().hex
            aside.write_bytes(content)
            aside.replace(path)
            self._evict_oldest(path.parent)

    def _evict_oldest(self, folder: Path) -> None:
        kept = 0
        for _, path, size in sorted(_by_age(folder), reverse=True):
            kept += size
            if kept > self._most:
                path.unlink(missing_ok=True)


def _by_age(folder: Path) -> list[tuple[float, Path, int]]:
    found = []
    for path in folder.iterdir():
        # Another process may evict files at the same time.
        with contextlib.suppress(FileNotFoundError):
            told = path.stat()
            found.append((told.st_mtime, path, told.st_size))
    return found
