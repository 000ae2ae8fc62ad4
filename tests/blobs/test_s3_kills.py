"""A process that is killed during an upload to a bucket leaves no blob; what it left is swept."""

from __future__ import annotations

import hashlib
import subprocess
import sys
from collections.abc import AsyncIterator, Iterator
from pathlib import Path

import httpx2
import pytest
from tests.places.servers import KEYS, s3_server

from penstock.blobs.s3 import BucketConfig, S3Blobs

_PIECE = bytes(range(256)) * 4096
_KEY = "b" * 32
_PUT = """
import asyncio, sys
from pathlib import Path
from penstock.blobs.s3 import BucketConfig, S3Blobs

url, key, secret, folder, how = sys.argv[1:]
blobs = S3Blobs(BucketConfig(url, key, secret), Path(folder))
piece = bytes(range(256)) * 4096

async def slow():
    for number in range(40):
        yield piece
        print(number, flush=True)
        await asyncio.sleep(0.02)

async def main():
    if how == "put":
        await blobs.put(slow(), 10**9)
    else:
        async with blobs.partials.hold("b" * 32) as partial:
            await partial.append(slow(), 10**9, None)

asyncio.run(main())
"""


@pytest.fixture
def url() -> Iterator[str]:
    with s3_server() as endpoint:
        httpx2.put(f"{endpoint}/uploads").raise_for_status()
        yield f"s3://uploads/one?endpoint={endpoint}"


def killed_while(how: str, url: str, folder: Path, after: int) -> None:
    command = [sys.executable, "-c", _PUT, url, *KEYS.values(), str(folder), how]
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True) as process:
        assert process.stdout is not None
        for line in process.stdout:
            if int(line) >= after:
                process.kill()
                break


@pytest.mark.parametrize("after", [2, 20])
async def test_a_killed_upload_leaves_no_blob(url: str, tmp_path: Path, after: int) -> None:
    killed_while("put", url, tmp_path, after)
    blobs = S3Blobs(BucketConfig(url, KEYS["accessKeyId"], KEYS["secretAccessKey"]), tmp_path)
    assert await blobs.keys("", 10) == []
    await blobs.sweep(-60)
    assert await blobs.sweep(-60) == 0


async def test_a_resumable_upload_goes_on_after_a_kill(url: str, tmp_path: Path) -> None:
    killed_while("resume", url, tmp_path, 20)
    blobs = S3Blobs(BucketConfig(url, KEYS["accessKeyId"], KEYS["secretAccessKey"]), tmp_path)
    stored = await blobs.partials.offset(_KEY)
    whole = _PIECE * 40
    assert 0 < stored < len(whole)
    assert await blobs.keys("", 10) == []

    async def rest() -> AsyncIterator[bytes]:
        yield whole[stored:]

    async with blobs.partials.hold(_KEY) as partial:
        await partial.append(rest(), len(whole), None)
        blob = await partial.finish()
    assert blob.key == hashlib.sha256(whole).hexdigest()
    async with blobs.local(blob.key) as path:
        assert path.stat().st_size == len(whole)
