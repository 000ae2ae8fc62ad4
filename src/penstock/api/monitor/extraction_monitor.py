"""The state of extraction, with the field names of the older call; admins only."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from datetime import UTC, datetime, timedelta
from typing import Annotated, Any, Literal

from fastapi import APIRouter, Query, Request, Response
from pydantic import Field

from penstock.api.http.access import Admin, ApiParts
from penstock.api.http.answers import answer
from penstock.api.http.schemas import Shape
from penstock.api.monitor.health import queue_now
from penstock.api.monitor.metrics import MOST_JOBS
from penstock.api.monitor.stored_health import installation_health
from penstock.engine.queue_depth import Queue
from penstock.model.monitor.health import Check, HealthStatus, overall_health
from penstock.model.monitor.last_hour import MINUTES
from penstock.settings import Settings
from penstock.store.workers import activity
from penstock.store.workers.activity import FailedJob

router = APIRouter(prefix="/extraction", tags=["extraction"])
_PIPELINE = "extraction"
_TOP = 10
_DAY = timedelta(days=1)


class MonitorQuery(Shape):
    view: Literal["dashboard"] = Field("dashboard", description="There is one view.")


class MonitoredQueue(Shape):
    queued: int = Field(description="Jobs that wait, of whatever pipeline, delayed ones with them.")
    active: int
    dlq: int = Field(description="Open dead letters.")
    utilization: float = Field(description="Slots at work, from 0 to 1.")


class MonitoredJobs(Shape):
    jobs_last_hour: int
    success_rate: float | None = Field(description="From 0 to 1; null: nothing has ended.")
    avg_duration_ms: int | None
    throughput: float = Field(description="Rows a minute, over the hour.")


class TopError(Shape):
    code: str
    count: int


class MonitoredErrors(Shape):
    total_errors_24h: int = Field(alias="totalErrors24h", description="Jobs that failed for good.")
    top_errors: list[TopError]


class MonitoredLetters(Shape):
    size: int
    oldest_entry_age_ms: int | None
    entries_needing_attention: int = Field(description="Open for more than a day; at most 1,000.")


class MonitorCheck(Shape):
    name: Literal["queue", "deadLetters", "successRate", "avgDurationMs"]
    ok: bool
    value: float | None
    threshold: float


class ExtractionMonitor(Shape):
    status: HealthStatus = Field(
        description="One or two checks failed: `degraded`; more: `unhealthy`."
    )
    queue: MonitoredQueue
    performance: MonitoredJobs = Field(description="Of extraction jobs, in the last hour.")
    errors: MonitoredErrors = Field(description="Of extraction jobs.")
    dlq: MonitoredLetters
    checks: list[MonitorCheck]
    timestamp: datetime


@router.get(
    "/monitor", summary="How does extraction go?", responses={200: {"model": ExtractionMonitor}}
)
async def monitor_extraction(
    request: Request, api: ApiParts, who: Admin, _: Annotated[MonitorQuery, Query()]
) -> Response:
    """The queue, the jobs of the last hour and the errors of the last day, as the monitor stored
    them last, and whether they pass the checks. `GET /api/monitor` shows more of each."""
    queue, now = await queue_now(request), datetime.now(UTC)
    async with api.db.scoped(who.scope, readonly=True) as conn:
        found = await installation_health(api.runtime, conn)
        failed = await activity.failed_since(conn, now - _DAY, MOST_JOBS)
        slices = await activity.slices(conn)
        oldest, waiting = await activity.open_letters(conn, now - _DAY)
    performance = _performance(found.figures["pipelines"].get(_PIPELINE, {}))
    checks = _checks(api.runtime.settings, queue, performance)
    shown = {
        "status": overall_health(checks),
        "queue": {
            "queued": queue.waiting + queue.delayed,
            "active": queue.active,
            "dlq": queue.dead_letters,
            "utilization": min(1.0, round(sum(slices.values()) / max(queue.slots, 1), 3)),
        },
        "performance": performance,
        "errors": _errors(failed),
        "dlq": {
            "size": queue.dead_letters,
            "oldestEntryAgeMs": None
            if oldest is None
            else round((now - oldest).total_seconds() * 1000),
            "entriesNeedingAttention": waiting,
        },
        "checks": [
            {"name": one.name, "ok": one.ok, "value": one.value, "threshold": one.threshold}
            for one in checks
        ],
        "timestamp": now,
    }
    return answer(shown)


def _performance(figures: Mapping[str, Any]) -> dict[str, Any]:
    took = figures.get("durationMs")
    return {
        "jobsLastHour": figures.get("succeeded", 0) + figures.get("failed", 0),
        "successRate": figures.get("successRate"),
        "avgDurationMs": None if took is None else round(took),
        "throughput": round(figures.get("rows", 0) / MINUTES, 2),
    }


def _errors(failed: Sequence[FailedJob]) -> dict[str, Any]:
    codes = Counter(one.code for one in failed if one.pipeline == _PIPELINE)
    top = [{"code": code, "count": count} for code, count in codes.most_common(_TOP)]
    return {"totalErrors24h": codes.total(), "topErrors": top}


def _checks(settings: Settings, queue: Queue, performance: dict[str, Any]) -> list[Check]:
    success, took = performance["successRate"], performance["avgDurationMs"]
    limits = settings.monitor_thresholds
    few = performance["jobsLastHour"] < limits.least_jobs
    return [
        Check("queue", queue.depth, limits.depth),
        Check("deadLetters", queue.dead_letters, limits.dead_letters),
        Check("successRate", success, limits.of("success_rate", _PIPELINE), at_most=False, few=few),
        Check("avgDurationMs", took, limits.of("duration_ms", _PIPELINE), few=few),
    ]
