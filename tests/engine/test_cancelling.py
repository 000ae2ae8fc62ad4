"""Who is told to end ends, whatever goes wrong at that very moment."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable

import pytest

from penstock.engine.runtime import Runtime
from penstock.engine.services import leader as module
from penstock.engine.services.leader import Leader
from penstock.engine.services.service import run_service
from penstock.store.database import Connection, DatabaseAway
from penstock.store.workers import leaders

Trouble = Callable[[Runtime, Connection, pytest.MonkeyPatch], Awaitable[None]]


async def pool_is_closed(
    runtime: Runtime, conn: Connection, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(runtime.db, "_pool", None)


async def connection_is_cut(
    runtime: Runtime, conn: Connection, monkeypatch: pytest.MonkeyPatch
) -> None:
    conn.terminate()


class InTransaction:
    """A service that is in the middle of a transaction whenever it is looked at."""

    name = "in a transaction"
    every_ms = 1

    def __init__(self, runtime: Runtime) -> None:
        self._runtime = runtime
        self.began: asyncio.Future[Connection] = asyncio.get_running_loop().create_future()

    async def run_once(self) -> None:
        async with self._runtime.db.transaction() as conn:
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
    done, _ = await asyncio.wait({task}, timeout=60)
    while not task.done():
        task.cancel()
        await asyncio.sleep(0.01)
    assert done, "it went on"


@pytest.mark.parametrize("trouble", [pool_is_closed, connection_is_cut])
async def test_a_service_whose_database_goes_away(
    runtime: Runtime, trouble: Trouble, monkeypatch: pytest.MonkeyPatch
) -> None:
    service = InTransaction(runtime)
    running = asyncio.create_task(run_service(runtime, service))
    await trouble(runtime, await service.began, monkeypatch)
    await ends(running)
    monkeypatch.undo()
    async with runtime.db.acquire() as conn:
        assert await conn.fetchval("SELECT 1") == 1


async def test_a_service_that_cannot_clean_up(runtime: Runtime) -> None:
    service = TroubleAtTheEnd()
    running = asyncio.create_task(run_service(runtime, service))
    await service.began.wait()
    await ends(running)


async def test_the_leader_in_the_moment_of_a_beat(
    runtime: Runtime, monkeypatch: pytest.MonkeyPatch
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
    running = asyncio.create_task(Leader(runtime, "one", []).run())
    await beaten.wait()
    done, _ = await asyncio.wait({running}, timeout=60)
    if not done:
        await ends(running)
    assert done, "it leads on"
    async with runtime.db.acquire() as conn:
        assert await leaders.list_leaders(conn) == []
