"""Workers that are killed while they edit many rows of a job, and while they undo that."""

from __future__ import annotations

import signal
from typing import Any
from uuid import UUID

import pytest
from tests.chaos.test_extraction_kills import until_done
from tests.chaos.worker_pool import WorkerPool
from tests.extraction.support import ended, send_file
from tests.fixtures import Bench

from penstock.app.bulk_operations import BulkService
from penstock.app.rows import edits
from penstock.model.rows.edits import Change, RowFilter

CHANGE = Change("replace", column="title", find="Thing", value="Item")
PRICES = Change("replace", column="price", find="O", value="0")


def file_of(rows: int, bad: int) -> bytes:
    return b"sku,title,price\n" + b"".join(
        b"A%05d,Thing %d,%s\n" % (n, n, b'"1,O0"' if n < bad else b'"1,00"') for n in range(rows)
    )


async def counts(bench: Bench, job_id: UUID) -> Any:
    """Rows, rows done, rows with the new title, products, those with it, and rows of the edit."""
    sql = (
        "SELECT (SELECT count(*) FROM job_items WHERE job_id = $1),"
        " (SELECT count(*) FROM job_items WHERE job_id = $1 AND status = 'DONE'),"
        " (SELECT count(*) FROM job_items WHERE job_id = $1 AND input->>1 LIKE 'Item %'),"
        " (SELECT count(*) FROM products),"
        " (SELECT count(*) FROM products WHERE data->>'title' LIKE 'Item %'),"
        " (SELECT coalesce(max(rows), 0) FROM job_edits WHERE undone_at IS NULL)"
    )
    async with bench.runtime.db.acquire() as conn:
        [found] = await conn.fetch(sql, job_id)
    return tuple(found)


async def survive(bench: Bench, worker_pool: WorkerPool, *places: str) -> None:
    """Kill a worker at each place of a step of the edit; the next one continues."""
    for place in places:
        assert await worker_pool.start(f"bulk_{place}").dies(60) == -signal.SIGKILL
    last = worker_pool.start()
    await until_done(bench, timeout=240)
    last.kill()


async def begin(bench: Bench, job_id: UUID, change: Change | None) -> None:
    """Start an edit, or the undo of the last one."""
    async with bench.runtime.db.transaction() as conn:
        if change is None:
            await edits.undo(conn, bench.who, job_id, None, None)
        else:
            assert await edits.start(conn, bench.who, job_id, RowFilter(), change, None)


async def test_an_edit_and_its_undo_survive_kills(bench: Bench, worker_pool: WorkerPool) -> None:
    """Killed while cells are written, while rows are reopened, and while products are taken back;
    this process goes on."""
    rows, bad = 2100, 2050
    job_id = await send_file(bench, file_of(rows, bad), intent="merge", source="a", currency="EUR")
    await bench.work(job_id)
    fresh = (rows, rows - bad, 0, rows - bad, 0, 0)
    assert await counts(bench, job_id) == fresh
    for change, expected, places in (
        (PRICES, (rows, rows, 0, rows, 0, bad), ("before_commit:kill:1", "before_commit:kill:2")),
        (None, fresh, ("before_commit:kill:2",)),
    ):
        await begin(bench, job_id, change)
        for place in places:
            assert await worker_pool.start(f"bulk_{place}").dies(60) == -signal.SIGKILL
        service = BulkService(bench.runtime)
        while await service.run_once():
            pass
        await bench.work(job_id)
        assert await counts(bench, job_id) == expected
    assert (await ended(bench, job_id))["error"] == bad


@pytest.mark.long
async def test_large_edits_and_their_undo_survive_kills(
    bench: Bench, worker_pool: WorkerPool
) -> None:
    """Of several chunks in each pass, one edit after the other."""
    rows, bad = 100_000, 3_000
    job_id = await send_file(bench, file_of(rows, bad), intent="merge", source="a", currency="EUR")
    await bench.work(job_id)
    fresh = (rows, rows - bad, 0, rows - bad, 0, 0)
    fixed = (rows, rows, 0, rows, 0, bad)
    assert await counts(bench, job_id) == fresh
    for change, expected, places in (
        (PRICES, fixed, ("before_commit:kill:2", "after_commit:kill:1", "before_commit:kill:2")),
        (
            CHANGE,
            (rows, rows, rows, rows, rows, rows),
            ("before_commit:kill:2", "after_commit:kill:2", "before_commit:kill:3"),
        ),
        (None, fixed, ("before_commit:kill:2", "after_commit:kill:3", "before_commit:kill:4")),
        (None, fresh, ("after_commit:kill:1", "before_commit:kill:2", "before_commit:kill:3")),
    ):
        await begin(bench, job_id, change)
        await survive(bench, worker_pool, *places)
        assert await counts(bench, job_id) == expected
    items = await bench.items(job_id)
    assert [item["row_no"] for item in items] == list(range(1, rows + 1))
