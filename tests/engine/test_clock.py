"""A database whose clock is set back: nothing waits for the time to come round again."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta
from typing import Any

import pytest
from tests.checker.benches import Tried
from tests.checker.scripted import Scripted, done

from penstock.engine.services.clock_watch import ClockWatch
from penstock.model.errors import ItemError
from penstock.model.outcomes import Outcome, Retry
from penstock.model.pipeline import Item
from penstock.model.ports import Context

HOUR = 3_600_000
_TIMES = {
    "clock": ("seen",),
    "slices": ("claimed_at", "expires_at"),
    "job_items": ("due_at", "updated_at"),
    "job_stages": ("ready_at",),
    "jobs": ("ready_at", "created_at", "updated_at", "served_at", "started_at"),
}


async def set_back(tried: Tried) -> None:
    """By an hour: all that was written so far is that much later than it is now."""
    async with tried.runtime.db.transaction() as conn:
        for table, columns in _TIMES.items():
            later = ", ".join(f"{name} = {name} + interval '1 hour'" for name in columns)
            await conn.execute(f"UPDATE {table} SET {later}")


async def times(tried: Tried, job_id: Any) -> Any:
    async with tried.runtime.db.acquire() as conn:
        return await conn.fetchrow(
            """
            SELECT max(extract(epoch FROM i.due_at - now())::float8) AS due,
                   max(extract(epoch FROM j.ready_at - now())::float8) AS ready
            FROM jobs j JOIN job_items i ON i.job_id = j.id WHERE j.id = $1""",
            job_id,
        )


async def test_a_clock_that_goes_on_changes_nothing(tried: Tried) -> None:
    await tried.send({"rows": 2})
    watch = ClockWatch(tried.runtime)
    assert [await watch.run_once() for _ in range(3)] == [0, 0, 0]


async def test_work_goes_on_and_waits_stay_as_long_as_they_were(
    tried: Tried, scripted: dict[str, Scripted]
) -> None:
    def work(item: Item, stage: int, ctx: Context) -> Outcome:
        if item.job.config.tag == "later":
            return Retry(ItemError("API_TIMEOUT", "not now"), after_ms=600_000)
        return done(item, stage, ctx)

    scripted["scripted"].work = work
    waiting = await tried.send({"rows": 1, "tag": "later"})
    async with tried.by_hand() as worker:
        assert await worker.run_once()
    queued = await tried.send({"rows": 3})
    read_later = await tried.send({"rows": 3, "inline": False})
    tonight = datetime.now(UTC) + timedelta(hours=8)
    scheduled = await tried.send({"rows": 1}, due_at=tonight)
    await set_back(tried)
    async with tried.by_hand() as worker:
        assert not await worker.run_once()
        assert await ClockWatch(tried.runtime).run_once() == pytest.approx(HOUR, abs=60_000)
        assert await ClockWatch(tried.runtime).run_once() == 0
        while await worker.run_once():
            pass
    for job_id in (queued, read_later):
        assert (await tried.job(job_id))["state"] == "done"
    assert (await times(tried, waiting))["due"] == pytest.approx(600, abs=60)
    assert (await times(tried, scheduled))["ready"] > 7 * 3600
    assert (await tried.job(scheduled))["started_at"] is None


async def test_leases_of_the_dead_run_out_as_ever(tried: Tried) -> None:
    await tried.send({"rows": 1})
    async with tried.by_hand() as dead:
        assert await dead._claim() is not None
    await set_back(tried)
    await ClockWatch(tried.runtime).run_once()
    async with tried.runtime.db.acquire() as conn:
        left = await conn.fetchval(
            "SELECT extract(epoch FROM expires_at - now())::float8 * 1000 FROM slices"
        )
        told = await conn.fetchval("SELECT count(*) FROM events WHERE event = 'clock.set_back'")
    assert 0 < left <= tried.runtime.settings.lock_cap_ms
    assert told == 1
