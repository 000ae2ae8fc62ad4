"""Rows are pruned beside a running load: what claims and pages take, and that space is reused."""

from __future__ import annotations

import asyncio
import time
from uuid import UUID

import pytest
from tests.fixtures import Bench

from penstock.app.retention.prune import PruneConfig, Pruner
from penstock.model.ids import new_id
from penstock.store.database import Connection


@pytest.fixture
def has_history() -> bool:
    """Its triggers would be measured, too."""
    return False


_FILL = """
INSERT INTO job_items (job_id, row_no, org_id, user_id, job_type, status, input, normalized, result)
SELECT $1, n, $2, $3, 'noop', 'DONE', '["a", "b", "c"]', '{"product": {"title": "Hammer"}}',
       '{"sku": "1", "title": "Hammer"}'
FROM generate_series($4::integer + 1, $5::integer) n
"""


async def fill(bench: Bench, rows: int) -> UUID:
    """An old job with so many rows, written as an import writes them."""
    job_id = new_id()
    async with bench.runtime.db.transaction() as conn:
        await conn.execute(
            "INSERT INTO jobs (id, org_id, user_id, pipeline, lane, state, total, done,"
            " finished_at, ingest_done) VALUES ($1, $2, $3, 'noop', 'standard', 'done', $4, $4,"
            " now() - interval '100 days', true)",
            job_id, bench.who.org_id, bench.who.user_id, rows,
        )  # fmt: skip
    step = 50_000
    for first in range(0, rows, step):
        async with bench.runtime.db.transaction() as conn:
            await conn.execute(
                _FILL, job_id, bench.who.org_id, bench.who.user_id, first, min(first + step, rows),
            )  # fmt: skip
    return job_id


class Load:
    """Small jobs that are submitted and worked, and pages of rows that are read."""

    def __init__(self, bench: Bench, job_id: UUID) -> None:
        self._bench = bench
        self._job_id = job_id
        self.pages: list[float] = []
        self.claims: list[float] = []

    async def run(self, until: asyncio.Event) -> None:
        await asyncio.gather(self._work(until), self._read(until))

    async def _work(self, until: asyncio.Event) -> None:
        async with self._bench.worker() as worker:
            while not until.is_set():
                await self._bench.submit("noop", {"items": 20})
                began = time.perf_counter()
                await worker.run_once()
                self.claims.append(time.perf_counter() - began)

    async def _read(self, until: asyncio.Event) -> None:
        while not until.is_set():
            began = time.perf_counter()
            async with self._bench.runtime.db.acquire() as conn:
                await conn.fetch(
                    "SELECT * FROM job_items WHERE job_id = $1 AND row_no > 100"
                    " ORDER BY row_no LIMIT 100",
                    self._job_id,
                )
            self.pages.append(time.perf_counter() - began)
            await asyncio.sleep(0.002)


def p95(times: list[float]) -> float:
    return sorted(times)[int(len(times) * 0.95)] * 1000


async def measured(load: Load, seconds: float) -> tuple[float, float]:
    load.pages.clear()
    load.claims.clear()
    over = asyncio.Event()
    running = asyncio.create_task(load.run(over))
    await asyncio.sleep(seconds)
    over.set()
    await running
    return p95(load.pages), p95(load.claims)


@pytest.mark.slow
@pytest.mark.parametrize(
    "rows",
    [20_000, pytest.param(5_000_000, marks=(pytest.mark.long, pytest.mark.timeout(3600)))],
)
async def test_rows_are_pruned_beside_a_load(bench: Bench, rows: int) -> None:
    live = await bench.submit("noop", {"items": 300})
    await bench.work()
    old = await fill(bench, rows)
    load = Load(bench, live)
    alone = await measured(load, 1 if rows < 100_000 else 20)
    load.pages.clear()
    load.claims.clear()
    over = asyncio.Event()
    running = asyncio.create_task(load.run(over))
    began = time.perf_counter()
    pruned = await Pruner(bench.runtime, 3000, PruneConfig()).run()
    took = time.perf_counter() - began
    over.set()
    await running
    beside = p95(load.pages), p95(load.claims)
    print(
        f"{rows:,} rows in {took:.1f} s; p95 of pages {alone[0]:.1f} → {beside[0]:.1f} ms,"
        f" of claims {alone[1]:.1f} → {beside[1]:.1f} ms"
    )
    assert pruned.counts["items"] == rows
    assert await bench.job(old) is None
    if rows >= 1_000_000:
        # A short run has too few pages and claims to compare.
        assert beside[0] <= alone[0] * 1.5
        assert beside[1] <= alone[1] * 1.5
    async with bench.runtime.db.acquire() as conn:
        assert await conn.fetchval("SELECT count(*) FROM job_items WHERE job_id = $1", old) == 0
        # With the rows that the load has stored.
        before = await conn.fetchval("SELECT pg_relation_size('job_items')")
        if rows < 1_000_000:
            await _vacuum(conn)
        else:
            print(f"vacuumed by itself after {await _until_vacuumed(conn):.0f} s")
    # The next rows go where the old ones were.
    await fill(bench, rows // 2)
    async with bench.runtime.db.acquire() as conn:
        after = await conn.fetchval("SELECT pg_relation_size('job_items')")
    print(f"job_items: {before:,} bytes, and {after:,} with half as many rows again")
    assert after < before * 1.1
    counted = await bench.items(live)
    assert len(counted) == 300


async def _until_vacuumed(conn: Connection) -> float:
    began = time.perf_counter()
    while await conn.fetchval(
        "SELECT n_dead_tup > 500000 FROM pg_stat_user_tables WHERE relid = 'job_items'::regclass"
    ):
        assert time.perf_counter() - began < 900, "autovacuum has not removed the deleted rows"
        await asyncio.sleep(1)
    return time.perf_counter() - began


async def _vacuum(conn: Connection) -> None:
    """Transactions of tests beside this one may still see the deleted rows: repeat until none."""
    began = time.perf_counter()
    await conn.execute("VACUUM job_items")
    while await conn.fetchval(
        "SELECT n_dead_tup > 100 FROM pg_stat_user_tables WHERE relid = 'job_items'::regclass"
    ):
        assert time.perf_counter() - began < 60, "VACUUM does not remove the deleted rows"
        await asyncio.sleep(0.2)
        await conn.execute("VACUUM job_items")
