"""One row of metrics for each end of a job, and the sums that charts read."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta
from typing import Any
from uuid import UUID

from tests.fixtures import Bench

from penstock.engine import ending, reprocess
from penstock.model.errors import ItemError
from penstock.model.ids import new_id
from penstock.model.monitor.durations import class_end_ms, percentile_of_classes
from penstock.model.reprocess import Selection
from penstock.store.database import Connection, Database
from penstock.store.monitor import monitor
from penstock.store.monitor.monitor import HistoryFilter


async def metrics(db: Database, job_id: UUID) -> list[Any]:
    async with db.acquire() as conn:
        return await conn.fetch(
            "SELECT * FROM job_metrics WHERE job_id = $1 ORDER BY finished_at, id", job_id
        )


async def test_each_end_is_measured_once(bench: Bench, db: Database) -> None:
    done = await bench.submit("noop", {"items": 7})
    failing = await bench.submit("noop", {"items": 3, "failEvery": 1})
    partly = await bench.submit("noop", {"items": 3, "failEvery": 2})
    await bench.work()
    cancelled, failed = (
        await bench.submit("noop", {"items": 2}),
        await bench.submit("noop", {"items": 2}),
    )
    async with db.transaction() as conn:
        await ending.cancel(conn, cancelled)
    async with db.transaction() as conn:
        await ending.fail(conn, failed, ItemError("FILE_NOT_FOUND", "It is gone."), None)
    shown = {}
    for job in (done, failing, partly, cancelled, failed):
        rows = await metrics(db, job)
        assert len(rows) == 1
        shown[job] = rows[0]
    assert [(one["status"], one["success"]) for one in shown.values()] == [
        ("done", True),
        ("done", False),
        ("done", True),
        ("cancelled", False),
        ("failed", False),
    ]
    assert shown[failed]["code"] == "FILE_NOT_FOUND"
    assert shown[failing]["code"] == shown[partly]["code"] is not None
    assert (shown[done]["total"], shown[done]["done"], shown[failing]["error"]) == (7, 7, 3)
    for one in shown.values():
        assert 0 <= one["queued_ms"] <= one["total_ms"]
        assert abs(one["queued_ms"] + one["run_ms"] - one["total_ms"]) <= 1


async def test_a_job_that_runs_again_is_measured_again(bench: Bench, db: Database) -> None:
    job = await bench.submit("noop", {"items": 3, "failEvery": 2})
    await bench.work()
    async with db.transaction() as conn:
        await conn.execute("UPDATE jobs SET created_at = created_at - interval '1 day'")
        await conn.execute("UPDATE jobs SET queued_at = queued_at - interval '1 day'")
        which = Selection(whole_job=True)
        await reprocess.begin(
            bench.runtime, conn, job, which, holder=new_id(), user_id=bench.who.user_id
        )
    await bench.work()
    first, second = await metrics(db, job)
    assert (first["generation"], second["generation"]) == (1, 2)
    # The second run is timed from when it was asked for, not from the day before.
    assert second["total_ms"] < 60_000


async def _end(conn: Connection, bench: Bench, at: datetime, ms: int, *, success: bool) -> None:
    await conn.execute(
        """INSERT INTO job_metrics (org_id, job_id, generation, pipeline, lane, status, success,
               queued_ms, run_ms, total_ms, total, done, error, not_found, skipped, attempts,
               finished_at)
           VALUES ($1, gen_random_uuid(), 1, 'noop', 'basic', $2, $3, 0, $4, $4, 10, 10, 0, 0, 0, 0,
                   $5)""",
        bench.who.org_id, "done" if success else "failed", success, ms, at,
    )  # fmt: skip


async def test_sums_agree_with_the_rows_however_often_they_are_made(
    bench: Bench, db: Database
) -> None:
    now = datetime.now(UTC).replace(second=30)
    long_ago = datetime.min.replace(tzinfo=UTC)
    async with db.transaction() as conn:
        for minutes in range(90):
            at = now - timedelta(minutes=minutes)
            await _end(conn, bench, at, 100 * (minutes + 1), success=minutes % 3 > 0)
        await monitor.roll_up(conn, long_ago)
    async with db.transaction() as conn:
        # One that was committed late, within what is summed again.
        await _end(conn, bench, now - timedelta(minutes=2), 50, success=True)
        await monitor.roll_up(conn, now)
        await monitor.roll_up(conn, now)
        for span, step in (("minute", 60), ("hour", 3600), ("day", 86_400)):
            wanted = HistoryFilter(span, step, now - timedelta(days=3))
            rows = await monitor.job_history(conn, wanted)
            assert sum(row.succeeded for row in rows) == 61
            assert sum(row.failed for row in rows) == 30
            counts: dict[int, int] = {}
            for step_counts in (await monitor.duration_history(conn, wanted)).values():
                for number, count in step_counts.items():
                    counts[number] = counts.get(number, 0) + count
            assert sum(counts.values()) == 91
            median = percentile_of_classes(counts, 0.5)
            assert median is not None
            assert 3000 <= median <= 6400


async def test_classes_of_sql_and_python_agree(db: Database) -> None:
    values = [0, 1, 9, 10, 11, 14, 15, 20, 99, 1000, 60_000, 3_600_000, 10**9]
    async with db.acquire() as conn:
        classes = [await conn.fetchval("SELECT duration_class($1)", value) for value in values]
    for value, number in zip(values, classes, strict=True):
        assert number == 40 or value <= class_end_ms(number) + 1e-6
        assert number == 0 or value > class_end_ms(number - 1) - 1e-6
