"""Uploads in several requests. The file on disk is the only state: a process that dies during a
request loses only what was not written."""

from __future__ import annotations

import asyncio
import contextlib
import errno
import fcntl
import hashlib
import os
import re
import shutil
from collections.abc import AsyncIterator, Iterator
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
from penstock.model.errors import BadInput, NotThere, PermanentError, TransientError

_KEY = re.compile(r"[0-9a-f]{32}")


class LocalPartialUploads:
    """One file per upload. The writing process holds its lock, which the kernel releases when the
    process ends."""

    def __init__(self, folder: Path, blobs: Path) -> None:
        self._folder = folder
        self._blobs = blobs

    async def offset(self, key: str) -> int:
        """The number of bytes stored."""
        with named_errors():
            try:
                return self._path(key).stat().st_size
            except FileNotFoundError:
                return 0

    @asynccontextmanager
    async def hold(self, key: str) -> AsyncIterator[LocalPartialUpload]:
        """Lock the upload for one writer among all processes."""
        path = self._path(key)
        with self._locked(path) as number:
            yield LocalPartialUpload(path, number, self._blobs)

    @contextlib.contextmanager
    def _locked(self, path: Path) -> Iterator[int]:
        with named_errors():
            path.parent.mkdir(parents=True, exist_ok=True, mode=0o700)
            number = os.open(path, os.O_RDWR | os.O_CREAT | os.O_NOFOLLOW, 0o600)
        try:
            try:
                fcntl.flock(number, fcntl.LOCK_EX | fcntl.LOCK_NB)
            except BlockingIOError:
                raise TransientError(
                    "UPLOAD_BUSY",
                    "Another request is writing to this upload. Wait for it, ask for the offset"
                    " with HEAD, and go on from there.",
                    retry_after_ms=1000,
                ) from None
            # Another process may have ended the upload between opening and locking.
            if not path.exists() or path.stat().st_ino != os.fstat(number).st_ino:
                raise NotThere("NOT_FOUND", "There is no such upload.")
            yield number
        finally:
            os.close(number)

    async def remove(self, key: str) -> None:
        await asyncio.to_thread(self._path(key).unlink, missing_ok=True)

    def sweep(self, before: float) -> int:
        return sum(remove_old(path, before) for path in self._folder.glob("*"))

    def _path(self, key: str) -> Path:
        if not _KEY.fullmatch(key):
            raise NotThere("NOT_FOUND", "There is no such upload.")
        return self._folder / key


class LocalPartialUpload:
    """An upload that this process has locked."""

    def __init__(self, path: Path, number: int, blobs: Path) -> None:
        self._path = path
        self._number = number
        self._blobs = blobs

    @property
    def offset(self) -> int:
        return os.fstat(self._number).st_size

    async def append(
        self, chunks: AsyncIterator[bytes], room: int, checksum: tuple[str, bytes] | None
    ) -> int:
        """Append the chunks; returns the new offset once it is durable. If the request breaks off,
        all received bytes are kept; if it sends too much or its ``checksum`` (algorithm, digest)
        is wrong, none are."""
        began = self.offset
        digest = hashlib.new(checksum[0]) if checksum is not None else None
        gathered, received = bytearray(), 0
        try:
            async for chunk in chunks:
                received += len(chunk)
                if received > room:
                    raise BadInput(
                        "FILE_TOO_LARGE",
                        "There are more bytes than `Upload-Length` announced. Begin a new upload"
                        " with the right length.",
                        limit=began + room,
                    )
                if digest is not None:
                    digest.update(chunk)
                gathered += chunk
                if len(gathered) >= WRITE_BYTES:
                    await asyncio.to_thread(self._write, gathered)
                    gathered = bytearray()
            if digest is not None and checksum is not None and digest.digest() != checksum[1]:
                raise PermanentError(
                    "CHECKSUM_MISMATCH",
                    "The bytes do not match `Upload-Checksum`. None were kept: send them again.",
                )
        except (BadInput, PermanentError) as error:
            # A client that breaks off resumes at the offset; the others repeat this part.
            if error.code == "BODY_INCOMPLETE" and digest is None:
                await asyncio.to_thread(self._write, gathered)
            else:
                await asyncio.to_thread(os.ftruncate, self._number, began)
            raise
        except TransientError:
            await asyncio.to_thread(self._write, gathered)
            raise
        await asyncio.to_thread(self._write, gathered)
        await asyncio.to_thread(self._sync)
        return self.offset

    async def finish(self) -> LocalBlob:
        """Store the whole file as a blob. The upload stays until it is removed, so that a crash
        before its row is written loses nothing."""
        return await asyncio.to_thread(self._finish)

    def _write(self, data: bytearray) -> None:
        with named_errors():
            rest = memoryview(data)
            os.lseek(self._number, 0, os.SEEK_END)
            while rest:
                rest = rest[os.write(self._number, rest) :]

    def _sync(self) -> None:
        with named_errors():
            os.fsync(self._number)
            sync_folder(self._path.parent)

    def _finish(self) -> LocalBlob:
        with named_errors():
            self._sync()
            digest, head = hashlib.sha256(), b""
            with self._path.open("rb") as file:
                while piece := file.read(WRITE_BYTES):
                    head = head or piece[:HEAD_BYTES]
                    digest.update(piece)
            blob = LocalBlob(digest.hexdigest(), self.offset, head)
            home, aside = self._blobs / blob.key[:2], self._path.parent / uuid4().hex
            home.mkdir(parents=True, exist_ok=True, mode=0o700)
            # Under another name first: the blob may exist already, or be removed concurrently.
            _link_or_copy(self._path, aside)
            os.utime(aside)
            aside.replace(home / blob.key)
            sync_folder(home)
            sync_folder(self._blobs)
        return blob


def _link_or_copy(path: Path, twin: Path) -> None:
    """The same bytes under another name: a hard link, or a copy if links are not supported."""
    try:
        os.link(path, twin)
    except OSError as error:
        if error.errno not in (errno.EPERM, errno.EOPNOTSUPP, errno.EMLINK, errno.EXDEV):
            raise
        shutil.copyfile(path, twin)
        with twin.open("rb") as file:
            os.fsync(file.fileno())
