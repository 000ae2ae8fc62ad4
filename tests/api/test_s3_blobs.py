"""Files in a bucket: uploads, jobs and tidying through it, and what happens while it is away."""

from __future__ import annotations

import asyncio
import contextlib
import time
from collections.abc import AsyncIterator, Iterator
from uuid import UUID

import httpx2
import pytest
from tests.api.conftest import CSV, file_of, refused
from tests.fixtures import Bench
from tests.places.servers import KEYS, s3_server

from penstock.blobs.s3 import S3Blobs
from penstock.engine.runtime import Runtime
from penstock.engine.services.tidy import Tidier, TidierConfig
from penstock.settings import Settings

_TUS = {"Tus-Resumable": "1.0.0"}


class Line:
    """A connection to the S3 server that can be cut."""

    def __init__(self, port: int) -> None:
        self._port = port
        self._server: asyncio.Server | None = None
        self._writers: set[asyncio.StreamWriter] = set()
        self.port = 0

    async def mend(self) -> None:
        self._server = await asyncio.start_server(self._pass_on, "127.0.0.1", self.port)
        self.port = self._server.sockets[0].getsockname()[1]

    async def cut(self) -> None:
        assert self._server is not None
        self._server.close()
        for writer in list(self._writers):
            writer.transport.abort()
        await asyncio.sleep(0)

    async def _pass_on(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        there = await asyncio.open_connection("127.0.0.1", self._port)
        self._writers |= {writer, there[1]}
        with contextlib.suppress(OSError):
            await asyncio.gather(_copy(reader, there[1]), _copy(there[0], writer))
        self._writers -= {writer, there[1]}


async def _copy(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
    with contextlib.suppress(OSError):
        while piece := await reader.read(65_536):
            writer.write(piece)
            await writer.drain()
    writer.close()


@pytest.fixture
def endpoint() -> Iterator[str]:
    with s3_server() as started:
        httpx2.put(f"{started}/penstock-files").raise_for_status()
        yield started


@pytest.fixture
async def line(endpoint: str) -> AsyncIterator[Line]:
    made = Line(int(endpoint.rpartition(":")[2]))
    await made.mend()
    yield made
    await made.cut()


@pytest.fixture
def settings(settings: Settings, line: Line) -> Settings:
    url = f"s3://penstock-files/one?endpoint=http://127.0.0.1:{line.port}"
    keys = {"blobs_access_key_id": KEYS["accessKeyId"]}
    made = Settings(blobs_url=url, blobs_secret_access_key=KEYS["secretAccessKey"])
    return settings.model_copy(
        update={
            "blobs_url": url, "blobs_secret_access_key": made.blobs_secret_access_key,
            "max_file_bytes": 30_000_000, **keys,
        }
    )  # fmt: skip


async def attempts_of(bench: Bench, job: str) -> int:
    return int((await bench.job(UUID(job)))["attempts"])


async def test_files_and_jobs_in_a_bucket(
    client: httpx2.AsyncClient, bench: Bench, runtime: Runtime, settings: Settings
) -> None:
    assert isinstance(runtime.blobs, S3Blobs)
    first = (await client.post("/api/jobs", files=file_of())).json()["jobId"]
    large = b"sku,title\n" + b"".join(b"%d,Hammer %d\n" % (n, n) for n in range(2000))
    begun = await client.post(
        "/api/uploads",
        headers=_TUS | {"Upload-Length": str(len(large)), "Upload-Metadata": "filename YS5jc3Y="},
    )
    where = begun.headers["location"]
    for at in range(0, len(large), 20_000):
        sent = await client.patch(
            where, content=large[at : at + 20_000],
            headers=_TUS
            | {"Upload-Offset": str(at), "Content-Type": "application/offset+octet-stream"},
        )  # fmt: skip
        assert sent.status_code == 204, sent.text
    order = {"fileId": (await client.get(where)).json()["fileId"]}
    made = await client.post("/api/jobs", json=order)
    assert made.status_code == 202, made.text
    second = made.json()["jobId"]
    await bench.work()
    for job, rows in ((first, 2), (second, 2000)):
        shown = (await client.get(f"/api/jobs/{job}")).json()
        assert (shown["state"], shown["counters"]["total"]) == ("done", rows)
    # Nothing but caches and folders is left in the data folder.
    assert [path for path in settings.blob_dir.rglob("*") if path.is_file()] == []
    assert len(await runtime.blobs.keys("", 10)) == 2


async def test_a_file_is_downloaded_from_the_bucket(client: httpx2.AsyncClient) -> None:
    made = (await client.post("/api/files", files=file_of())).json()["id"]
    answer = await client.get(f"/api/files/{made}/content")
    assert (answer.status_code, answer.headers["cache-control"]) == (307, "no-store")
    async with httpx2.AsyncClient() as outside:
        assert (await outside.get(answer.headers["location"])).content == CSV


async def test_the_tidier_lists_the_bucket(runtime: Runtime, client: httpx2.AsyncClient) -> None:
    async def lost() -> AsyncIterator[bytes]:
        yield b"an upload whose process died before its row was written"

    orphan = await runtime.blobs.put(lost(), 1000)
    await client.post("/api/files", files=file_of())
    tidied = await Tidier(runtime, TidierConfig(orphan_hours=0)).run_once()
    assert tidied.blobs >= 0
    await asyncio.sleep(1.1)  # times of objects are whole seconds
    await Tidier(runtime, TidierConfig(orphan_hours=0)).run_once()
    assert not await runtime.blobs.exists(orphan.key)


@pytest.mark.parametrize("seconds", [3.0, pytest.param(60.0, marks=pytest.mark.long)])
async def test_a_bucket_that_is_away_loses_nothing_and_burns_no_attempt(
    client: httpx2.AsyncClient, bench: Bench, line: Line, seconds: float
) -> None:
    jobs = [
        (await client.post("/api/jobs", files=file_of(CSV + b"%d,x,1\n" % n))).json()["jobId"]
        for n in range(10, 15)
    ]
    await line.cut()
    away_until = time.monotonic() + seconds
    tries = 0
    while time.monotonic() < away_until:
        await bench.work(turns=5)
        tries += 1
        await asyncio.sleep(0.2)
    answer = await client.post("/api/jobs", files=file_of())
    refused(answer, 503, "BLOB_UNAVAILABLE")
    assert tries > 0
    for job in jobs:
        assert (await client.get(f"/api/jobs/{job}")).json()["state"] in ("queued", "running")
        assert await attempts_of(bench, job) == 0
    await line.mend()
    deadline = time.monotonic() + 120
    states = set[str]()
    while states != {"done"} and time.monotonic() < deadline:
        await bench.work(turns=50)
        states = {(await client.get(f"/api/jobs/{job}")).json()["state"] for job in jobs}
    assert states == {"done"}
    assert [await attempts_of(bench, job) for job in jobs] == [0] * 5
    assert len((await client.get("/api/jobs")).json()["items"]) == 5
