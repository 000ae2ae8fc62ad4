"""Submits that arrive together share a transaction, and each gets its own answer."""

from __future__ import annotations

import asyncio
from typing import Any

import asyncpg
import pytest
from tests.fixtures import Bench

from penstock.engine.submit import Order, Receipt
from penstock.engine.submit_queue import MAX_TOGETHER, Channel, SubmitQueue
from penstock.model.errors import BadInput

pytestmark = pytest.mark.slow


async def together(bench: Bench, *orders: Order) -> list[Receipt | BaseException]:
    queue, channel = SubmitQueue(bench.runtime), Channel("test", bench.runtime.db.transaction)
    return await asyncio.gather(
        *(queue.submit(channel, bench.who, order) for order in orders), return_exceptions=True
    )


async def stored(bench: Bench) -> list[Any]:
    async with bench.runtime.db.acquire() as conn:
        return await conn.fetch(
            "SELECT id, name, total, xmin::text AS transaction,"
            " (SELECT count(*) FROM job_items i WHERE i.job_id = j.id) AS items,"
            " (SELECT array_agg(e.event) FROM events e WHERE e.job_id = j.id) AS events"
            " FROM jobs j ORDER BY name"
        )


def order(name: str, items: int = 1, **more: Any) -> Order:
    return Order("noop", {"items": items}, name=name, **more)


async def test_submits_share_a_transaction(bench: Bench) -> None:
    names = [f"job {number}" for number in range(20)]
    answers = await together(bench, *(order(name, n % 3 + 1) for n, name in enumerate(names)))
    receipts = [one for one in answers if isinstance(one, Receipt)]
    rows = {row["id"]: row for row in await stored(bench)}
    assert [rows[one.job_id]["name"] for one in receipts] == names
    assert [rows[one.job_id]["items"] for one in receipts] == [n % 3 + 1 for n in range(20)]
    assert all(row["events"] == ["job.queued"] for row in rows.values())
    assert len({row["transaction"] for row in rows.values()}) == 1


async def test_a_transaction_has_a_limit(bench: Bench) -> None:
    answers = await together(bench, *(order(f"{n}") for n in range(2 * MAX_TOGETHER + 1)))
    assert all(isinstance(one, Receipt) for one in answers)
    assert len({row["transaction"] for row in await stored(bench)}) == 3


async def test_a_bad_request_is_refused_alone(bench: Bench) -> None:
    first, bad, good = await together(
        bench, order("first"), Order("noop", {"items": "many"}), order("good")
    )
    assert isinstance(bad, BadInput)
    assert bad.code == "INVALID_CONFIG"
    assert isinstance(first, Receipt)
    assert isinstance(good, Receipt)
    assert [row["name"] for row in await stored(bench)] == ["first", "good"]


async def test_what_the_database_refuses_fails_alone(bench: Bench) -> None:
    """PostgreSQL stores no NUL in a text: it refuses the whole statement."""
    answers = await together(bench, order("first"), order("a\x00b"), order("b"), order("c"))
    assert isinstance(answers[1], asyncpg.PostgresError)
    assert [isinstance(one, Receipt) for one in answers] == [True, False, True, True]
    assert [row["name"] for row in await stored(bench)] == ["b", "c", "first"]


async def test_one_key_gives_one_job(bench: Bench) -> None:
    """Also if both requests wait for the same transaction."""
    before, first, again, other = await together(
        bench, order("before"), order("a", idempotency_key="k"), order("a", idempotency_key="k"),
        order("b", idempotency_key="k"),
    )  # fmt: skip
    assert isinstance(before, Receipt)
    assert isinstance(first, Receipt)
    assert isinstance(again, Receipt)
    assert (first.replayed, again.replayed, again.body) == (False, True, first.body)
    assert getattr(other, "code", "") == "IDEMPOTENCY_MISMATCH"
    assert [row["name"] for row in await stored(bench)] == ["a", "before"]


async def test_a_client_that_left_leaves_no_job(bench: Bench) -> None:
    queue, channel = SubmitQueue(bench.runtime), Channel("test", bench.runtime.db.transaction)
    first = asyncio.create_task(queue.submit(channel, bench.who, order("first")))
    left = asyncio.create_task(queue.submit(channel, bench.who, order("left")))
    await asyncio.sleep(0)
    left.cancel()
    assert (await first).job_id is not None
    await queue.submit(channel, bench.who, order("last"))
    assert [row["name"] for row in await stored(bench)] == ["first", "last"]
