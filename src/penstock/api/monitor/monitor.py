"""The state of the installation in one answer; admins only."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import UTC, datetime, timedelta
from typing import Any
from uuid import UUID

from fastapi import APIRouter, Request, Response
from pydantic import Field

from penstock.api.http.access import Admin, ApiParts
from penstock.api.http.answers import answer
from penstock.api.http.schemas import Shape
from penstock.api.monitor.health import figures_of, queue_now, queue_shape
from penstock.api.monitor.health_schemas import QueueHealth
from penstock.api.monitor.metrics import MOST_JOBS
from penstock.api.monitor.schemas import WorkerShape
from penstock.api.monitor.stored_health import InstallationHealth, installation_health
from penstock.api.retention.schemas import TableShape, table_shape
from penstock.engine.queue_depth import Queue
from penstock.model.monitor.checks import RUNBOOK_PATH, Severity, runbook_link
from penstock.model.monitor.health import HealthStatus, judge
from penstock.model.monitor.last_hour import (
    MINUTES,
    EndedJob,
    minutes,
    percentile,
    row_success_rate,
    success_rate,
)
from penstock.settings import Settings
from penstock.store.monitor import monitor as stored
from penstock.store.monitor.monitor import FailureGroup
from penstock.store.retention.retention import table_sizes
from penstock.store.workers import activity
from penstock.store.workers.activity import FailedJob

router = APIRouter(tags=["operations"])
_MOST_SHOWN = 10


class MinuteShape(Shape):
    at: datetime
    done: int = Field(description="Jobs that ended well.")
    failed: int = Field(description="Jobs that failed for good, or all of whose rows did.")
    rows: int


class DurationsShape(Shape):
    p50: int | None
    p95: int | None
    p99: int | None


class FailureShape(Shape):
    letter_id: UUID
    job_id: UUID
    pipeline: str
    name: str
    code: str
    message: str
    at: datetime


class LastHour(Shape):
    done: int
    failed: int
    cancelled: int
    rows: int
    success_rate: float | None = Field(description="Of jobs, from 0 to 1; null: nothing has ended.")
    row_success_rate: float | None = Field(
        description="Of rows: the share without an error; null: no row has ended."
    )
    duration_ms: DurationsShape = Field(description="From the queue to the end of a job.")
    capped: bool = Field(description="There were more jobs than are looked at.")
    minutes: list[MinuteShape] = Field(description="Sixty of them, the oldest first.")


class ReasonShape(Shape):
    code: str = Field(description="The check that failed.")
    scope: str | None = Field(description="The pipeline or provider it is about.")
    severity: Severity
    message: str
    runbook: str = Field(description="What to do about it.")


class CheckShape(Shape):
    name: str
    scope: str | None = Field(description="The pipeline or provider; null: the installation.")
    ok: bool
    value: float | None = Field(description="Null: unknown, or too little happened to tell.")
    threshold: float
    at_most: bool = Field(description="Whether values above the threshold fail, or values below.")
    severity: Severity | None
    message: str | None


class FailureGroupShape(Shape):
    pipeline: str
    code: str
    jobs: int
    orgs: int
    last_at: datetime
    job_ids: list[UUID] = Field(description="The latest.")


class VerdictShape(Shape):
    level: HealthStatus = Field(description="`degraded` with a reason, `unhealthy` with three.")
    message: str = Field(description="The reasons in one text, or that all is well.")
    reasons: list[ReasonShape] = Field(description="What needs a look; empty while healthy.")
    since: datetime | None = Field(description="Since when; null: the monitor does not run.")
    checked_at: datetime


class Monitor(Shape):
    at: datetime
    verdict: VerdictShape
    queue: QueueHealth
    slices: dict[str, int] = Field(description="Being worked on, by kind.")
    last_hour: LastHour
    workers: list[WorkerShape]
    failures: list[FailureShape] = Field(description="The latest, within the hour.")
    failure_groups: list[FailureGroupShape] = Field(description="Failed jobs of a day, by cause.")
    checks: list[CheckShape] = Field(description="All checks of the monitor.")
    tables: list[TableShape] = Field(description="The largest tables, with their indexes.")


@router.get("/monitor", summary="Is all well?", responses={200: {"model": Monitor}})
async def monitor(request: Request, api: ApiParts, who: Admin) -> Response:
    """The queue, the workers, and the results of the jobs of the last hour."""
    queue = await queue_now(request)
    now = datetime.now(UTC)
    since = now - timedelta(minutes=MINUTES)
    async with api.db.scoped(who.scope, readonly=True) as conn:
        ended = await activity.ended_since(conn, since, MOST_JOBS)
        failed = await activity.failed_since(conn, since, MOST_JOBS)
        slices = await activity.slices(conn)
        workers = await activity.workers(conn)
        groups = await stored.recent_failures(conn, now - timedelta(days=1), _MOST_SHOWN)
        health = await installation_health(api.runtime, conn, queue)
        sizes = await table_sizes(conn)
    last_hour = _last_hour(ended, now, health.figures["jobs"])
    shown = {
        "at": now,
        "verdict": _verdict(api.runtime.settings, health, queue),
        "queue": queue_shape(queue),
        "slices": slices,
        "lastHour": last_hour,
        "workers": workers,
        "failures": [_failure(row) for row in failed[:_MOST_SHOWN]],
        "failureGroups": [_failure_group(row) for row in groups],
        "checks": health.checks,
        "tables": [table_shape(one) for one in sizes[:_MOST_SHOWN]],
    }
    return answer(shown)


def _last_hour(ended: Sequence[EndedJob], now: datetime, jobs: dict[str, Any]) -> dict[str, Any]:
    failed = sum(one.failed for one in ended)
    times = [one.took_ms for one in ended]
    return {
        "done": len(ended) - failed,
        "failed": failed,
        "cancelled": jobs.get("cancelled", 0),
        "rows": sum(one.rows for one in ended),
        "successRate": success_rate(ended),
        "rowSuccessRate": row_success_rate(ended),
        "durationMs": {f"p{share}": percentile(times, share / 100) for share in (50, 95, 99)},
        "capped": len(ended) == MOST_JOBS,
        "minutes": [
            {"at": one.at, "done": one.done, "failed": one.failed, "rows": one.rows}
            for one in minutes(ended, now)
        ],
    }


def _verdict(settings: Settings, health: InstallationHealth, queue: Queue) -> dict[str, Any]:
    problems = health.problems
    return {
        "level": health.status,
        "message": " ".join(one["message"] for one in problems) or _all_is_well(queue),
        "reasons": [
            {
                "code": one["name"],
                "scope": one["scope"],
                "severity": one["severity"],
                "message": one["message"],
                "runbook": runbook_link(settings.runbook_url or RUNBOOK_PATH, one["name"]),
            }
            for one in problems
        ],
        "since": health.since,
        "checkedAt": health.checked_at,
    }


def _all_is_well(queue: Queue) -> str:
    return judge(figures_of(queue), 0).message


def _failure_group(row: FailureGroup) -> dict[str, Any]:
    return {
        "pipeline": row.pipeline,
        "code": row.code,
        "jobs": row.jobs,
        "orgs": row.orgs,
        "lastAt": row.last_at,
        "jobIds": [str(one) for one in row.job_ids],
    }


def _failure(row: FailedJob) -> dict[str, Any]:
    return {
        "letterId": str(row.id),
        "jobId": str(row.job_id),
        "pipeline": row.pipeline,
        "name": row.name,
        "code": row.code,
        "message": row.message,
        "at": row.last_failed_at,
    }
