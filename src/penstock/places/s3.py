"""A prefix of an S3 bucket, of AWS or any compatible service. Every request goes through the
guarded client, since users choose the endpoint."""

from __future__ import annotations

import math
from collections.abc import AsyncGenerator, AsyncIterator, Mapping
from contextlib import asynccontextmanager
from datetime import UTC, datetime
from email.utils import parsedate_to_datetime
from urllib.parse import quote

from penstock.model.errors import NotThere
from penstock.model.network.fetching import FetchLimits
from penstock.model.places.names import check_name, numbered_names
from penstock.model.places.ports import Listing, PlaceAddress, PlaceFile, PlaceLimits
from penstock.model.ports import Fetch
from penstock.places.credentials import check_credentials
from penstock.places.errors import ended_early, not_found, refusal
from penstock.places.s3_requests import (
    S3Requests,
    failure,
    parse_bucket,
    records_of,
    texts_of,
)

_PART_BYTES = 8 * 1024 * 1024
_MAX_OBJECT = 5 * 1024**4
_FIELDS = ("Key", "Size", "ETag", "LastModified")


class S3Places:
    def __init__(self, fetch: Fetch) -> None:
        self._fetch = fetch

    async def check(self, address: PlaceAddress) -> str:
        check_credentials(
            address.credentials, ("accessKeyId", "secretAccessKey"), ("sessionToken",)
        )
        bucket = parse_bucket(address.address)
        await self._fetch.check(bucket.origin)
        return address.address.strip()

    @asynccontextmanager
    async def open(self, address: PlaceAddress, limits: PlaceLimits) -> AsyncIterator[S3Place]:
        bucket = parse_bucket(address.address)
        requests = S3Requests(self._fetch, bucket, address.credentials, limits.wait_seconds)
        yield S3Place(requests, limits)


class S3Place:
    host_key: str | None = None

    def __init__(self, requests: S3Requests, limits: PlaceLimits) -> None:
        self._requests = requests
        self._limits = limits
        self._prefix = requests.bucket.prefix

    async def list(self, depth: int = 0) -> Listing:
        """Objects whose names have at most ``depth`` separators. Only folders are left out on the
        server's side, and only where none is asked for."""
        files: list[PlaceFile] = []
        bad: list[tuple[str, str]] = []
        query = {"list-type": "2", "max-keys": "1000", "prefix": self._prefix}
        if not depth:
            query["delimiter"] = "/"
        while True:
            _, body = await self._requests.send("GET", "", query)
            for one in records_of(body, "Contents", _FIELDS):
                name = one["Key"].removeprefix(self._prefix)
                if not name or name.endswith("/") or name.count("/") > depth:
                    continue
                why = check_name(name)
                if why is not None:
                    bad.append((name, why))
                elif len(files) >= self._limits.entries:
                    return Listing(files, bad, cut=True)
                else:
                    modified = datetime.fromisoformat(one["LastModified"])
                    files.append(_file(name, int(one["Size"]), one["ETag"], modified))
            following = texts_of(body, "NextContinuationToken")
            if not following:
                return Listing(files, bad)
            query["continuation-token"] = following[0]

    async def find(self, name: str) -> PlaceFile | None:
        try:
            head, _ = await self._requests.send("HEAD", self._prefix + name)
        except NotThere:
            return None
        modified = parsedate_to_datetime(head.header("last-modified") or "")
        size = int(head.header("content-length") or 0)
        return _file(name, size, head.header("etag") or "", modified)

    async def read(self, file: PlaceFile) -> AsyncGenerator[bytes, None]:
        limits = FetchLimits(
            max(file.size, 1) * 1100,
            round(self._limits.transfer_seconds * 1000),
            round(self._limits.wait_seconds * 1000),
            hops=0,
        )
        etag = file.version.partition(" ")[0]
        request = self._requests.request(
            "GET", self._prefix + file.name, headers={"If-Match": etag}, limits=limits
        )
        async with self._requests.fetch.stream(request) as answer:
            if answer.status != 200:
                body = b"".join([piece async for piece in answer.pieces])
                raise failure(answer, body)
            size = 0
            async for piece in answer.pieces:
                size += len(piece)
                yield piece
            # An object that is stored compressed arrives inflated.
            if size < file.size and answer.header("content-encoding") is None:
                raise ended_early(file.name)

    async def put(self, name: str, chunks: AsyncIterator[bytes]) -> int:
        key, gathered, written = self._prefix + name, bytearray(), 0
        upload: _Multipart | None = None
        try:
            async for chunk in chunks:
                gathered += chunk
                written += len(chunk)
                while len(gathered) > _PART_BYTES:
                    upload = upload or await _Multipart.begin(self._requests, key)
                    await upload.add(bytes(gathered[:_PART_BYTES]))
                    del gathered[:_PART_BYTES]
            if upload is None:
                await self._requests.send("PUT", key, body=bytes(gathered))
            else:
                await upload.add(bytes(gathered))
                await upload.complete()
        except BaseException:
            if upload is not None:
                await upload.abort()
            raise
        return written

    async def move(self, file: PlaceFile, name: str) -> str:
        await self._require_version(file)
        for free in numbered_names(name):
            if await self.find(free) is None:
                bucket = self._requests.bucket
                source = quote(f"/{bucket.name}/{self._prefix}{file.name}")
                await self._requests.send(
                    "PUT", self._prefix + free, headers={"x-amz-copy-source": source}
                )
                await self._requests.send("DELETE", self._prefix + file.name)
                return free
        raise refusal(f"There are too many files named {name}.")

    async def delete(self, file: PlaceFile) -> None:
        found = await self.find(file.name)
        if found is None:
            return
        await self._require_version(file)
        await self._requests.send("DELETE", self._prefix + file.name)

    async def _require_version(self, file: PlaceFile) -> None:
        """Another object under the same name must not be moved or deleted unread."""
        found = await self.find(file.name)
        if found is None or found.version != file.version:
            raise not_found(file.name)


class _Multipart:
    """An upload in parts, visible as an object only once it is complete."""

    def __init__(self, requests: S3Requests, key: str, upload_id: str) -> None:
        self._requests = requests
        self._key = key
        self._upload = {"uploadId": upload_id}
        self._tags: list[str] = []

    @classmethod
    async def begin(cls, requests: S3Requests, key: str) -> _Multipart:
        _, body = await requests.send("POST", key, {"uploads": ""})
        return cls(requests, key, texts_of(body, "UploadId")[0])

    async def add(self, data: bytes) -> None:
        query: Mapping[str, str] = {**self._upload, "partNumber": str(len(self._tags) + 1)}
        head, _ = await self._requests.send("PUT", self._key, query, data)
        self._tags.append(head.header("etag") or "")

    async def complete(self) -> None:
        parts = "".join(
            f"<Part><PartNumber>{number}</PartNumber><ETag>{tag}</ETag></Part>"
            for number, tag in enumerate(self._tags, 1)
        )
        body = f"<CompleteMultipartUpload>{parts}</CompleteMultipartUpload>".encode()
        await self._requests.send("POST", self._key, self._upload, body)

    async def abort(self) -> None:
        await self._requests.send("DELETE", self._key, self._upload)


def _file(name: str, size: int, etag: str, modified: datetime) -> PlaceFile:
    at = modified.astimezone(UTC).replace(microsecond=0)
    return PlaceFile(name, size, f"{etag} {at:%Y%m%dT%H%M%S}"[:200], at, math.inf)
