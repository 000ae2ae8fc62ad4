"""What every broker must do, and what none may rely on."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Callable
from contextlib import AbstractAsyncContextManager, asynccontextmanager
from uuid import uuid4

import pytest

from penstock.brokers import BROKERS
from penstock.logs import get_logger
from penstock.model.ports import Broker
from penstock.model.ticket import Ticket
from penstock.settings import Settings

_PATIENCE_S = 10.0
Open = Callable[..., AbstractAsyncContextManager[Broker]]


@pytest.fixture(params=sorted(BROKERS))
def opened(
    request: pytest.FixtureRequest, settings: Settings, owner_dsn: str
) -> Callable[..., object]:
    @asynccontextmanager
    async def make(listens: bool = True) -> AsyncIterator[Broker]:
        broker = BROKERS[request.param](owner_dsn, settings.database_schema, get_logger(), listens)
        await broker.start()
        try:
            yield broker
        finally:
            await broker.close()

    return make


async def test_a_ticket_wakes_all_that_wait(opened: Open) -> None:
    async with opened() as one, opened() as two, opened(False) as sender:
        for listener in (one, two):
            await listener.receive(0.05)
        waits = [asyncio.create_task(listener.receive(_PATIENCE_S)) for listener in (one, two)]
        await asyncio.sleep(0)
        await sender.send(Ticket("standard", uuid4(), "noop", "stage1", "g", 5))
        for tickets in await asyncio.gather(*waits):
            assert [ticket.lane for ticket in tickets] == ["standard"]


async def test_a_ticket_sent_while_nothing_waits_is_kept(opened: Open) -> None:
    async with opened() as listener, opened(False) as sender:
        await listener.receive(0.05)
        await sender.send(Ticket("standard"))
        assert await listener.receive(_PATIENCE_S)


async def test_waiting_ends_with_its_time(opened: Open) -> None:
    async with opened() as listener:
        await listener.receive(0.05)
        assert list(await listener.receive(0.05)) == []


async def test_sending_never_fails_its_caller(opened: Open) -> None:
    async with opened(False) as sender:
        await sender.close()
        await sender.send(Ticket("standard"))


async def test_closing_twice_is_harmless(opened: Open) -> None:
    async with opened() as broker:
        await broker.close()
        await broker.close()


def test_tickets_to_the_same_work_share_their_deduplication_id() -> None:
    job = uuid4()
    one = Ticket("standard", job, "noop", "stage1", "g", 5)
    assert one.deduplication_id == Ticket("standard", job, "noop", "stage1", "g").deduplication_id
    others = [
        Ticket("other", job, "noop", "stage1", "g"),
        Ticket("standard", uuid4(), "noop", "stage1", "g"),
        Ticket("standard", job, "noop", "stage2", "g"),
        Ticket("standard", job, "noop", "stage1", "h"),
    ]
    assert one.deduplication_id not in {other.deduplication_id for other in others}
