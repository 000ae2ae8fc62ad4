"""Workers that are killed at every step of a supplier's file."""

from __future__ import annotations

import signal
from typing import Any

import pytest
from tests.chaos.worker_pool import WorkerPool
from tests.checker.polling import until
from tests.extraction.support import ended, send_file
from tests.fixtures import Bench

_ROWS = 2500
HEAD = b"sku,title,price\n"
ALL = HEAD + b"".join(b"A%05d,Thing %d,1.00\n" % (n, n) for n in range(_ROWS))


async def until_done(bench: Bench, *jobs: object, timeout: float = 60) -> None:
    async def done() -> bool:
        async with bench.runtime.db.acquire() as conn:
            left = "SELECT count(*) FROM jobs WHERE state NOT IN ('done', 'failed', 'cancelled')"
            return not await conn.fetchval(left)

    await until(done, "the jobs to end", timeout=timeout)


@pytest.mark.parametrize("place", ["job_effect_before_commit", "job_effect_after_commit"])
async def test_a_worker_is_killed_while_it_unpublishes(
    bench: Bench, worker_pool: WorkerPool, place: str
) -> None:
    settings: dict[str, Any] = {"intent": "merge", "source": "acme", "currency": "EUR"}
    first = await send_file(bench, ALL, **settings)
    await bench.work(first)
    job_id = await send_file(
        bench, HEAD + b"A00001,Thing 1,1.00\n", missing="unpublish", **settings
    )
    victim = worker_pool.start(f"{place}:kill:2")
    assert await victim.dies(60) == -signal.SIGKILL
    worker_pool.start()
    await until_done(bench)
    job = await ended(bench, job_id)
    assert job["summary"]["missing"]["unpublished"] == _ROWS - 1
    async with bench.runtime.db.acquire() as conn:
        on_shelf = await conn.fetchval("SELECT count(*) FROM products WHERE published")
        images = await conn.fetchval(
            "SELECT count(*) FROM product_changes WHERE job_id = $1"
            " AND (before->>'published')::boolean", job_id,
        )  # fmt: skip
    assert (on_shelf, images) == (1, _ROWS - 1)


async def test_a_worker_is_killed_while_columns_are_judged(
    bench: Bench, worker_pool: WorkerPool
) -> None:
    """The statistics are those of the whole file, however often the reading began."""
    job_id = await send_file(bench, ALL)
    for _ in range(2):
        victim = worker_pool.start("between_batches:kill:2", ingest_max_rows=200)
        assert await victim.dies(60) == -signal.SIGKILL
    worker_pool.start()
    await until_done(bench)
    job = await ended(bench, job_id)
    sku = next(one for one in job["summary"]["columns"] if one["column"] == "sku")
    assert (job["total"], sku["fill"]) == (_ROWS, 1.0)
    assert abs(sku["distinct"] - _ROWS) < 0.2 * _ROWS


@pytest.mark.parametrize(
    "place", ["cached_results_before_commit", "cached_results_after_commit", "in_finish"]
)
async def test_a_worker_is_killed_over_results_that_are_used_again(
    bench: Bench, worker_pool: WorkerPool, place: str
) -> None:
    """While they are copied, and before other workers are woken."""
    first = await send_file(bench, ALL, currency="USD")
    if place != "in_finish":
        await bench.work(first)
        await send_file(bench, ALL, currency="USD")
    victim = worker_pool.start(f"{place}:kill")
    assert await victim.dies(60) == -signal.SIGKILL
    worker_pool.start()
    await until_done(bench)
    last = await send_file(bench, ALL, currency="USD")
    await until_done(bench)
    job = await ended(bench, last)
    assert (job["total"], job["done"]) == (_ROWS, _ROWS)
    assert job["cached_from"] is not None
    items = await bench.items(last)
    assert [item["row_no"] for item in items] == list(range(1, _ROWS + 1))
    assert {item["status"] for item in items} == {"DONE"}


@pytest.mark.parametrize("place", ["range_prepared", "range_before_commit", "range_after_commit"])
async def test_workers_are_killed_over_ranges_of_rows(
    bench: Bench, worker_pool: WorkerPool, place: str
) -> None:
    """Every row is stored once, with its product and the note that the job created it."""
    job_id = await send_file(bench, ALL, intent="merge", source="acme", currency="EUR")
    for count in (2, 1):
        victim = worker_pool.start(f"{place}:kill:{count}", ingest_max_rows=300)
        assert await victim.dies(60) == -signal.SIGKILL
    worker_pool.start()
    await until_done(bench)
    job = await ended(bench, job_id)
    assert (job["total"], job["done"], job["summary"]["new"]) == (_ROWS, _ROWS, _ROWS)
    async with bench.runtime.db.acquire() as conn:
        assert await conn.fetchval("SELECT count(*) FROM job_ranges") == 0
        assert await conn.fetchval("SELECT count(*) FROM job_items") == _ROWS
        assert await conn.fetchval("SELECT count(*) FROM products") == _ROWS
        changes = "SELECT count(*) FROM product_changes WHERE job_id = $1 AND before IS NULL"
        assert await conn.fetchval(changes, job_id) == _ROWS
