"""Blobs in a local folder: written to a temporary file, synced, then renamed to their hash."""

from __future__ import annotations

import asyncio
import contextlib
import hashlib
import os
import re
import time
from collections.abc import AsyncIterator, Sequence
from contextlib import asynccontextmanager
from pathlib import Path
from uuid import uuid4

from penstock.blobs.disk import (
    HEAD_BYTES,
    WRITE_BYTES,
    LocalBlob,
    named_errors,
    remove_old,
    sync_folder,
)
from penstock.blobs.partial import LocalPartialUploads
from penstock.blobs.pictures import LocalPictures
from penstock.model.errors import NotThere, file_too_large

KEY = re.compile(r"[0-9a-f]{64}")
_HOME = re.compile(r"[0-9a-f]{2}")
_OWNER = "installation"


class LocalBlobs:
    def __init__(self, folder: Path) -> None:
        self._folder = folder
        self._temporary = folder / "tmp"
        self.partials = LocalPartialUploads(folder / "partial", folder)
        self.pictures = LocalPictures(folder / "pictures")
        self.answers = LocalPictures(folder / "answers")

    async def put(self, chunks: AsyncIterator[bytes], limit: int) -> LocalBlob:
        """Store the bytes durably. The temporary file is removed on any error."""
        # Opened here and not in a thread: a cancellation in between would leak the file.
        upload = _Upload(self._temporary)
        try:
            gathered = bytearray()
            async for chunk in chunks:
                gathered += chunk
                if upload.size + len(gathered) > limit:
                    raise file_too_large(limit)
                if len(gathered) >= WRITE_BYTES:
                    await asyncio.to_thread(upload.write, gathered)
                    gathered = bytearray()
            return await asyncio.to_thread(upload.finish, gathered, self._folder)
        except BaseException:
            # Shielded, so that a second cancellation does not leave the file behind.
            await asyncio.shield(asyncio.to_thread(upload.discard))
            raise

    @asynccontextmanager
    async def local(self, key: str) -> AsyncIterator[Path]:
        """The file itself: here every blob is one."""
        yield self.path(key)

    def path(self, key: str) -> Path:
        if not KEY.fullmatch(key):
            raise NotThere("FILE_NOT_FOUND", "There is no such file")
        return self._folder / key[:2] / key

    async def exists(self, key: str) -> bool:
        return await asyncio.to_thread(self.path(key).is_file)

    async def head(self, key: str) -> bytes:
        """The first bytes, as `put` returned them."""
        return await asyncio.to_thread(_read_head, self.path(key))

    async def remove(self, key: str, older_than_seconds: float = 0) -> bool:
        """Only for a blob without references. A missing blob is not an error."""
        return await asyncio.to_thread(remove_old, self.path(key), time.time() - older_than_seconds)

    async def keys(self, after: str, most: int) -> Sequence[str]:
        """The next keys in order, to iterate over all blobs in chunks."""
        return await asyncio.to_thread(self._keys, after, most)

    def _keys(self, after: str, most: int) -> list[str]:
        found: list[str] = []
        homes = sorted(home for home in _names(self._folder) if _HOME.fullmatch(home))
        for home in homes:
            if home >= after[:2]:
                keys = (key for key in _names(self._folder / home) if KEY.fullmatch(key))
                found += sorted(key for key in keys if key > after)
            if len(found) >= most:
                break
        return found[:most]

    async def belong_to(self, installation: str) -> bool:
        """Whether the folder belongs to this installation; the first one to ask owns it."""
        return await asyncio.to_thread(self._belong_to, installation)

    def _belong_to(self, installation: str) -> bool:
        with named_errors():
            self._folder.mkdir(parents=True, exist_ok=True, mode=0o700)
            with contextlib.suppress(FileExistsError), (self._folder / _OWNER).open("x") as file:
                file.write(installation)
            return (self._folder / _OWNER).read_text() == installation

    async def download_url(self, key: str, seconds: int) -> str | None:
        """Files of a folder have no address."""
        return None

    async def sweep(self, older_than_seconds: float) -> int:
        """Remove temporary files of dead uploads; returns their number."""
        return await asyncio.to_thread(self._sweep, time.time() - older_than_seconds)

    def _sweep(self, before: float) -> int:
        half_made = sum(remove_old(path, before) for path in self._temporary.glob("*"))
        return half_made + self.partials.sweep(before)


class _Upload:
    """One temporary file. Its methods run in threads, one at a time."""

    def __init__(self, folder: Path) -> None:
        self.size = 0
        self._head = b""
        self._hash = hashlib.sha256()
        self._path = folder / uuid4().hex
        with named_errors():
            folder.mkdir(parents=True, exist_ok=True, mode=0o700)
            flags = os.O_WRONLY | os.O_CREAT | os.O_EXCL
            # Buffered because of its lock: closing waits for a write of a cancelled upload.
            self._file = open(os.open(self._path, flags, 0o600), "wb")  # noqa: SIM115

    def write(self, data: bytes | bytearray) -> None:
        if len(self._head) < HEAD_BYTES:
            self._head += bytes(data[: HEAD_BYTES - len(self._head)])
        self.size += len(data)
        self._hash.update(data)
        with named_errors():
            self._file.write(data)

    def finish(self, data: bytes | bytearray, root: Path) -> LocalBlob:
        self.write(data)
        blob = LocalBlob(self._hash.hexdigest(), self.size, self._head)
        home = root / blob.key[:2]
        with named_errors():
            with self._file:
                self._file.flush()
                os.fsync(self._file.fileno())
            home.mkdir(exist_ok=True, mode=0o700)
            self._path.replace(home / blob.key)
            sync_folder(home)
            sync_folder(root)
        return blob

    def discard(self) -> None:
        # On a full disk the flush inside close fails like the write before.
        with contextlib.suppress(OSError):
            self._file.close()
        self._path.unlink(missing_ok=True)


def _names(folder: Path) -> list[str]:
    try:
        return os.listdir(folder)
    except FileNotFoundError:
        return []


def _read_head(path: Path) -> bytes:
    with named_errors():
        try:
            with path.open("rb") as file:
                return file.read(HEAD_BYTES)
        except FileNotFoundError as error:
            raise NotThere("FILE_NOT_FOUND", "The content of the file was deleted") from error
