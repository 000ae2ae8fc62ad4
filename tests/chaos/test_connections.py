"""F6: connections that are cut, refused or delayed."""

from __future__ import annotations

import asyncio
import time
from contextlib import AsyncExitStack
from typing import Any

import asyncpg
import pytest
from tests.chaos.chaos_bench import ChaosBench
from tests.chaos.own_server import OwnServer
from tests.chaos.worker_pool import WorkerPool

from penstock.settings import Settings
from penstock.supervisor.postgres import EmbeddedPostgres

_CUT = """
    SELECT count(pg_terminate_backend(pid)) FROM pg_stat_activity
    WHERE (application_name LIKE 'penstock worker ' || $1 || '%'
           OR query LIKE '%penstock_work_' || $1 || '%') AND pid <> pg_backend_pid()
"""


async def test_connections_are_cut_again_and_again(
    chaos_bench: ChaosBench, worker_pool: WorkerPool
) -> None:
    """Cut every connection of every worker, also those of LISTEN and of the heartbeat."""
    job_id = await chaos_bench.send(8000, inline=False, stages=2, workMs=0.1)
    for _ in range(2):
        await worker_pool.start().is_up()
    for share in (1, 2, 3, 4, 5):
        await chaos_bench.reaches(job_id, "done", 1000 * share)
        # Workers may still be connecting again after the cut before.
        while not await chaos_bench.value(_CUT, chaos_bench.runtime.db.schema):
            await asyncio.sleep(0.01)
    (job,) = await chaos_bench.ended(job_id)
    assert (job["done"], job["total"], job["error"]) == (8000, 8000, 0)
    assert not [hand.said() for hand in worker_pool.processes if hand.dead]
    await chaos_bench.is_clean()


async def test_connections_are_cut_during_the_ingest(
    chaos_bench: ChaosBench, worker_pool: WorkerPool
) -> None:
    job_id = await chaos_bench.send(20_000, inline=False, learns=True)
    await worker_pool.start(ingest_max_rows=200).is_up()
    for share in (1, 2, 3, 4, 5):
        await chaos_bench.reaches(job_id, "total", 3000 * share)
        await chaos_bench.value(_CUT, chaos_bench.runtime.db.schema)
    (job,) = await chaos_bench.ended(job_id)
    assert (job["state"], job["total"], job["done"]) == ("done", 20_000, 20_000)
    retried = "SELECT string_agg(data::text, ' ') FROM events WHERE event = 'job.retrying'"
    assert await chaos_bench.value(retried) is None
    await chaos_bench.is_clean()


_CUT_ONE = """
    SELECT pg_terminate_backend(pid) FROM pg_stat_activity
    WHERE application_name LIKE 'penstock worker ' || $1 || '%' ORDER BY random() LIMIT 1
"""


@pytest.mark.parametrize(
    "seconds", [3, pytest.param(60, marks=[pytest.mark.long, pytest.mark.timeout(300)])]
)
async def test_two_connections_a_second_are_cut(
    chaos_bench: ChaosBench, worker_pool: WorkerPool, seconds: int
) -> None:
    job_id = await chaos_bench.send(2000 * seconds, inline=False, workMs=0.2)
    for _ in range(2):
        await worker_pool.start().is_up()
    await chaos_bench.reaches(job_id, "done", 100)
    until_then = time.monotonic() + seconds
    while time.monotonic() < until_then:
        await chaos_bench.value(_CUT_ONE, chaos_bench.runtime.db.schema)
        await asyncio.sleep(0.5)
    (job,) = await chaos_bench.ended(job_id, timeout=60 + seconds)
    assert (job["done"], job["error"]) == (2000 * seconds, 0)
    assert not [hand.said() for hand in worker_pool.processes if hand.dead]
    await chaos_bench.is_clean()


class TestNobodyListens:
    @pytest.fixture
    def settings(self, settings: Settings) -> Settings:
        """A worker that is not woken sleeps so long that a test notices."""
        return settings.model_copy(update={"poll_ms": 4000})

    async def test_a_lost_listener_costs_a_poll_at_most(
        self, chaos_bench: ChaosBench, worker_pool: WorkerPool
    ) -> None:
        """NOTIFY is a hint: without the session that listens, work is found all the same."""
        await worker_pool.start().is_up()
        cut = """
            SELECT count(pg_terminate_backend(pid)) FROM pg_stat_activity
            WHERE application_name = 'penstock broker' AND query LIKE 'LISTEN%' || $1 || '%'"""
        assert await chaos_bench.value(cut, chaos_bench.runtime.db.schema) >= 1
        # No worker is woken for this job.
        unheard = await chaos_bench.send(3)
        await chaos_bench.ended(unheard)
        # By now a worker listens again and need not poll: otherwise each job would wait for the
        # poll after the job before.
        took = []
        for _ in range(4):
            began = time.monotonic()
            await chaos_bench.ended(await chaos_bench.send_and_wake())
            took.append(time.monotonic() - began)
            if took[-1] < 3.5:
                break
        assert min(took) < 3.5
        await chaos_bench.is_clean()


@pytest.mark.parametrize(
    "seconds", [3, pytest.param(40, marks=[pytest.mark.long, pytest.mark.timeout(200)])]
)
async def test_somebody_sits_on_a_job_in_an_idle_transaction(
    chaos_bench: ChaosBench, worker_pool: WorkerPool, owner_dsn: str, seconds: int
) -> None:
    """A stranger's session, which none of our limits reaches, locks the job and holds a snapshot;
    other jobs go on meanwhile, and this one does afterwards. Longest: beyond lease and timeouts."""
    held = await chaos_bench.send(2000, inline=False, workMs=0.5)
    hand = worker_pool.start()
    await chaos_bench.reaches(held, "done", 200)
    stranger = await asyncpg.connect(owner_dsn)
    try:
        await stranger.execute(f'SET search_path = "{chaos_bench.runtime.db.schema}"')
        async with stranger.transaction():
            await stranger.execute("SELECT 1 FROM jobs WHERE id = $1 FOR UPDATE", held)
            other = await chaos_bench.send(50)
            await asyncio.sleep(seconds)
            if seconds > 10:
                # Settles of the held job have run into their limit and let go of the slots.
                await chaos_bench.ended(other, timeout=60)
    finally:
        await stranger.close()
    job, _ = await chaos_bench.ended(held, other, timeout=60)
    assert (job["done"], hand.dead) == (2000, False)
    await chaos_bench.is_clean()


class TestFullServer(OwnServer):
    """A server with few connections, all of them in use."""

    @pytest.fixture
    async def owner_dsn(self, server: EmbeddedPostgres) -> str:
        admin = await asyncpg.connect(server.superuser_dsn)
        await admin.execute("ALTER SYSTEM SET max_connections = 30")
        await admin.close()
        await server.stop()
        await server.start()
        return server.owner_dsn

    async def test_workers_wait_for_their_connections(
        self, server: EmbeddedPostgres, chaos_bench: ChaosBench, worker_pool: WorkerPool
    ) -> None:
        """Their own are cut when the server is full, so that they cannot even send heartbeats."""
        job_id = await chaos_bench.send(6000, inline=False, workMs=4)
        hand = worker_pool.start()
        await hand.is_up()
        await chaos_bench.reaches(job_id, "done", 300)
        async with AsyncExitStack() as hogs:
            await _take_all(server, hogs)
            while await chaos_bench.value(_CUT, chaos_bench.runtime.db.schema):
                await _take_all(server, hogs)
            # Longer than the leases of this test.
            await asyncio.sleep(3.5)
            assert (await chaos_bench.job(job_id))["done"] < 6000
        (job,) = await chaos_bench.ended(job_id, timeout=120)
        assert (job["done"], job["error"], hand.dead) == (6000, 0, False)
        await chaos_bench.is_clean()


async def _take_all(server: EmbeddedPostgres, hogs: AsyncExitStack) -> None:
    """Connect until the server refuses."""
    while True:
        try:
            hog: Any = await asyncpg.connect(server.owner_dsn)
        except asyncpg.TooManyConnectionsError:
            return
        hogs.push_async_callback(hog.close)
