"""F8: disks that are full, of the files and of the database. Nothing is lost, no
attempt is counted, and work continues once there is space."""

from __future__ import annotations

import asyncio
import os
import shutil
import subprocess
from collections.abc import AsyncIterator, Callable, Iterator
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path

import asyncpg
import httpx2
import pytest
from tests.api.conftest import api_db, app, caller, client, file_of, refused, shared_routes
from tests.chaos.chaos_bench import ChaosBench
from tests.chaos.worker_pool import WorkerPool
from tests.checker.polling import until

from penstock.settings import Settings
from penstock.store.database import CONNECTION_ERRORS
from penstock.supervisor.postgres import EmbeddedPostgres
from penstock.supervisor.watch import keep_postgres

__all__ = ["api_db", "app", "caller", "client", "shared_routes"]
_MEBIBYTE = 1024 * 1024


@dataclass(frozen=True)
class Disk:
    """A small file system for one test."""

    folder: Path

    @property
    def _ballast(self) -> Path:
        return self.folder / "ballast"

    def fill(self) -> None:
        """Fill the disk; processes that write at the same time take some of the space."""
        with suppress(OSError), self._ballast.open("ab", buffering=0) as file:
            while True:
                file.write(b"\0" * 65536)

    def free(self) -> None:
        self._ballast.unlink()


@pytest.fixture
def disks(tmp_path: Path) -> Iterator[Callable[[Path, int], Disk]]:
    mounted: list[Path] = []

    def make(folder: Path, mebibytes: int) -> Disk:
        folder.mkdir(parents=True, exist_ok=True)
        options = ["-o", f"size={mebibytes}m,mode=0711"]
        done = subprocess.run(
            ["mount", "-t", "tmpfs", *options, "tmpfs", str(folder)], capture_output=True, text=True
        )
        if done.returncode:
            pytest.skip(f"a small disk needs the right to mount one: {done.stderr.strip()}")
        mounted.append(folder)
        return Disk(folder)

    yield make
    for folder in mounted:
        subprocess.run(["umount", "-l", str(folder)], check=True)


class TestFiles:
    """Uploads, on a disk of 8 MiB."""

    @pytest.fixture
    def has_history(self) -> bool:
        """Kept by the owner alone, but here the API writes."""
        return False

    @pytest.fixture
    def disk(self, settings: Settings, disks: Callable[[Path, int], Disk]) -> Disk:
        return disks(settings.blob_dir, 8)

    async def test_an_upload_that_does_not_fit(
        self, disk: Disk, client: httpx2.AsyncClient
    ) -> None:
        answer = await client.post("/api/files", files=file_of(os.urandom(12 * _MEBIBYTE)))
        refused(answer, 507, "STORAGE_FULL")
        assert int(answer.headers["retry-after"]) > 0
        assert [path for path in disk.folder.rglob("*") if path.is_file()] == []
        assert (
            await client.post("/api/files", files=file_of(b"x" * 5 * _MEBIBYTE))
        ).status_code == 201

    async def test_a_full_disk_and_a_job(self, disk: Disk, client: httpx2.AsyncClient) -> None:
        disk.fill()
        refused(await client.post("/api/jobs", files=file_of()), 507, "STORAGE_FULL")
        assert (await client.get("/api/jobs")).json()["items"] == []
        disk.free()
        answer = await client.post("/api/jobs", files=file_of())
        assert answer.status_code == 202, answer.text


class OwnServer:
    """A server on a disk of its own; `keep_postgres` watches it as `penstock up` does."""

    @pytest.fixture
    def disk(self, tmp_path: Path, disks: Callable[[Path, int], Disk]) -> Disk:
        return disks(tmp_path / "server", 160)

    @pytest.fixture
    def wal_apart(self) -> bool:
        """The log of changes on another disk: only tables cannot grow, and the server keeps
        running."""
        return True

    @pytest.fixture
    async def server(
        self, disk: Disk, wal_apart: bool, disks: Callable[[Path, int], Disk], tmp_path: Path
    ) -> AsyncIterator[EmbeddedPostgres]:
        server = EmbeddedPostgres(disk.folder)
        await server.start()
        if wal_apart:
            await server.stop()
            wal, elsewhere = disk.folder / "pg" / "pg_wal", disks(tmp_path / "wal", 400).folder
            os.chown(elsewhere, wal.stat().st_uid, wal.stat().st_gid)
            shutil.copytree(wal, elsewhere / "pg_wal")
            for path in (elsewhere / "pg_wal", *(elsewhere / "pg_wal").rglob("*")):
                os.chown(path, wal.stat().st_uid, wal.stat().st_gid)
            shutil.rmtree(wal)
            wal.symlink_to(elsewhere / "pg_wal")
            await server.start()
        self.told: list[str] = []
        keeping = asyncio.create_task(keep_postgres(server, self.told.append))
        yield server
        keeping.cancel()
        await asyncio.gather(keeping, return_exceptions=True)
        await server.stop()
        print(*self.told, sep="\n")

    @pytest.fixture
    def owner_dsn(self, server: EmbeddedPostgres) -> str:
        return server.owner_dsn

    @pytest.fixture
    def api_dsn(self, server: EmbeddedPostgres) -> str:
        return server.api_dsn

    async def _meets_it(self, worker_pool: WorkerPool, *words: str) -> None:
        async def said() -> bool:
            return any(word in hand.said() for hand in worker_pool.processes for word in words)

        await until(said, f"a worker to say one of {words}", timeout=60)

    async def _goes_on(
        self, chaos_bench: ChaosBench, worker_pool: WorkerPool, job_id: object, rows: int
    ) -> None:
        (job,) = await chaos_bench.ended(job_id, timeout=60)  # type: ignore[arg-type]
        assert (job["state"], job["done"], job["error"]) == ("done", rows, 0)
        assert job["attempts"] == 0
        burned = "SELECT count(*) FROM job_items WHERE attempts > 1 OR crashes > 0"
        assert await chaos_bench.value(burned) == 0
        assert not [hand.said() for hand in worker_pool.processes if hand.dead]
        await chaos_bench.is_clean()


class TestTables(OwnServer):
    async def test_they_cannot_grow(
        self,
        disk: Disk,
        chaos_bench: ChaosBench,
        worker_pool: WorkerPool,
        client: httpx2.AsyncClient,
    ) -> None:
        """In the middle of an ingest: it waits, the API says why, and then it continues."""
        rows = 20_000
        job_id = await chaos_bench.send(rows, inline=False, payloadBytes=200, workMs=0.05)
        await worker_pool.start(ingest_max_rows=500).is_up()
        await chaos_bench.reaches(job_id, "total", 2000)
        # The history is kept by the owner alone, but here the API writes, too.
        for what in ("TABLES", "SEQUENCES"):
            schema = chaos_bench.runtime.db.schema
            await chaos_bench.value(f'GRANT ALL ON ALL {what} IN SCHEMA "{schema}" TO penstock_api')
        disk.fill()
        await self._meets_it(worker_pool, "No space left", "DiskFull")
        order = {"pipeline": "noop", "config": {"items": 100, "payloadBytes": 100_000}}
        answer = await client.post("/api/jobs", json=order)
        refused(answer, 507, "STORAGE_FULL")
        assert int(answer.headers["retry-after"]) > 0
        assert (await chaos_bench.job(job_id))["state"] == "running"
        disk.free()
        await self._goes_on(chaos_bench, worker_pool, job_id, rows)


@pytest.mark.long
class TestTablesAndLog(OwnServer):
    """Tables and log on one disk: the server itself panics, and cannot even start."""

    @pytest.fixture
    def wal_apart(self) -> bool:
        return False

    async def test_the_server_cannot_start(
        self, disk: Disk, chaos_bench: ChaosBench, worker_pool: WorkerPool, server: EmbeddedPostgres
    ) -> None:
        rows = 6000
        job_id = await chaos_bench.send(rows, inline=False, payloadBytes=200, workMs=0.5)
        await worker_pool.start(ingest_max_rows=200).is_up()
        await chaos_bench.reaches(job_id, "total", 2000)
        disk.fill()
        with suppress(*CONNECTION_ERRORS):
            conn = await asyncpg.connect(server.superuser_dsn)
            for _ in range(3):
                await conn.execute("SELECT pg_switch_wal(), txid_current()")

        async def told() -> bool:
            return any("There is no space left for" in line for line in self.told)

        await until(told, "the supervisor to say what is wrong", timeout=60)
        disk.free()
        await self._goes_on(chaos_bench, worker_pool, job_id, rows)
