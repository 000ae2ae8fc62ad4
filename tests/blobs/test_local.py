from __future__ import annotations

import asyncio
import errno
import hashlib
import os
import subprocess
import sys
import time
from collections.abc import AsyncIterator, Iterable
from pathlib import Path

import pytest

from penstock.blobs.disk import HEAD_BYTES, named_errors
from penstock.blobs.local import LocalBlobs
from penstock.model.errors import BadInput, NotThere, TransientError

LIMIT = 100 * 1024 * 1024


async def chunks_of(parts: Iterable[bytes]) -> AsyncIterator[bytes]:
    for part in parts:
        yield part


def leftovers(folder: Path) -> list[Path]:
    return list((folder / "tmp").glob("*"))


async def test_bytes_are_stored_under_their_hash(tmp_path: Path) -> None:
    blobs = LocalBlobs(tmp_path / "deep" / "blobs")
    data = os.urandom(3_000_000)
    parts = [data[at : at + 65_536] for at in range(0, len(data), 65_536)]
    blob = await blobs.put(chunks_of(parts), LIMIT)
    assert blob.key == blob.sha256 == hashlib.sha256(data).hexdigest()
    assert (blob.size, blob.head) == (len(data), data[:HEAD_BYTES])
    path = blobs.path(blob.key)
    assert path.read_bytes() == data
    assert path.stat().st_mode & 0o777 == 0o600
    assert await blobs.exists(blob.key)
    assert leftovers(tmp_path / "deep" / "blobs") == []


async def test_the_same_bytes_twice_are_one_blob(tmp_path: Path) -> None:
    blobs = LocalBlobs(tmp_path)
    first = await blobs.put(chunks_of([b"same"]), LIMIT)
    assert await blobs.put(chunks_of([b"sa", b"me"]), LIMIT) == first
    assert len([path for path in tmp_path.rglob("*") if path.is_file()]) == 1


async def test_no_bytes_are_a_blob_too(tmp_path: Path) -> None:
    blob = await LocalBlobs(tmp_path).put(chunks_of([]), LIMIT)
    assert (blob.size, blob.head) == (0, b"")


@pytest.mark.parametrize(("size", "limit"), [(11, 10), (3_000_000, 2_999_999)])
async def test_one_byte_too_many_is_refused(tmp_path: Path, size: int, limit: int) -> None:
    blobs = LocalBlobs(tmp_path)
    parts = [b"x" * 1000] * (size // 1000) + [b"x" * (size % 1000)]
    with pytest.raises(BadInput) as refused:
        await blobs.put(chunks_of(parts), limit)
    assert refused.value.code == "FILE_TOO_LARGE"
    assert leftovers(tmp_path) == []
    assert (await blobs.put(chunks_of(parts), size)).size == size


async def test_a_broken_upload_leaves_nothing(tmp_path: Path) -> None:
    async def broken() -> AsyncIterator[bytes]:
        yield b"x" * 2_000_000
        raise ConnectionResetError

    with pytest.raises(ConnectionResetError):
        await LocalBlobs(tmp_path).put(broken(), LIMIT)
    assert [path for path in tmp_path.rglob("*") if path.is_file()] == []


async def test_a_cancelled_upload_leaves_nothing(tmp_path: Path) -> None:
    started = asyncio.Event()

    async def endless() -> AsyncIterator[bytes]:
        yield b"x" * 2_000_000
        started.set()
        await asyncio.Event().wait()

    upload = asyncio.create_task(LocalBlobs(tmp_path).put(endless(), LIMIT))
    await started.wait()
    assert len(leftovers(tmp_path)) == 1
    upload.cancel()
    with pytest.raises(asyncio.CancelledError):
        await upload
    assert leftovers(tmp_path) == []


@pytest.mark.parametrize("steps", range(6))
async def test_a_cancellation_at_any_moment_leaves_nothing(tmp_path: Path, steps: int) -> None:
    upload = asyncio.create_task(LocalBlobs(tmp_path).put(chunks_of([b"x" * 1_100_000] * 3), LIMIT))
    for _ in range(steps):
        await asyncio.sleep(0)
    upload.cancel()
    await asyncio.gather(upload, return_exceptions=True)
    assert leftovers(tmp_path) == []


FULL = """
import asyncio, resource, signal, sys
from pathlib import Path
from penstock.blobs.local import LocalBlobs
from penstock.model.errors import PenstockError

async def chunks():
    for _ in range(4):
        yield b"x" * 1_000_000

async def main():
    folder = Path(sys.argv[1])
    try:
        await LocalBlobs(folder).put(chunks(), 10**9)
    except PenstockError as error:
        print(error.code, len(list((folder / "tmp").glob("*"))))

signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
resource.setrlimit(resource.RLIMIT_FSIZE, (1_500_000, 1_500_000))
asyncio.run(main())
"""


def test_a_write_the_system_refuses_has_a_name(tmp_path: Path) -> None:
    """A file size limit stands in for a broken disk: the kernel refuses the write itself."""
    run = subprocess.run(
        [sys.executable, "-c", FULL, str(tmp_path)],
        capture_output=True,
        text=True,
        check=True,
        env={**os.environ, "PYTHONPATH": ":".join(sys.path)},
    )
    assert run.stdout.split() == ["BLOB_UNAVAILABLE", "0"]


def test_a_full_disk_has_a_name() -> None:
    """/dev/full answers every write with ENOSPC."""
    with (
        pytest.raises(TransientError) as refused,
        named_errors(),
        Path("/dev/full").open("wb", buffering=0) as full,
    ):
        full.write(b"x")
    assert refused.value.code == "STORAGE_FULL"
    assert isinstance(refused.value.__cause__, OSError)
    assert refused.value.__cause__.errno == errno.ENOSPC


@pytest.mark.parametrize(
    "key", ["", "../../etc/passwd", "a" * 63, "A" * 64, "a" * 64 + "\n", "a" * 62 + "/a", "\0" * 64]
)
async def test_only_hashes_are_keys(tmp_path: Path, key: str) -> None:
    blobs = LocalBlobs(tmp_path)
    with pytest.raises(NotThere):
        blobs.path(key)
    with pytest.raises(NotThere):
        await blobs.exists(key)


async def test_sweep_removes_only_what_is_old(tmp_path: Path) -> None:
    blobs = LocalBlobs(tmp_path)
    assert await blobs.sweep(60) == 0
    blob = await blobs.put(chunks_of([b"kept"]), LIMIT)
    old, fresh = tmp_path / "tmp" / "old", tmp_path / "tmp" / "fresh"
    for path in (old, fresh):
        path.touch()
    hour_ago = time.time() - 3600
    os.utime(old, (hour_ago, hour_ago))
    assert await blobs.sweep(1800) == 1
    assert leftovers(tmp_path) == [fresh]
    assert await blobs.exists(blob.key)
