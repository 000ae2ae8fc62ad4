"""Wake-ups: the first at once, those close behind it together, and none left untold."""

from __future__ import annotations

import asyncio
import time
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

import asyncpg

from penstock.brokers.postgres import PostgresBroker
from penstock.logs import get_logger
from penstock.model.ticket import Ticket

SCHEMA = "t_broker"
PATIENCE_S = 5.0


@asynccontextmanager
async def heard_by_others(dsn: str) -> AsyncIterator[asyncio.Queue[str]]:
    """Lanes, as a worker of another process is told of them."""
    told: asyncio.Queue[str] = asyncio.Queue()
    conn = await asyncpg.connect(dsn)
    await conn.add_listener(f"penstock_work_{SCHEMA}", lambda *said: told.put_nowait(str(said[-1])))
    try:
        yield told
    finally:
        await conn.close()


def teller(dsn: str) -> PostgresBroker:
    return PostgresBroker(dsn, SCHEMA, get_logger(), listens=False)


async def next_lane(told: asyncio.Queue[str]) -> str:
    return await asyncio.wait_for(told.get(), PATIENCE_S)


async def test_a_single_wake_up_is_told_at_once(owner_dsn: str) -> None:
    broker = teller(owner_dsn)
    async with heard_by_others(owner_dsn) as told:
        await broker.send(Ticket("standard"))
        assert await next_lane(told) == "standard"
    await broker.close()


async def test_a_commit_wakes_workers_itself_as_often_as_tickets_do(owner_dsn: str) -> None:
    broker = teller(owner_dsn)
    channel = broker.notify_channel()
    assert channel is not None
    # Tickets that follow at once are sent together, by the broker.
    assert broker.notify_channel() is None
    async with heard_by_others(owner_dsn) as told:
        conn = await asyncpg.connect(owner_dsn)
        await conn.execute("SELECT pg_notify($1, 'standard')", channel)
        await conn.close()
        assert await next_lane(told) == "standard"
    await broker.close()


async def test_a_burst_is_told_together_and_its_end_is_not_lost(owner_dsn: str) -> None:
    broker = teller(owner_dsn)
    async with heard_by_others(owner_dsn) as told:
        await broker.send(Ticket("first"))
        began = time.monotonic()
        for _ in range(500):
            await broker.send(Ticket("standard"))
        await broker.send(Ticket("last"))
        took = time.monotonic() - began
        lanes = [await next_lane(told)]
        while "last" not in lanes:
            lanes.append(await next_lane(told))
        assert lanes[0] == "first"
        # One for each hundredth of a second, of each lane; never one for each call.
        assert lanes.count("standard") <= 2 + took / 0.01
    await broker.close()


async def test_who_leaves_tells_what_is_untold(owner_dsn: str) -> None:
    broker = teller(owner_dsn)
    async with heard_by_others(owner_dsn) as told:
        await broker.send(Ticket("first"))
        await broker.send(Ticket("second"))
        await broker.close()
        assert [await next_lane(told), await next_lane(told)] == ["first", "second"]


async def test_a_listener_hears_of_the_end_of_a_burst(owner_dsn: str) -> None:
    listener = PostgresBroker(owner_dsn, SCHEMA, get_logger())
    await listener.start()
    # Listening anew counts as a wake-up: something may have been told before.
    await listener.receive(0.01)
    broker = teller(owner_dsn)
    await broker.send(Ticket("standard"))
    await listener.receive(PATIENCE_S)
    await broker.send(Ticket("standard"))
    began = time.monotonic()
    await listener.receive(PATIENCE_S)
    assert time.monotonic() - began < PATIENCE_S
    await broker.close()
    await listener.close()
