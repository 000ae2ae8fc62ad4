"""One process leads, a frozen one is replaced, and who was replaced does nothing more."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager

import pytest
from tests.checker.polling import until

from penstock.engine.runtime import Runtime
from penstock.engine.services import leader as module
from penstock.engine.services.leader import Leader
from penstock.engine.services.service import run_service
from penstock.store.workers import leaders

pytestmark = pytest.mark.slow


class Counting:
    """A service that counts its runs, and fails when told to."""

    name = "counting"
    every_ms = 20

    def __init__(self) -> None:
        self.runs = 0
        self.error: Exception | None = None

    async def run_once(self) -> None:
        self.runs += 1
        if self.error is not None:
            raise self.error


@asynccontextmanager
async def candidate(runtime: Runtime, who: str) -> AsyncIterator[tuple[Leader, Counting]]:
    service = Counting()
    leader = Leader(runtime, who, [service])
    running = asyncio.create_task(leader.run())
    try:
        yield leader, service
    finally:
        running.cancel()
        await asyncio.gather(running, return_exceptions=True)


async def runs(service: Counting, more_than: int = 0) -> None:
    async def ran() -> bool:
        return service.runs > more_than

    await until(ran, "the service to run")


async def who_leads(runtime: Runtime) -> list[str]:
    async with runtime.db.acquire() as conn:
        return [row.worker for row in await leaders.list_leaders(conn)]


@pytest.fixture(autouse=True)
def quick(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(module, "_BEAT_SECONDS", 0.1)
    monkeypatch.setattr(module, "_CERTAIN_SECONDS", 1.0)
    monkeypatch.setattr(module, "_STALE_SECONDS", 1.5)


async def test_one_leads_and_the_next_takes_over_at_once(runtime: Runtime) -> None:
    async with candidate(runtime, "second") as (second, idle):
        async with candidate(runtime, "first") as (first, busy):
            await until(_any_of(first, second), "somebody to lead")
            assert first.leads != second.leads
            await runs(busy if first.leads else idle)
            assert 0 in (busy.runs, idle.runs)
        await runs(idle)
        assert await who_leads(runtime) == ["second"]
    assert await who_leads(runtime) == []


async def test_a_lost_session_is_led_again(runtime: Runtime) -> None:
    async with candidate(runtime, "one") as (_, service):
        await runs(service)
        async with runtime.db.acquire() as conn:
            await conn.execute("SELECT pg_terminate_backend(backend) FROM leaders")
        await runs(service, more_than=service.runs + 20)
        assert await who_leads(runtime) == ["one"]


async def test_a_silent_leader_is_cut_off(runtime: Runtime) -> None:
    """As a process that was stopped: its session lives and holds the lock."""
    frozen = await runtime.db.connect()
    try:
        assert await leaders.take(frozen, "services", "frozen")
        async with candidate(runtime, "next") as (next_one, service):
            await runs(service)
            assert next_one.leads
            assert await who_leads(runtime) == ["next"]
            assert frozen.is_closed()
    finally:
        frozen.terminate()


async def test_one_that_was_away_does_nothing_more(runtime: Runtime) -> None:
    """Its own clock tells it so, before it has asked anyone."""
    async with candidate(runtime, "late") as (leader, service):
        await runs(service)
        leader._sure_until = 0.0
        assert not leader.leads
        before = service.runs
        await runs(service, more_than=before)
        assert leader.leads


async def test_a_service_survives_what_it_raises(runtime: Runtime) -> None:
    service = Counting()
    running = asyncio.create_task(run_service(runtime, service))
    for error in (ConnectionRefusedError("away"), KeyError("a bug")):
        service.error = error
        await runs(service, more_than=service.runs + 2)
    assert not running.done()
    running.cancel()


def _any_of(*candidates: Leader) -> Callable[[], asyncio.Future[bool]]:
    async def leads() -> bool:
        return any(one.leads for one in candidates)

    return lambda: asyncio.ensure_future(leads())
