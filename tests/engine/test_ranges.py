"""Ranges of rows: stored once, given back, turned into items where that is safer, ended early."""

from __future__ import annotations

from typing import Any
from uuid import UUID

import pytest
from tests.checker.benches import Tried
from tests.checker.case import Submitted
from tests.checker.scenarios import claim
from tests.extraction.support import send_file

from penstock.engine import ending
from penstock.engine.context import StopSign
from penstock.engine.ranges import store_range
from penstock.engine.settle import release
from penstock.model.errors import ChildCrashed
from penstock.model.pipeline import Job
from penstock.model.ranges import RangeWork, RowRange
from penstock.pipelines.extraction import ranges as of_extraction
from penstock.pipelines.extraction.pipeline import Extraction
from penstock.settings import Settings

ROWS = 30
FILE = b"sku,title,price\n" + b"".join(b"A-%d,Nail %d,1.50\n" % (n, n) for n in range(ROWS))
CONFIG: dict[str, Any] = {"intent": "merge", "source": "acme", "currency": "EUR"}


@pytest.fixture
def settings(settings: Settings) -> Settings:
    return settings.model_copy(update={"ingest_min_rows": 10, "ingest_max_rows": 10})


async def send(tried: Tried, content: bytes = FILE, **config: Any) -> UUID:
    job_id = await send_file(tried, content, **{**CONFIG, **config})
    tried.sent[job_id] = Submitted(content.count(b"\n") - 1)
    return job_id


async def ranges(tried: Tried) -> list[Any]:
    async with tried.runtime.db.acquire() as conn:
        return await conn.fetch("SELECT * FROM job_ranges ORDER BY first_row")


async def test_rows_wait_in_ranges_and_count_as_pending(tried: Tried) -> None:
    job_id = await send(tried)
    async with tried.by_hand() as worker:
        assert await worker.run_once()
    job = await tried.job(job_id)
    assert (job["ingest_done"], job["total"], job["pending"]) == (True, ROWS, ROWS)
    assert [(one["first_row"], one["rows"]) for one in await ranges(tried)] == [
        (1, 10), (11, 10), (21, 10)
    ]  # fmt: skip
    assert not await tried.items(job_id)
    (job,) = await tried.finish(job_id)
    assert (job["state"], job["done"]) == ("done", ROWS)
    assert not await ranges(tried)
    await tried.is_clean()


async def test_several_workers_hold_ranges_of_one_file(tried: Tried) -> None:
    job_id = await send(tried)
    async with tried.by_hand() as one, tried.by_hand() as other:
        assert await one.run_once()
        first, second = await claim(one), await claim(other)
        assert first.range is not None
        assert second.range is not None
        assert (first.range.rows.first_row, second.range.rows.first_row) == (1, 11)
        await store_range(tried.runtime, second, StopSign(), other.id)
        await store_range(tried.runtime, first, StopSign(), one.id)
    (job,) = await tried.finish(job_id)
    assert job["done"] == ROWS
    await tried.is_clean()


async def test_a_released_range_is_claimed_again(tried: Tried) -> None:
    job_id = await send(tried)
    async with tried.by_hand() as worker:
        assert await worker.run_once()
        claimed = await claim(worker)
        await release(tried.runtime, claimed, worker.id)
    assert [one["slice_id"] for one in await ranges(tried)] == [None] * 3
    (job,) = await tried.finish(job_id)
    assert job["done"] == ROWS
    await tried.is_clean()


async def test_a_worker_without_its_lease_writes_nothing(tried: Tried) -> None:
    job_id = await send(tried)
    async with tried.by_hand() as late:
        assert await late.run_once()
        claimed = await claim(late)
        await tried.expire()
        await store_range(tried.runtime, claimed, StopSign(), late.id)
    assert not await tried.items(job_id)
    assert [one["crashes"] for one in await ranges(tried)] == [1, 0, 0]
    (job,) = await tried.finish(job_id)
    assert job["done"] == ROWS
    await tried.is_clean()


async def test_after_two_crashes_its_rows_are_items(tried: Tried) -> None:
    """One row may kill its worker: the item-by-item way finds it."""
    job_id = await send(tried)
    async with tried.by_hand() as worker:
        assert await worker.run_once()
        for _ in range(2):
            await claim(worker)
            await tried.expire()
    items = await tried.items(job_id)
    assert [(one["row_no"], one["status"], one["stage"]) for one in items] == [
        (n, "PENDING", 0) for n in range(1, 11)
    ]
    assert [one["first_row"] for one in await ranges(tried)] == [11, 21]
    (job,) = await tried.finish(job_id)
    assert (job["done"], job["summary"] is not None) == (ROWS, True)
    await tried.is_clean()


def _dies(job: Job, rows: RowRange) -> Any:
    raise ChildCrashed("a child process ended by SIGSEGV")


async def test_a_child_that_dies_leaves_items(
    tried: Tried, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(Extraction, "ranges", RangeWork(_dies, of_extraction.complete))
    job_id = await send(tried)
    (job,) = await tried.finish(job_id)
    assert (job["state"], job["done"]) == ("done", ROWS)
    await tried.is_clean()


async def test_ranges_that_become_items_in_any_order_are_all_claimed(
    tried: Tried, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Rows of a later range were claimed as items before those of an earlier one became items."""
    monkeypatch.setattr(Extraction, "ranges", RangeWork(_dies, of_extraction.complete))
    job_id = await send(tried)
    async with tried.by_hand() as one, tried.by_hand() as other:
        assert await one.run_once()
        first, second, third = await claim(one), await claim(other), await claim(other)
        await store_range(tried.runtime, second, StopSign(), other.id)
        later = await claim(other)
        assert [item.row_no for item in later.items] == list(range(11, 21))
        await store_range(tried.runtime, first, StopSign(), one.id)
        await store_range(tried.runtime, third, StopSign(), other.id)
        await release(tried.runtime, later, other.id)
    (job,) = await tried.finish(job_id)
    assert (job["state"], job["done"]) == ("done", ROWS)
    await tried.is_clean()


async def test_a_cancelled_job_skips_the_rows_of_its_ranges(tried: Tried) -> None:
    job_id = await send(tried)
    async with tried.by_hand() as worker:
        assert await worker.run_once()
        claimed = await claim(worker)
        await store_range(tried.runtime, claimed, StopSign(), worker.id)
        async with tried.runtime.db.transaction() as conn:
            await ending.cancel(conn, job_id)
    (job,) = await tried.finish(job_id)
    assert (job["state"], job["done"], job["skipped"]) == ("cancelled", 10, 20)
    assert not await ranges(tried)
    skipped = await tried.items(job_id, "status = 'SKIPPED'")
    assert len(skipped) == 20
    assert all(one["input"] for one in skipped)
    await tried.is_clean()


async def test_a_product_that_another_job_creates_meanwhile_is_compared(tried: Tried) -> None:
    """The same products by two jobs at once: each is created once, the other job finds it."""
    first, second = await send(tried), await send(tried)
    async with tried.by_hand() as one, tried.by_hand() as other:
        claimed = []
        for worker in (one, other, one, other):
            if (found := await worker._claim()) is not None and found.work.kind == "ranges":
                claimed.append((worker, found))
            elif found is not None:
                await worker._work(found, StopSign())
        for worker, found in claimed:
            await store_range(tried.runtime, found, StopSign(), worker.id)
    jobs = await tried.finish(first, second)
    assert [job["done"] for job in jobs] == [ROWS, ROWS]
    async with tried.runtime.db.acquire() as conn:
        assert await conn.fetchval("SELECT count(*) FROM products") == ROWS
    await tried.is_clean()


async def test_two_rows_of_one_id_in_one_range(tried: Tried) -> None:
    """Different SKUs under one id: the second row waits, and is compared with the first."""
    content = b"id,sku,title,price\n" + b"".join(
        b"%d,A-%d,Nail %d,1.50\n" % (n // 2, n, n) for n in range(10)
    )
    job_id = await send(tried, content, mapping={"id": "sourceId", "sku": "sku", "title": "title",
                                                 "price": "price"})  # fmt: skip
    (job,) = await tried.finish(job_id)
    assert (job["state"], job["done"]) == ("done", 10)
    async with tried.runtime.db.acquire() as conn:
        assert await conn.fetchval("SELECT count(*) FROM products") == 5
    await tried.is_clean()
