"""Whether all is well, in one answer; admins only."""

from __future__ import annotations

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
from penstock.model.monitor.health import HealthStatus, ReasonCode, Verdict, judge
from penstock.model.monitor.last_hour import MINUTES, EndedJob, minutes, percentile, success_rate
from penstock.store.workers import activity

router = APIRouter(tags=["operations"])
_MOST_SHOWN = 10


class MinuteShape(Shape):
    at: datetime
    done: int = Field(description="Jobs that ended well.")
    failed: int = Field(description="Jobs that failed for good.")
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
    rows: int
    success_rate: float | None = Field(description="From 0 to 1; null: nothing has ended.")
    duration_ms: DurationsShape = Field(description="From a job's start to its end.")
    capped: bool = Field(description="There were more jobs than are looked at.")
    minutes: list[MinuteShape] = Field(description="Sixty of them, the oldest first.")


class ReasonShape(Shape):
    code: ReasonCode
    message: str


class VerdictShape(Shape):
    level: HealthStatus = Field(description="`degraded` with a reason, `unhealthy` with three.")
    message: str = Field(description="The reasons in one text, or that all is well.")
    reasons: list[ReasonShape] = Field(description="What needs a look; empty while healthy.")


class Monitor(Shape):
    at: datetime
    verdict: VerdictShape
    queue: QueueHealth
    slices: dict[str, int] = Field(description="Being worked on, by kind.")
    last_hour: LastHour
    workers: list[WorkerShape]
    failures: list[FailureShape] = Field(description="The latest, within the hour.")


@router.get("/monitor", summary="Is all well?", responses={200: {"model": Monitor}})
async def monitor(request: Request, api: ApiParts, who: Admin) -> Response:
    """The queue, the workers, and what came of the jobs of the last hour."""
    queue = await queue_now(request)
    now = datetime.now(UTC)
    since = now - timedelta(minutes=MINUTES)
    async with api.db.scoped(who.scope, readonly=True) as conn:
        done = await activity.done_since(conn, since, MOST_JOBS)
        failed = await activity.failed_since(conn, since, MOST_JOBS)
        slices = await activity.slices(conn)
        workers = await activity.workers(conn)
    last_hour = _last_hour(done, failed, now)
    figures = figures_of(queue, last_hour["successRate"], last_hour["failed"])
    shown = {
        "at": now,
        "verdict": _verdict(judge(figures, api.runtime.settings.monitor_success_rate)),
        "queue": queue_shape(queue),
        "slices": slices,
        "lastHour": last_hour,
        "workers": workers,
        "failures": [_failure(row) for row in failed[:_MOST_SHOWN]],
    }
    return answer(shown)


def _last_hour(done: list[Any], failed: list[Any], now: datetime) -> dict[str, Any]:
    ended = [EndedJob(row["finished_at"], row["total"], row["took_ms"]) for row in done]
    ended += [EndedJob(row["last_failed_at"]) for row in failed]
    times = [one.took_ms for one in ended if one.took_ms is not None]
    return {
        "done": len(done),
        "failed": len(failed),
        "rows": sum(one.rows for one in ended),
        "successRate": success_rate(ended),
        "durationMs": {f"p{share}": percentile(times, share / 100) for share in (50, 95, 99)},
        "capped": max(len(done), len(failed)) == MOST_JOBS,
        "minutes": [
            {"at": one.at, "done": one.done, "failed": one.failed, "rows": one.rows}
            for one in minutes(ended, now)
        ],
    }


def _verdict(verdict: Verdict) -> dict[str, Any]:
    return {
        "level": verdict.level,
        "message": verdict.message,
        "reasons": [{"code": one.code, "message": one.message} for one in verdict.reasons],
    }


def _failure(row: Any) -> dict[str, Any]:
    return {
        "letterId": str(row["id"]),
        "jobId": str(row["job_id"]),
        "pipeline": row["pipeline"],
        "name": row["name"],
        "code": row["code"],
        "message": row["message"],
        "at": row["last_failed_at"],
    }
