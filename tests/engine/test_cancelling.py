"""Who is told to end ends, whatever goes wrong at that very moment."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable

import pytest

from penstock.engine import leader as module
from penstock.engine.leader import Leader
from penstock.engine.parts import Parts
from penstock.engine.services import run_service
from penstock.store import leaders
from penstock.store.database import Connection, DatabaseAway

Trouble = Callable[[Parts, Connection, pytest.MonkeyPatch], Awaitable[None]]


async def pool_is_closed(parts: Parts, conn: Connection, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(parts.db, "_pool", None)


async def connection_is_cut(
    parts: Parts, conn: Connection, monkeypatch: pytest.MonkeyPatch
) -> None:
    conn.terminate()


class InTransaction:
    """A service that is in the middle of a transaction whenever it is looked at."""

    name = "in a transaction"
    every_ms = 1

    def __init__(self, parts: Parts) -> None:
        self._parts = parts
        self.began: asyncio.Future[Connection] = asyncio.get_running_loop().create_future()

    async def run_once(self) -> None:
        async with self._parts.db.transaction() as conn:
            if not self.began.done():
                self.began.set_result(conn)
            await asyncio.Event().wait()


class TroubleAtTheEnd:
    """A service whose own cleanup fails."""

    name = "trouble at the end"
    every_ms = 1

    def __init__(self) -> None:
        self.began = asyncio.Event()

    async def run_once(self) -> None:
        self.began.set()
        try:
            await asyncio.Event().wait()
        finally:
            raise DatabaseAway("while cleaning up")


async def ends(task: asyncio.Task[None]) -> None:
    """Cancelled once, as at the end of a process, where nobody asks again."""
    task.cancel()
    done, _ = await asyncio.wait({task}, timeout=10)
    while not task.done():
        task.cancel()
        await asyncio.sleep(0.01)
    assert done, "it went on"


@pytest.mark.parametrize("trouble", [pool_is_closed, connection_is_cut])
async def test_a_service_whose_database_goes_away(
    parts: Parts, trouble: Trouble, monkeypatch: pytest.MonkeyPatch
) -> None:
    service = InTransaction(parts)
    running = asyncio.create_task(run_service(parts, service))
    await trouble(parts, await service.began, monkeypatch)
    await ends(running)
    monkeypatch.undo()
    async with parts.db.acquire() as conn:
        assert await conn.fetchval("SELECT 1") == 1


async def test_a_service_that_cannot_clean_up(parts: Parts) -> None:
    service = TroubleAtTheEnd()
    running = asyncio.create_task(run_service(parts, service))
    await service.began.wait()
    await ends(running)


async def test_the_leader_in_the_moment_of_a_beat(
    parts: Parts, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The answer and the cancellation come in one turn of the loop."""
    monkeypatch.setattr(module, "_BEAT_SECONDS", 0.05)
    beat, beaten = leaders.beat, asyncio.Event()

    async def then_cancelled(conn: Connection, name: str) -> bool:
        answer = await beat(conn, name)
        if not beaten.is_set():
            beaten.set()
            asyncio.get_running_loop().call_soon(running.cancel)
        return answer

    monkeypatch.setattr(leaders, "beat", then_cancelled)
    running = asyncio.create_task(Leader(parts, "one", lambda _: []).run())
    await beaten.wait()
    done, _ = await asyncio.wait({running}, timeout=10)
    if not done:
        await ends(running)
    assert done, "it leads on"
    async with parts.db.acquire() as conn:
        assert await leaders.listed(conn) == []
