"""F16, F17: the API dies while it accepts a job; uploads are slow or break off."""

from __future__ import annotations

import asyncio
import os
import time
from collections.abc import Iterator
from pathlib import Path

import httpx2
import pytest
from tests.checker.polling import until
from tests.fixtures import Bench
from tests.ports import free_port
from tests.warm import WarmProcess, start_process

from penstock.engine.services.tidy import Tidier, TidierConfig, TidyResult
from penstock.settings import Settings
from penstock.store.accounts import accounts

_CSV = b"sku,title\n1,Hammer\n2,Nail\n"


class Server:
    """`penstock api` as a process, on the test's schema."""

    def __init__(self, settings: Settings, dsn: str, log: Path) -> None:
        self.port = free_port()
        self._settings, self._dsn, self._log = settings, dsn, log
        self.process: WarmProcess | None = None

    async def start(self, failpoint: str = "") -> None:
        if self.process is not None:
            # The process before would answer until it has ended.
            self.process.wait()
        kept = {k: v for k, v in os.environ.items() if not k.startswith("PENSTOCK_")}
        env = {
            **kept,
            "PENSTOCK_DATABASE_URL": self._dsn,
            "PENSTOCK_DATABASE_SCHEMA": self._settings.database_schema,
            "PENSTOCK_DATA_DIR": str(self._settings.data_dir),
            "PENSTOCK_TEST_PIPELINES": "1",
            "PENSTOCK_PORT": str(self.port),
            "PENSTOCK_FAILPOINT": failpoint,
        }
        with self._log.open("ab") as log:
            self.process = start_process(
                "penstock.cli", "api", env=env, cwd=self._log.parent, log=log
            )

        async def answers() -> bool:
            assert self.process is not None
            assert self.process.poll() is None, self._log.read_text()
            try:
                _, writer = await asyncio.open_connection("127.0.0.1", self.port)
            except OSError:
                return False
            writer.close()
            return True

        await until(answers, "the API to listen")

    def kill(self) -> None:
        if self.process is not None:
            self.process.kill()
            self.process.wait()


@pytest.fixture
def has_history() -> bool:
    """Kept by the owner alone, but here the API writes."""
    return False


@pytest.fixture
def server(settings: Settings, owner_dsn: str, tmp_path: Path) -> Iterator[Server]:
    made = Server(settings, owner_dsn, tmp_path / "api.log")
    yield made
    made.kill()


@pytest.fixture
async def key(bench: Bench) -> str:
    async with bench.runtime.db.acquire() as conn:
        return await accounts.create_key(conn, bench.who.org_id, bench.who.user_id)


async def post(server: Server, key: str, **headers: str) -> httpx2.Response:
    async with httpx2.AsyncClient(base_url=f"http://127.0.0.1:{server.port}") as client:
        client.headers["authorization"] = f"Bearer {key}"
        return await client.post(
            "/api/jobs", files={"file": ("goods.csv", _CSV, "text/csv")}, headers=headers
        )


async def counts(bench: Bench) -> tuple[int, int]:
    async with bench.runtime.db.acquire() as conn:
        row = await conn.fetchrow(
            "SELECT (SELECT count(*) FROM jobs), (SELECT count(*) FROM files)"
        )
    assert row is not None
    return row[0], row[1]


def on_disk(settings: Settings) -> list[Path]:
    found = [path for path in settings.blob_dir.rglob("*") if path.is_file()]
    return [path for path in found if path.name != "installation"]


def grow_old(settings: Settings) -> None:
    for path in on_disk(settings):
        then = time.time() - 2 * 86400
        os.utime(path, (then, then))


@pytest.mark.parametrize(
    ("failpoint", "jobs"), [("after_upload", 0), ("before_submit", 0), ("after_submit", 1)]
)
async def test_no_job_or_a_whole_one(
    bench: Bench, server: Server, key: str, settings: Settings, failpoint: str, jobs: int
) -> None:
    await server.start(f"{failpoint}:kill")
    with pytest.raises(httpx2.TransportError):
        await post(server, key, **{"Idempotency-Key": "one"})
    assert await counts(bench) == (jobs, jobs)
    tidier = Tidier(bench.runtime, TidierConfig(orphan_hours=24))
    if not jobs:
        # The bytes have no row: they are used if they are sent again in time, otherwise deleted.
        assert len(on_disk(settings)) == 1
        grow_old(settings)
        assert await tidier.run_once() == TidyResult(blobs=1)
    await server.start()
    again = await post(server, key, **{"Idempotency-Key": "one"})
    assert again.status_code == 202, again.text
    assert await counts(bench) == (1, 1)
    await bench.work()
    async with bench.runtime.db.acquire() as conn:
        row = await conn.fetchrow("SELECT id, state, done FROM jobs")
    assert row is not None
    assert (str(row["id"]), row["state"], row["done"]) == (again.json()["jobId"], "done", 2)
    grow_old(settings)
    assert await tidier.run_once() == TidyResult()


@pytest.mark.parametrize("api_dies", [False, True])
async def test_an_upload_that_breaks_off(
    bench: Bench, server: Server, key: str, settings: Settings, api_dies: bool
) -> None:
    """By the caller, or with the API itself: then its incomplete file is deleted later."""
    await server.start()
    reader, writer = await asyncio.open_connection("127.0.0.1", server.port)
    writer.write(
        b"POST /api/jobs HTTP/1.1\r\nHost: penstock\r\nAuthorization: Bearer " + key.encode()
        + b"\r\nContent-Type: multipart/form-data; boundary=b\r\nContent-Length: 100000\r\n\r\n"
        b'--b\r\nContent-Disposition: form-data; name="file"; filename="a.csv"\r\n\r\nsku'
    )  # fmt: skip

    async def begun() -> bool:
        return bool(on_disk(settings))

    await until(begun, "the upload to begin")
    if api_dies:
        server.kill()
        grow_old(settings)
        tidied = await Tidier(bench.runtime, TidierConfig(orphan_hours=24)).run_once()
        assert tidied == TidyResult(half_made=1)
    else:
        writer.transport.abort()

    async def gone() -> bool:
        return not on_disk(settings)

    await until(gone, "the half-made file to go")
    assert await counts(bench) == (0, 0)
    writer.transport.abort()
    assert not await reader.read()
