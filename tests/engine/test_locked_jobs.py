"""Somebody holds a job locked, as an open transaction in psql does: others do not wait for it."""

from __future__ import annotations

import asyncio
import time
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from functools import partial
from typing import Any
from uuid import UUID

import asyncpg
import pytest
from tests.checker.benches import Tried
from tests.checker.polling import until
from tests.checker.scenarios import claim

from penstock.engine.claim import lease_ids
from penstock.engine.context import StopSign
from penstock.engine.run import run_items
from penstock.engine.services.sweep import Sweeper
from penstock.engine.settle import settle
from penstock.engine.worker.loop import Worker
from penstock.settings import Settings
from penstock.store.database import Database

pytestmark = pytest.mark.slow

# Waits of this length are none; the statements' own limit is ten seconds.
SOON = 9.0


@asynccontextmanager
async def locked(tried: Tried, table: str, row_id: UUID) -> AsyncIterator[int]:
    """Answers which backend holds it."""
    async with tried.runtime.db.transaction() as conn:
        await conn.execute("SET LOCAL idle_in_transaction_session_timeout = 0")
        await conn.execute(f"SELECT 1 FROM {table} WHERE id = $1 FOR UPDATE", row_id)
        yield await conn.fetchval("SELECT pg_backend_pid()")


async def test_a_claim_goes_past_a_locked_job_and_comes_back_to_it(tried: Tried) -> None:
    first, second = [await tried.send({"rows": 3}) for _ in range(2)]
    async with tried.by_hand() as worker:
        async with locked(tried, "jobs", first):
            began = time.monotonic()
            claimed = await claim(worker)
            assert claimed.work.job_id == second
            # Known by now: whoever claims next does not even try.
            assert await worker._claim() is None
            assert time.monotonic() - began < SOON
        await tried.run(worker, claimed)
        assert (await claim(worker)).work.job_id == first


async def test_neighbours_of_a_locked_job_are_claimed(tried: Tried) -> None:
    jobs = [await tried.send({"rows": 1}) for _ in range(4)]
    async with tried.by_hand() as worker, locked(tried, "jobs", jobs[2]):
        claimed = await asyncio.wait_for(claim(worker), SOON)
    assert {lease.job_id for lease in claimed.leases} == {jobs[0], jobs[1], jobs[3]}


async def test_a_lease_of_a_locked_job_is_taken_back_without_holding_up_claims(
    tried: Tried,
) -> None:
    held = await tried.send({"rows": 2})
    async with tried.by_hand() as worker:
        await claim(worker)
        other = await tried.send({"rows": 2})
        async with tried.runtime.db.acquire() as conn:
            await conn.execute("UPDATE slices SET expires_at = now() - interval '1 second'")
        sweeper = Sweeper(tried.runtime)
        async with locked(tried, "jobs", held) as holder:
            sweeping = asyncio.create_task(_sweep_on(sweeper))
            await until(partial(_somebody_waits, tried, holder), "the sweeper to wait for the job")
            claimed = await asyncio.wait_for(claim(worker), SOON)
            assert claimed.work.job_id == other
            assert not sweeping.done()
        await until(lambda: _is_free(tried, held), "the lease to be taken back")
        sweeping.cancel()


async def _sweep_on(sweeper: Sweeper) -> None:
    while True:
        await sweeper.run_once()
        await asyncio.sleep(0.01)


async def _somebody_waits(tried: Tried, holder: int) -> bool:
    waits = "SELECT EXISTS (SELECT FROM pg_locks WHERE $1 = ANY (pg_blocking_pids(pid)))"
    async with tried.runtime.db.acquire() as conn:
        return bool(await conn.fetchval(waits, holder))


async def _is_free(tried: Tried, job_id: UUID) -> bool:
    return not await tried.items(job_id, "slice_id IS NOT NULL")


async def test_leases_live_on_beside_one_that_is_locked(tried: Tried) -> None:
    """As by a settle that waits for its job."""
    for _ in range(2):
        await tried.send({"rows": 1})
    async with Worker(tried.runtime, sweeps=False) as worker:
        claimed = await claim(worker)
        first, second = lease_ids(claimed)
        stop = StopSign()
        worker._heartbeat.hold([first, second], claimed.lease_ms, 60, stop)
        async with locked(tried, "slices", first):
            for _ in range(2):
                before = await _expiry(tried, second)
                await until(partial(_ends_after, tried, second, before), "a beat", timeout=SOON)
        await tried.run(worker, claimed)


async def _expiry(tried: Tried, slice_id: UUID) -> Any:
    async with tried.runtime.db.acquire() as conn:
        return await conn.fetchval("SELECT expires_at FROM slices WHERE id = $1", slice_id)


async def _ends_after(tried: Tried, slice_id: UUID, before: Any) -> bool:
    return bool(await _expiry(tried, slice_id) > before)


class TestSettle:
    @pytest.fixture
    def settings(self, settings: Settings, monkeypatch: pytest.MonkeyPatch) -> Settings:
        """Statements may take half a second: a test cannot wait for ten."""
        usual = Database._settings
        monkeypatch.setattr(
            Database, "_settings", lambda db: {**usual(db), "statement_timeout": "500ms"}
        )
        return settings

    async def test_it_does_not_keep_its_slot_for_a_locked_job(self, tried: Tried) -> None:
        """It gives up after a lease's time, however patient it is with a server that is away."""
        job_id = await tried.send({"rows": 2})
        async with tried.by_hand() as worker:
            claimed = await claim(worker)
            worked = await run_items(tried.runtime, claimed, StopSign(), 60)
            async with locked(tried, "jobs", job_id):
                with pytest.raises(asyncpg.QueryCanceledError):
                    await settle(tried.runtime, claimed, worked, worker.id, 3600)
            # What it held is worked again.
        await tried.expire()
        (job,) = await tried.finish(job_id)
        assert job["done"] == 2
        await tried.is_clean()


async def test_a_claim_goes_past_a_job_with_a_locked_item(tried: Tried) -> None:
    """One that somebody puts right by hand, say."""
    first, second = [await tried.send({"rows": 3}, priority=n) for n in (6, 5)]
    async with tried.by_hand() as worker, tried.runtime.db.transaction() as conn:
        await conn.execute("SET LOCAL idle_in_transaction_session_timeout = 0")
        await conn.execute("SELECT 1 FROM job_items WHERE job_id = $1 FOR UPDATE", first)
        claimed = await asyncio.wait_for(claim(worker), SOON)
        assert claimed.work.job_id == second
