"""Blobs in an S3 bucket, of AWS or any compatible service.

Small blobs are written in one request under their hash. Larger ones are streamed to a temporary
name in parts, and copied to their hash inside the bucket. Resumable uploads are staged in the data
folder until they are complete.
"""

from __future__ import annotations

import asyncio
import contextlib
import hashlib
import time
from collections.abc import AsyncIterator, Iterator, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass
from datetime import timedelta
from pathlib import Path
from urllib.parse import parse_qsl, urlsplit
from uuid import uuid4

import obstore
from obstore.exceptions import (
    AlreadyExistsError,
    BaseError,
    NotFoundError,
    PermissionDeniedError,
    UnauthenticatedError,
)
from obstore.store import S3Store

from penstock.blobs.disk import HEAD_BYTES, WRITE_BYTES, LocalBlob, named_errors, remove_old
from penstock.blobs.local import KEY
from penstock.blobs.partial import LocalPartialUpload, LocalPartialUploads
from penstock.blobs.pictures import LocalPictures
from penstock.model.errors import NotThere, Unavailable, Waiting, file_too_large

_PART_BYTES = 8 * 1024 * 1024
_OWNER = "installation"
_BLOBS, _TEMPORARY = "blobs", "tmp"
_RETRY_AFTER_MS = 2000
_TIMEOUT = timedelta(seconds=30)
_CONNECT_TIMEOUT = timedelta(seconds=5)


@dataclass(frozen=True, slots=True)
class BucketConfig:
    """``url`` is like ``s3://bucket/prefix?endpoint=https://…&region=…``. Without keys, those of
    the environment or of the machine's role are used."""

    url: str
    access_key_id: str | None = None
    secret_access_key: str | None = None

    def open(self) -> S3Store:
        parts, given = urlsplit(self.url), dict(parse_qsl(urlsplit(self.url).query))
        if parts.scheme != "s3" or not parts.netloc or given.keys() - {"endpoint", "region"}:
            raise ValueError("write `s3://bucket/prefix?endpoint=…&region=…`")
        endpoint = given.get("endpoint")
        config: dict[str, str | bool] = {"region": given.get("region", "us-east-1")}
        if endpoint:
            config |= {"endpoint": endpoint, "virtual_hosted_style_request": False}
        if self.access_key_id and self.secret_access_key:
            config["access_key_id"] = self.access_key_id
            config["secret_access_key"] = self.secret_access_key
        return S3Store(
            parts.netloc,
            prefix=parts.path.strip("/") or None,
            config=config,  # type: ignore[arg-type]
            client_options={
                "allow_http": bool(endpoint and endpoint.startswith("http://")),
                "timeout": _TIMEOUT, "connect_timeout": _CONNECT_TIMEOUT,
            },
            # The engine retries by its own rules; here only a lost connection is repeated.
            retry_config={"max_retries": 2, "retry_timeout": timedelta(seconds=5)},
        )  # fmt: skip


class S3Blobs:
    """``folder`` is for what is on its way: resumable uploads, copies for child processes, and
    caches of what can be fetched again."""

    def __init__(self, config: BucketConfig, folder: Path) -> None:
        self._store = config.open()
        self._downloads = folder / "downloads"
        self.partials = _StagedUploads(folder / "partial", folder, self)
        self.pictures = LocalPictures(folder / "pictures")
        self.answers = LocalPictures(folder / "answers")

    async def put(self, chunks: AsyncIterator[bytes], limit: int) -> LocalBlob:
        """Store the bytes durably."""
        reader = _Reader(chunks, limit)
        first = await reader.gather(_PART_BYTES)
        if reader.ended:
            blob = reader.blob()
            with _named_errors():
                await obstore.put_async(self._store, _path(blob.key), first, use_multipart=False)
            return blob
        return await self._put_large(reader.rest(first), reader)

    async def put_file(self, path: Path) -> LocalBlob:
        """Store a file of this machine."""
        reader = _Reader(_pieces_of(path), path.stat().st_size)
        first = await reader.gather(_PART_BYTES)
        if reader.ended:
            with _named_errors():
                await obstore.put_async(self._store, _path(reader.blob().key), first)
            return reader.blob()
        return await self._put_large(reader.rest(first), reader)

    async def _put_large(self, pieces: AsyncIterator[bytes], reader: _Reader) -> LocalBlob:
        temporary = f"{_TEMPORARY}/{uuid4().hex}"
        try:
            with _named_errors():
                await obstore.put_async(
                    self._store, temporary, pieces, use_multipart=True, chunk_size=_PART_BYTES,
                    max_concurrency=3,
                )  # fmt: skip
                blob = reader.blob()
                await obstore.copy_async(self._store, temporary, _path(blob.key))
        except BaseException as error:
            # What the source raised comes back inside of an error of the library.
            with contextlib.suppress(BaseError):
                await asyncio.shield(obstore.delete_async(self._store, temporary))
            if reader.failure is not None:
                raise reader.failure from error
            raise
        with contextlib.suppress(BaseError):
            await obstore.delete_async(self._store, temporary)
        return blob

    @asynccontextmanager
    async def local(self, key: str) -> AsyncIterator[Path]:
        """A copy of the blob on this machine, removed at the end."""
        path = self._downloads / uuid4().hex
        try:
            await self._download(_path(key), path)
            yield path
        finally:
            await asyncio.shield(asyncio.to_thread(path.unlink, missing_ok=True))

    async def _download(self, key: str, path: Path) -> None:
        with named_errors():
            path.parent.mkdir(parents=True, exist_ok=True, mode=0o700)
            file = await asyncio.to_thread(path.open, "xb")
        with file:
            with _named_errors():
                found = await obstore.get_async(self._store, key)
                async for piece in found.stream(min_chunk_size=WRITE_BYTES):
                    with named_errors():
                        await asyncio.to_thread(file.write, piece)
            if file.tell() != found.meta["size"]:
                raise _away("the connection ended early")

    async def exists(self, key: str) -> bool:
        with _named_errors():
            try:
                await obstore.head_async(self._store, _path(key))
            except (NotFoundError, FileNotFoundError):
                return False
        return True

    async def head(self, key: str) -> bytes:
        """The first bytes, as `put` returned them."""
        with _named_errors():
            size = (await obstore.head_async(self._store, _path(key)))["size"]
            if not size:
                return b""
            wanted = min(size, HEAD_BYTES)
            return bytes(
                await obstore.get_range_async(self._store, _path(key), start=0, length=wanted)
            )

    async def remove(self, key: str, older_than_seconds: float = 0) -> bool:
        """Only for a blob without references. A missing blob is not an error."""
        with _named_errors():
            try:
                found = await obstore.head_async(self._store, _path(key))
            except (NotFoundError, FileNotFoundError):
                return False
            if found["last_modified"].timestamp() > time.time() - older_than_seconds:
                return False
            await obstore.delete_async(self._store, _path(key))
        return True

    async def keys(self, after: str, most: int) -> Sequence[str]:
        """The next keys in order, to iterate over all blobs in chunks."""
        found: list[str] = []
        offset = f"{_BLOBS}/{after[:2]}/{after}" if after else None
        with _named_errors():
            listing = obstore.list(self._store, _BLOBS, offset=offset, chunk_size=min(most, 1000))
            async for page in listing:
                names = (one["path"].rpartition("/")[2] for one in page)
                found += [name for name in names if KEY.fullmatch(name) and name > after]
                if len(found) >= most:
                    break
        return found[:most]

    async def belong_to(self, installation: str) -> bool:
        """Whether the bucket belongs to this installation; the first one to ask owns it."""
        with _named_errors():
            with contextlib.suppress(AlreadyExistsError, FileExistsError):
                await obstore.put_async(
                    self._store, _OWNER, installation.encode(), mode="create", use_multipart=False
                )
            found = await obstore.get_async(self._store, _OWNER)
            return bytes(await found.bytes_async()).decode() == installation

    async def sweep(self, older_than_seconds: float) -> int:
        """Remove temporary objects and files of dead processes; returns their number."""
        before = time.time() - older_than_seconds
        old: list[str] = []
        with _named_errors():
            async for page in obstore.list(self._store, _TEMPORARY):
                old += [one["path"] for one in page if one["last_modified"].timestamp() <= before]
            if old:
                await obstore.delete_async(self._store, old)
        copies = sum(remove_old(path, before) for path in self._downloads.glob("*"))
        return len(old) + copies + self.partials.sweep(before)

    async def download_url(self, key: str, seconds: int) -> str | None:
        """A signed address that opens the blob for some time."""
        with _named_errors():
            return await obstore.sign_async(
                self._store, "GET", _path(key), timedelta(seconds=seconds)
            )


class _Reader:
    """Hashes and counts what passes."""

    def __init__(self, chunks: AsyncIterator[bytes], limit: int) -> None:
        self._chunks = chunks
        self._limit = limit
        self._hash = hashlib.sha256()
        self._head = b""
        self._size = 0
        self.ended = False
        self.failure: BaseException | None = None

    def _seen(self, chunk: bytes) -> bytes:
        self._size += len(chunk)
        if self._size > self._limit:
            raise file_too_large(self._limit)
        self._hash.update(chunk)
        if len(self._head) < HEAD_BYTES:
            self._head += bytes(chunk[: HEAD_BYTES - len(self._head)])
        return chunk

    async def gather(self, most: int) -> bytes:
        """The first bytes, at least ``most`` of them unless there are fewer."""
        gathered = bytearray()
        async for chunk in self._chunks:
            gathered += self._seen(chunk)
            if len(gathered) >= most:
                return bytes(gathered)
        self.ended = True
        return bytes(gathered)

    async def rest(self, first: bytes) -> AsyncIterator[bytes]:
        yield first
        try:
            async for chunk in self._chunks:
                yield self._seen(chunk)
        except BaseException as error:
            self.failure = error
            raise

    def blob(self) -> LocalBlob:
        return LocalBlob(self._hash.hexdigest(), self._size, self._head)


class _StagedUploads(LocalPartialUploads):
    """Uploads in several requests, in the data folder until they are complete."""

    def __init__(self, folder: Path, blobs: Path, store: S3Blobs) -> None:
        super().__init__(folder, blobs)
        self._store = store

    @asynccontextmanager
    async def hold(self, key: str) -> AsyncIterator[LocalPartialUpload]:
        path = self._path(key)
        with self._locked(path) as number:
            yield _StagedUpload(path, number, self._blobs, self._store)


class _StagedUpload(LocalPartialUpload):
    def __init__(self, path: Path, number: int, blobs: Path, store: S3Blobs) -> None:
        super().__init__(path, number, blobs)
        self._store = store

    async def finish(self) -> LocalBlob:
        await asyncio.to_thread(self._sync)
        return await self._store.put_file(self._path)


async def _pieces_of(path: Path) -> AsyncIterator[bytes]:
    with named_errors():
        file = await asyncio.to_thread(path.open, "rb")
    with file:
        while piece := await asyncio.to_thread(file.read, WRITE_BYTES):
            yield piece


def _path(key: str) -> str:
    if not KEY.fullmatch(key):
        raise NotThere("FILE_NOT_FOUND", "There is no such file")
    return f"{_BLOBS}/{key[:2]}/{key}"


def _away(why: str) -> Waiting:
    """Not an attempt of what needs the blob: it waits until the bucket answers."""
    return Waiting(
        "BLOB_UNAVAILABLE", f"The storage of files does not answer: {why}.",
        retry_after_ms=_RETRY_AFTER_MS,
    )  # fmt: skip


@contextlib.contextmanager
def _named_errors() -> Iterator[None]:
    try:
        yield
    except (NotFoundError, FileNotFoundError) as error:
        raise NotThere("FILE_NOT_FOUND", "The content of the file was deleted") from error
    except (PermissionDeniedError, UnauthenticatedError, PermissionError) as error:
        raise Unavailable(
            "BLOB_UNAVAILABLE", "The storage of files refuses this server's credentials."
        ) from error
    except BaseError as error:
        # The message of the library may contain an address with a signature.
        raise _away(type(error).__name__) from error
