"""A server of our own, fresh schemas in it, and real worker processes over them."""

from __future__ import annotations

import asyncio
import json
import os
import secrets
import shutil
import sys
import tempfile
from asyncio.subprocess import PIPE, Process, create_subprocess_exec
from collections.abc import AsyncIterator, Mapping
from contextlib import AsyncExitStack, asynccontextmanager
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any
from uuid import UUID

import asyncpg
import psutil

from benchmarks.payload import BENCH_PIPELINES
from penstock.engine.claim import Limits
from penstock.engine.runtime import Runtime
from penstock.engine.submit import Order
from penstock.engine.submit_queue import Channel, SubmitQueue
from penstock.engine.worker.loop import Worker
from penstock.model.adaptive import ClaimBounds
from penstock.model.ticket import Ticket
from penstock.settings import Settings
from penstock.store.accounts import accounts
from penstock.store.accounts.accounts import Principal
from penstock.store.database import Database
from penstock.store.jobs.claims import Served
from penstock.store.migrate import migrate
from penstock.supervisor.postgres import EmbeddedPostgres
from penstock.wiring import open_runtime

_PATIENCE_S = 600.0


@dataclass(frozen=True)
class Lab:
    """A running server; one at a time."""

    folder: Path
    dsn: str
    api_dsn: str
    superuser_dsn: str
    pid: int

    def server_cpu(self) -> float:
        """Processor seconds of the server: on a shared machine they tell more than a clock."""
        server = psutil.Process(self.pid)
        times = [server.cpu_times(), *(_cpu_times(child) for child in server.children())]
        return float(
            sum(t.user + t.system + t.children_user + t.children_system for t in times if t)
        )

    @asynccontextmanager
    async def bench(self, **settings: Any) -> AsyncIterator[Bench]:
        """A fresh schema with the engine over it, dropped in the end."""
        schema = f"b_{secrets.token_hex(4)}"
        settings = {"test_pipelines": True, **settings}
        chosen = Settings(data_dir=self.folder / schema, database_schema=schema, **settings)
        setup = await Database(self.dsn, chosen.database_schema, size=1).open()
        async with setup.acquire() as conn:
            await migrate(conn, chosen.database_schema)
            org = await accounts.ensure_org(conn, "bench")
            user = await accounts.ensure_user(conn, org.id, "bench@localhost", "member")
        who = Principal(user.id, org.id, "bench@localhost", "member", "bench", "standard")
        try:
            async with open_runtime(
                chosen, self.dsn, name="bench", pipelines=BENCH_PIPELINES
            ) as runtime:
                yield Bench(self, runtime, who, SubmitQueue(runtime))
        finally:
            async with setup.acquire() as conn:
                await conn.execute(f'DROP SCHEMA "{chosen.database_schema}" CASCADE')
            await setup.close()

    async def checkpoint(self) -> None:
        """So that no run pays for the writes of the one before."""
        conn = await asyncpg.connect(self.superuser_dsn)
        try:
            await conn.execute("CHECKPOINT")
        finally:
            await conn.close()


def _cpu_times(process: psutil.Process) -> Any:
    try:
        return process.cpu_times()
    except psutil.NoSuchProcess:
        return None


@asynccontextmanager
async def open_lab() -> AsyncIterator[Lab]:
    folder = Path(tempfile.mkdtemp(prefix="penstock-bench-"))
    try:
        async with EmbeddedPostgres(folder) as server:
            assert server.pid is not None
            yield Lab(folder, server.owner_dsn, server.api_dsn, server.superuser_dsn, server.pid)
    finally:
        shutil.rmtree(folder, ignore_errors=True)


@dataclass(frozen=True)
class Bench:
    lab: Lab
    runtime: Runtime
    who: Principal
    submits: SubmitQueue

    @property
    def db(self) -> Database:
        return self.runtime.db

    async def submit(self, pipeline: str, config: Mapping[str, Any], **order: Any) -> UUID:
        wanted = Order(pipeline, dict(config), **order)
        channel = Channel("bench", self.db.acquire)
        return (await self.submits.submit(channel, self.who, wanted)).job_id

    async def ingest(self, job_id: UUID) -> None:
        """Read the job's rows in, in this process; its items stay pending."""
        async with Worker(
            self.runtime, Served(job_id=job_id, stages=["ingest"]), sweeps=False
        ) as worker:
            while not await self._fetchval("SELECT ingest_done FROM jobs WHERE id = $1", job_id):
                await worker.run_once()

    async def items(self, count: int) -> UUID:
        """A paused job with ``count`` pending items of the fixed payload."""
        job_id = await self.submit("payload", {"items": count})
        if not await self._fetchval("SELECT ingest_done FROM jobs WHERE id = $1", job_id):
            await self.ingest(job_id)
        await self.execute("UPDATE jobs SET paused = true WHERE id = $1", job_id)
        await self.execute("VACUUM ANALYZE job_items")
        return job_id

    async def resume(self, job_id: UUID) -> None:
        async with self.db.acquire() as conn:
            await conn.execute("UPDATE jobs SET paused = false WHERE id = $1", job_id)
        await self.runtime.broker.send(Ticket("any"))

    async def until_done(self, job_id: UUID, patience: float = _PATIENCE_S) -> None:
        async with asyncio.timeout(patience):
            while (state := await self.state(job_id)) not in ("done", "failed", "cancelled"):
                await asyncio.sleep(0.01)
        if state != "done":
            raise RuntimeError(f"job ended as {state}")

    async def state(self, job_id: UUID) -> str:
        return str(await self._fetchval("SELECT state FROM jobs WHERE id = $1", job_id))

    async def done(self, job_id: UUID) -> int:
        """How many of its items are."""
        return int(await self._fetchval("SELECT done FROM jobs WHERE id = $1", job_id))

    async def connect(self) -> asyncpg.Connection[asyncpg.Record]:
        """A connection of its own, without the engine's bound on the time of a statement."""
        conn = await self.db.connect()
        await conn.execute("SET statement_timeout = 0")
        return conn

    async def execute(self, statement: str, *values: Any) -> None:
        conn = await self.connect()
        try:
            await conn.execute(statement, *values)
        finally:
            await conn.close()

    async def _fetchval(self, statement: str, *values: Any) -> Any:
        async with self.db.acquire() as conn:
            return await conn.fetchval(statement, *values)

    @asynccontextmanager
    async def workers(self, count: int) -> AsyncIterator[list[Process]]:
        """Worker processes as an installation runs them, ready and idle."""
        spec = json.dumps({
            "dsn": self.lab.dsn,
            "settings": self.runtime.settings.model_dump(mode="json", exclude={"database_url"}),
        })  # fmt: skip
        async with running("benchmarks.worker", spec, count) as processes:
            yield processes


def limits_of(runtime: Runtime, slice_size: int) -> Limits:
    """A worker's, with slices of one size and no cap that one org would reach."""
    usual = Worker(runtime, sweeps=False, announces=False)._limits
    bounds = ClaimBounds(least=slice_size, most=slice_size)
    return replace(usual, bounds=bounds, org_cap=64, own_cap=64)


@asynccontextmanager
async def running(module: str, argument: str, count: int) -> AsyncIterator[list[Process]]:
    """Processes of a module of ours: each says it is ready, and ends with its standard input."""
    async with AsyncExitStack() as stack:
        processes = [
            await stack.enter_async_context(_process(module, argument)) for _ in range(count)
        ]
        for process in processes:
            assert process.stdout is not None
            if (await process.stdout.readline()).strip() != b"ready":
                raise RuntimeError(f"{module} did not start")
        yield processes


@asynccontextmanager
async def _process(module: str, argument: str) -> AsyncIterator[Process]:
    path = os.pathsep.join(filter(None, sys.path))
    process = await create_subprocess_exec(
        sys.executable, "-m", module, argument,
        stdin=PIPE, stdout=PIPE, env={**os.environ, "PYTHONPATH": path},
    )  # fmt: skip
    try:
        yield process
    finally:
        if process.stdin is not None:
            process.stdin.close()
        try:
            await asyncio.wait_for(process.wait(), 30)
        except TimeoutError:
            process.kill()
            await process.wait()
