"""How extraction goes, for admins."""

from __future__ import annotations

from dataclasses import replace
from uuid import UUID

import httpx2
import pytest
from tests.api.conftest import Caller, client_of, file_of, refused, shaped, submit_noop
from tests.fixtures import Bench

from penstock.api.app import create_app
from penstock.api.monitor.extraction_monitor import ExtractionMonitor
from penstock.engine.runtime import Runtime
from penstock.model.monitor.health import HealthStatus
from penstock.settings import Settings
from penstock.store.database import Database

MONITOR = "/api/extraction/monitor"


@pytest.fixture
def settings(settings: Settings) -> Settings:
    """Single jobs are judged."""
    return settings.model_copy(update={"monitor_least_jobs": 1})


async def look(admin: httpx2.AsyncClient) -> ExtractionMonitor:
    return shaped(ExtractionMonitor, await admin.get(MONITOR, params={"view": "dashboard"}))


async def test_nothing_yet_is_healthy(caller: Caller) -> None:
    shown = await look(await caller(role="admin"))
    assert shown.status is HealthStatus.HEALTHY
    assert (shown.performance.success_rate, shown.performance.avg_duration_ms) == (None, None)
    assert (shown.dlq.size, shown.dlq.oldest_entry_age_ms, shown.errors.top_errors) == (0, None, [])


async def test_it_tells_of_extraction_alone(bench: Bench, caller: Caller, db: Database) -> None:
    admin, member = await caller(role="admin"), await caller()
    await submit_noop(member, items=7)
    await member.post("/api/jobs", files=file_of())
    await bench.work()
    job = await bench.submit("noop", {"items": 1})
    await _letters(db, job, "extraction", 0, 3, 50)
    await _letters(db, job, "noop", 0, 50)
    bench.runtime.queue._fresh_until = 0.0
    shown = await look(admin)
    # One that ended well, and three that did not: now, today, and the day before yesterday.
    assert (shown.performance.jobs_last_hour, shown.performance.success_rate) == (2, 0.5)
    assert shown.performance.throughput == round(2 / 60, 2)
    assert shown.errors.total_errors_24h == 2
    assert [(one.code, one.count) for one in shown.errors.top_errors] == [("JOB_TIMEOUT", 2)]
    assert (shown.dlq.size, shown.dlq.entries_needing_attention) == (5, 2)
    assert shown.dlq.oldest_entry_age_ms is not None
    assert shown.dlq.oldest_entry_age_ms > 24 * 3_600_000
    assert {one.name for one in shown.checks if not one.ok} == {"successRate"}
    assert shown.status is HealthStatus.DEGRADED


async def _letters(db: Database, job: UUID, pipeline: str, *hours_ago: int) -> None:
    async with db.transaction() as conn:
        await conn.execute(
            """INSERT INTO dead_letters (id, org_id, user_id, job_id, pipeline, name, config,
                   priority, attempts, code, message, signature, first_failed_at, last_failed_at)
               SELECT gen_random_uuid(), j.org_id, j.user_id, j.id, $2, 'n', '{}', 5, 1,
                      'JOB_TIMEOUT', 'm', 's' || $2, now(), now() - ago * interval '1 hour'
               FROM jobs j, unnest($3::int[]) AS ago WHERE j.id = $1""",
            job,
            pipeline,
            list(hours_ago),
        )
        await conn.execute(
            """INSERT INTO job_metrics (org_id, job_id, generation, pipeline, lane, status, success,
                   code, queued_ms, run_ms, total_ms, total, done, error, not_found, skipped,
                   attempts, finished_at)
               SELECT org_id, id, 1, $2, lane, 'failed', false, 'JOB_TIMEOUT', 0, 1, 1, 0, 0, 0, 0,
                      0, 1, now() - ago * interval '1 hour'
               FROM jobs, unnest($3::int[]) AS ago WHERE id = $1""",
            job,
            pipeline,
            list(hours_ago),
        )
        await conn.execute(
            """INSERT INTO dead_letter_groups (org_id, signature, user_id, open, first_failed_at,
                   last_failed_at, newest)
               SELECT org_id, $2, user_id, $3, now(), now(), id FROM jobs WHERE id = $1""",
            job,
            f"s{pipeline}",
            len(hours_ago),
        )


async def test_three_problems_are_unhealthy(
    bench: Bench, runtime: Runtime, api_db: Database, caller: Caller, db: Database
) -> None:
    strict = {"monitor_depth": 0, "monitor_dead_letters": 0, "monitor_duration_ms": 1}
    settings = runtime.settings.model_copy(update=strict)
    admin = await caller(role="admin")
    await admin.post("/api/jobs", files=file_of())
    await bench.work()
    await _letters(db, await bench.submit("noop", {"items": 1}), "extraction", 0)
    app = create_app(replace(runtime, settings=settings), api_db)
    key = admin.headers["authorization"].removeprefix("Bearer ")
    runtime.queue._fresh_until = 0.0
    async with client_of(app, key) as strictly:
        shown = await look(strictly)
    assert shown.status is HealthStatus.UNHEALTHY
    assert [one.ok for one in shown.checks] == [False, False, False, False]
    # One job says nothing about the installation.
    usual = {**strict, "monitor_least_jobs": 10}
    app = create_app(replace(runtime, settings=runtime.settings.model_copy(update=usual)), api_db)
    async with client_of(app, key) as leniently:
        shown = await look(leniently)
    assert [one.ok for one in shown.checks] == [False, False, True, True]


async def test_it_is_for_admins_alone_and_has_one_view(caller: Caller) -> None:
    for role in ("member", "viewer"):
        refused(await (await caller(role=role)).get(MONITOR), 403, "INSUFFICIENT_PERMISSIONS")
    admin = await caller(role="admin")
    refused(await admin.get(MONITOR, params={"view": "other"}), 422, "INVALID_PARAMETERS")
    refused(await admin.get(MONITOR, params={"views": "x"}), 422, "UNKNOWN_FIELD")
