"""Figures over time, for charts; admins only."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta
from typing import Annotated, Any, Literal

from fastapi import APIRouter, Query, Response
from pydantic import Field

from penstock.api.http.access import Admin, ApiParts
from penstock.api.http.answers import answer
from penstock.api.http.schemas import Shape
from penstock.model.monitor.durations import percentile_of_classes
from penstock.model.monitor.health import HealthStatus
from penstock.store.monitor import monitor
from penstock.store.monitor.monitor import CheckSums, HistoryFilter, JobSums

router = APIRouter(prefix="/monitor", tags=["operations"])
Range = Literal["1h", "24h", "7d", "30d"]
# Length, sums to read, and seconds of a step.
_RANGES: dict[str, tuple[timedelta, str, int]] = {
    "1h": (timedelta(hours=1), "minute", 60),
    "24h": (timedelta(hours=24), "minute", 900),
    "7d": (timedelta(days=7), "hour", 3600),
    "30d": (timedelta(days=30), "day", 86_400),
}


class HistoryQuery(Shape):
    range: Range = Field("24h", description="How far back.")
    pipeline: str | None = Field(None, max_length=100, description="Only jobs of this pipeline.")
    org: str | None = Field(None, max_length=63, description="Only jobs of this org.")


class HistoryPoint(Shape):
    at: datetime = Field(description="Where the step begins.")
    succeeded: int
    failed: int
    cancelled: int
    rows: int
    success_rate: float | None = Field(description="From 0 to 1; null: nothing has ended.")
    avg_ms: float | None = Field(description="From the queue to the end of a job.")
    avg_run_ms: float | None = Field(description="From the start to the end of a job.")
    p50_ms: float | None
    p95_ms: float | None
    jobs_per_minute: float
    depth: float | None = Field(description="Average; null: nothing was measured.")
    max_depth: int | None
    oldest_waiting_ms: int | None = Field(description="The longest wait that was measured.")
    workers: int | None = Field(description="The fewest that were measured.")
    status: HealthStatus | None = Field(description="The worst that was measured.")


class History(Shape):
    range: Range
    step_seconds: int
    points: list[HistoryPoint] = Field(description="Without gaps, the oldest first.")


@router.get("/history", summary="Figures over time", responses={200: {"model": History}})
async def monitor_history(
    api: ApiParts, who: Admin, query: Annotated[HistoryQuery, Query()]
) -> Response:
    """Jobs that ended, their durations, the queue and the workers, by steps. The queue and the
    workers are those of the installation, whatever the filter."""
    length, span, step = _RANGES[query.range]
    now = datetime.now(UTC)
    first = _floor(now - length, step) + timedelta(seconds=step)
    wanted = HistoryFilter(span, step, first, query.pipeline, query.org)
    async with api.db.scoped(who.scope, readonly=True) as conn:
        jobs = {one.step: one for one in await monitor.job_history(conn, wanted)}
        durations = await monitor.duration_history(conn, wanted)
        checks = {one.step: one for one in await monitor.check_history(conn, wanted)}
    points, at = [], first
    while at <= now:
        points.append(
            _point(at, step, jobs.get(at, JobSums(at)), durations.get(at, {}), checks.get(at))
        )
        at += timedelta(seconds=step)
    return answer({"range": query.range, "stepSeconds": step, "points": points})


def _floor(at: datetime, step: int) -> datetime:
    return datetime.fromtimestamp(at.timestamp() // step * step, UTC)


def _point(
    at: datetime, step: int, jobs: JobSums, durations: dict[int, int], check: CheckSums | None
) -> dict[str, Any]:
    ended = jobs.succeeded + jobs.failed
    every = ended + jobs.cancelled
    return {
        "at": at,
        "succeeded": jobs.succeeded,
        "failed": jobs.failed,
        "cancelled": jobs.cancelled,
        "rows": jobs.rows,
        "successRate": jobs.succeeded / ended if ended else None,
        "avgMs": jobs.total_ms / every if every else None,
        "avgRunMs": jobs.run_ms / every if every else None,
        "p50Ms": percentile_of_classes(durations, 0.5),
        "p95Ms": percentile_of_classes(durations, 0.95),
        "jobsPerMinute": round(every / (step / 60), 4),
        "depth": None if check is None else round(check.depth, 2),
        "maxDepth": None if check is None else check.max_depth,
        "oldestWaitingMs": None if check is None else check.oldest_ms,
        "workers": None if check is None else check.workers,
        "status": None if check is None else check.status,
    }
