"""The watch tells of each change once, alerts while an overload lasts, and workers hear of it."""

from __future__ import annotations

import asyncio
from typing import Any

import orjson
import pytest
from tests.checker.benches import Tried
from tests.checker.polling import until

from penstock.engine.runtime import Runtime
from penstock.engine.services.queue_watch import QueueWatch
from penstock.settings import Settings

pytestmark = pytest.mark.slow


@pytest.fixture
def settings(settings: Settings) -> Settings:
    tiny = {"depth_healthy": 0, "depth_degraded": 1, "depth_critical": 2}
    return settings.model_copy(update=tiny)


async def told(runtime: Runtime) -> list[tuple[str, str]]:
    async with runtime.db.acquire() as conn:
        rows = await conn.fetch("SELECT event, data FROM events WHERE job_id IS NULL ORDER BY id")
    return [(row["event"], orjson.loads(row["data"])["level"]) for row in rows]


async def noted(runtime: Runtime) -> Any:
    async with runtime.db.acquire() as conn:
        return await conn.fetchrow("SELECT * FROM intake")


def watch(runtime: Runtime) -> QueueWatch:
    return QueueWatch(runtime)


async def fill(tried: Tried, jobs: int) -> None:
    for _ in range(jobs):
        await tried.send({"rows": 1}, at_once=True)


async def test_each_change_is_told_once(tried: Tried) -> None:
    looking = watch(tried.runtime)
    for _ in range(3):
        await fill(tried, 1)
        await looking.run_once()
        await looking.run_once()
    assert await told(tried.runtime) == [
        ("queue.backpressure", "degraded"),
        ("queue.backpressure", "critical"),
        ("queue.backpressure", "overload"),
        ("alert.backpressure", "overload"),
    ]
    found = await noted(tried.runtime)
    assert (found["level"], found["depth"]) == ("overload", 3)
    async with tried.by_hand() as worker:
        while await worker.run_once():
            pass
    assert await looking.run_once() == "healthy"
    assert (await told(tried.runtime))[-1] == ("queue.backpressure", "healthy")


async def test_an_overload_is_told_of_again_while_it_lasts(tried: Tried) -> None:
    await fill(tried, 3)
    looking = watch(tried.runtime)
    await looking.run_once()
    async with tried.runtime.db.acquire() as conn:
        await conn.execute("UPDATE intake SET alerted_at = now() - interval '299 seconds'")
        await looking.run_once()
        await conn.execute("UPDATE intake SET alerted_at = now() - interval '301 seconds'")
    await looking.run_once()
    alerts = [event for event, _ in await told(tried.runtime) if event == "alert.backpressure"]
    assert len(alerts) == 2


async def test_two_watches_tell_of_one_change_once(tried: Tried) -> None:
    await fill(tried, 3)
    await asyncio.gather(*(watch(tried.runtime).run_once() for _ in range(4)))
    assert await told(tried.runtime) == [
        ("queue.backpressure", "overload"),
        ("alert.backpressure", "overload"),
    ]


async def test_workers_hear_of_an_overload_and_of_its_end(tried: Tried) -> None:
    async def heard(overloaded: bool) -> None:
        await until(lambda: _is(worker._heartbeat.overloaded, overloaded), "the next beat")

    async with tried.worker() as worker:
        await fill(tried, 3)
        await watch(tried.runtime).run_once()
        await heard(True)
        while await worker.run_once():
            pass
        await watch(tried.runtime).run_once()
        await heard(False)
        async with tried.runtime.db.acquire() as conn:
            # A watch that is gone: its last word is no order for ever.
            await conn.execute("UPDATE intake SET level = 'overload'")
            await heard(True)
            await conn.execute("UPDATE intake SET checked_at = now() - interval '61 seconds'")
            await heard(False)


async def _is(seen: bool, wanted: bool) -> bool:
    return seen == wanted
