"""Every storage of blobs behaves the same: the data folder, and a bucket of a real S3 server."""

from __future__ import annotations

import asyncio
import hashlib
import os
from collections.abc import AsyncIterator, Iterator
from pathlib import Path

import httpx2
import pytest
from tests.places.servers import KEYS, s3_server

from penstock.blobs.disk import HEAD_BYTES
from penstock.blobs.local import LocalBlobs
from penstock.blobs.s3 import BucketConfig, S3Blobs
from penstock.model.errors import BadInput, NotThere, PermanentError, Waiting
from penstock.model.ports import Blobs

LIMIT = 64 * 1024 * 1024


@pytest.fixture(scope="module")
def endpoint() -> Iterator[str]:
    with s3_server() as started:
        yield started


def s3_blobs(endpoint: str, folder: Path, bucket: str = "blobs-of-tests") -> S3Blobs:
    httpx2.put(f"{endpoint}/{bucket}")
    url = f"s3://{bucket}/penstock/{folder.name}?endpoint={endpoint}"
    return S3Blobs(BucketConfig(url, KEYS["accessKeyId"], KEYS["secretAccessKey"]), folder)


@pytest.fixture(params=["local", "s3"])
def blobs(request: pytest.FixtureRequest, tmp_path: Path) -> Blobs:
    if request.param == "local":
        return LocalBlobs(tmp_path / "blobs")
    return s3_blobs(request.getfixturevalue("endpoint"), tmp_path)


async def pieces(data: bytes, size: int = 700_000) -> AsyncIterator[bytes]:
    for at in range(0, len(data), size):
        yield data[at : at + size]


async def read(blobs: Blobs, key: str) -> bytes:
    async with blobs.local(key) as path:
        return path.read_bytes()


@pytest.mark.parametrize("size", [0, 1, HEAD_BYTES + 1, 8 * 1024 * 1024, 20_000_000])
async def test_bytes_are_stored_under_their_hash(blobs: Blobs, size: int) -> None:
    data = os.urandom(size)
    blob = await blobs.put(pieces(data), LIMIT)
    assert blob.key == blob.sha256 == hashlib.sha256(data).hexdigest()
    assert (blob.size, blob.head) == (size, data[:HEAD_BYTES])
    assert await blobs.exists(blob.key)
    assert await blobs.head(blob.key) == data[:HEAD_BYTES]
    assert await read(blobs, blob.key) == data
    assert await blobs.put(pieces(data, 1_000_000), LIMIT) == blob
    assert await blobs.keys("", 10) == [blob.key]


@pytest.mark.parametrize("size", [1_000_001, 20_000_001])
async def test_what_is_refused_or_breaks_off_leaves_nothing(blobs: Blobs, size: int) -> None:
    with pytest.raises(BadInput) as refused:
        await blobs.put(pieces(bytes(size)), size - 1)
    assert refused.value.code == "FILE_TOO_LARGE"

    async def broken() -> AsyncIterator[bytes]:
        yield bytes(size)
        raise BadInput("BODY_INCOMPLETE", "The body ended early.")

    with pytest.raises(BadInput, match="ended early"):
        await blobs.put(broken(), LIMIT)
    assert await blobs.keys("", 10) == []
    assert await blobs.sweep(-60) == 0


async def test_a_cancelled_upload_leaves_nothing(blobs: Blobs) -> None:
    begun = asyncio.Event()

    async def slow() -> AsyncIterator[bytes]:
        yield bytes(9_000_000)
        begun.set()
        await asyncio.Event().wait()

    upload = asyncio.create_task(blobs.put(slow(), LIMIT))
    await begun.wait()
    upload.cancel()
    with pytest.raises(asyncio.CancelledError):
        await upload
    assert await blobs.keys("", 10) == []
    assert await blobs.sweep(-60) == 0


async def test_keys_are_listed_in_order_and_in_chunks(blobs: Blobs) -> None:
    made = sorted([(await blobs.put(pieces(b"%d" % n), LIMIT)).key for n in range(25)])
    found: list[str] = []
    while chunk := await blobs.keys(found[-1] if found else "", 4):
        found += chunk
    assert found == made


async def test_only_old_blobs_are_removed(blobs: Blobs) -> None:
    blob = await blobs.put(pieces(b"goods"), LIMIT)
    assert await blobs.remove(blob.key, older_than_seconds=3600) is False
    assert await blobs.remove(blob.key, older_than_seconds=-60) is True
    assert await blobs.remove(blob.key) is False
    assert await blobs.exists(blob.key) is False
    with pytest.raises(NotThere):
        await blobs.head(blob.key)
    with pytest.raises(NotThere):
        await blobs.exists("../../etc/passwd")


async def test_the_first_installation_owns_the_storage(blobs: Blobs) -> None:
    assert await blobs.belong_to("one") is True
    assert await blobs.belong_to("two") is False
    assert await blobs.belong_to("one") is True


async def test_resumable_uploads(blobs: Blobs) -> None:
    data, key = os.urandom(9_000_000), "a" * 32
    async with blobs.partials.hold(key) as partial:
        assert await partial.append(pieces(data[:4_000_000]), len(data), None) == 4_000_000
    assert await blobs.partials.offset(key) == 4_000_000
    async with blobs.partials.hold(key) as partial:
        with pytest.raises(PermanentError):
            await partial.append(pieces(b"xx"), len(data), ("sha1", b"wrong"))
        await partial.append(pieces(data[4_000_000:]), 5_000_000, None)
        blob = await partial.finish()
        assert await partial.finish() == blob
    assert (blob.key, blob.size) == (hashlib.sha256(data).hexdigest(), len(data))
    assert await read(blobs, blob.key) == data
    await blobs.partials.remove(key)
    assert await blobs.partials.offset(key) == 0


async def test_signed_addresses_open_a_blob_of_the_bucket(endpoint: str, tmp_path: Path) -> None:
    blobs = s3_blobs(endpoint, tmp_path)
    blob = await blobs.put(pieces(b"sku\n1\n"), LIMIT)
    url = await blobs.download_url(blob.key, 60)
    assert url is not None
    assert "Signature" in url
    assert KEYS["secretAccessKey"] not in url
    async with httpx2.AsyncClient() as client:
        assert (await client.get(url)).content == b"sku\n1\n"


async def test_a_bucket_that_is_away_costs_no_attempt(tmp_path: Path) -> None:
    config = BucketConfig("s3://goods?endpoint=http://127.0.0.1:9", "k", "s")
    blobs = S3Blobs(config, tmp_path)
    for call in (blobs.put(pieces(b"x"), 10), blobs.head("0" * 64), blobs.keys("", 5)):
        with pytest.raises(Waiting) as away:
            await call
        assert (away.value.code, away.value.retry_after_ms) == ("BLOB_UNAVAILABLE", 2000)
        assert away.value.counted is False
    with pytest.raises(Waiting):
        async with blobs.local("0" * 64):
            raise AssertionError("it must not open")
    assert [path for path in tmp_path.rglob("*") if path.is_file()] == []
