"""The log has one line for each start and end of a job."""

from __future__ import annotations

import structlog
from tests.engine.receiving import past_all
from tests.fixtures import Bench

from penstock.engine import ending
from penstock.model.errors import ItemError
from penstock.monitor.job_log import JobLog
from penstock.store.database import Database


async def test_starts_and_ends_are_logged_once(bench: Bench, db: Database) -> None:
    job = await bench.submit("noop", {"items": 4, "failEvery": 4})
    await bench.work()
    failed = await bench.submit("noop", {"items": 1})
    async with db.transaction() as conn:
        await ending.fail(conn, failed, ItemError("FILE_NOT_FOUND", "It is gone."), None)
    await past_all(bench.runtime)
    with structlog.testing.capture_logs() as lines:
        for _ in range(2):
            await JobLog(bench.runtime).run_once()
    told = [line for line in lines if line["event"].startswith("job.")]
    assert [(line["event"], line["jobId"]) for line in told] == [
        ("job.started", str(job)),
        ("job.completed", str(job)),
        ("job.failed", str(failed)),
    ]
    done, gone = told[1], told[2]
    assert (done["rows"], done["errors"], done["org"], done["pipeline"]) == (4, 1, "acme", "noop")
    assert "provider" not in done
    assert done["durationMs"] >= 0
    assert gone["code"] == "FILE_NOT_FOUND"
    async with db.acquire() as conn:
        event = await conn.fetchrow("SELECT data FROM events WHERE event = 'alert.job_failed'")
    assert event is not None
    assert str(failed) in event["data"]
