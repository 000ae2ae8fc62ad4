"""Measures the installation, for the monitor and for pages that show its figures."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import asdict
from datetime import UTC, datetime, timedelta
from typing import Any

from penstock.engine.queue_depth import Queue, count_queue
from penstock.model.backpressure import Levels
from penstock.model.monitor.checks import (
    HealthCheck,
    JobFigures,
    Measured,
    Thresholds,
)
from penstock.store.database import Connection
from penstock.store.monitor import monitor
from penstock.store.workers import activity

_PROVIDER_WINDOW = timedelta(minutes=15)


async def measure(conn: Connection, levels: Levels, limits: Thresholds) -> Measured:
    """Everything that the checks look at."""
    queue = await count_queue(conn, levels)
    apart = sorted({scope for scope, _ in limits.overrides})
    jobs = await monitor.job_figures(conn, apart)
    ended, stalled = await monitor.recent_counts(conn)
    providers = await monitor.provider_figures(conn, datetime.now(UTC) - _PROVIDER_WINDOW)
    workers = [one["figures"] for one in await activity.workers(conn)]
    return _measured_of(queue, jobs, ended, stalled, providers, workers)


def _measured_of(
    queue: Queue, jobs: monitor.JobFiguresOfHour, ended: int, stalled: int,
    providers: Mapping[str, Any], workers: Sequence[Mapping[str, Any]],
) -> Measured:  # fmt: skip
    recent = [one.get("recent", {}) for one in workers]
    return Measured(
        depth=queue.depth,
        level=queue.level,
        waiting=queue.waiting,
        active=queue.active,
        oldest_ms=queue.oldest_ms,
        dead_letters=queue.dead_letters,
        workers=queue.workers,
        cpu=_average([one.get("cpuShare") for one in workers]),
        memory=_average([_memory_share(one) for one in workers]),
        settled_items=sum(one.get("items", 0) for one in recent),
        retried_items=sum(one.get("retried", 0) for one in recent),
        stalled=stalled,
        ended_jobs=ended,
        jobs=jobs.all,
        other_jobs=jobs.others,
        pipelines=jobs.pipelines,
        providers=providers,
    )


def _memory_share(figures: Mapping[str, Any]) -> float | None:
    budget = figures.get("memoryBytes")
    return figures.get("rssBytes", 0) / budget if budget else None


def _average(values: Sequence[float | None]) -> float | None:
    known = [value for value in values if value is not None]
    return sum(known) / len(known) if known else None


def check_shape(check: HealthCheck) -> dict[str, Any]:
    return {
        "name": camel(check.name),
        "scope": check.scope or None,
        "ok": check.ok,
        "value": None if check.value is None else round(check.value, 4),
        "threshold": check.threshold,
        "atMost": check.at_most,
        "severity": None if check.ok else check.severity,
        "message": None if check.ok else check.message,
    }


def figures_shape(measured: Measured) -> dict[str, Any]:
    """What is stored beside the checks."""
    return {
        "jobs": _jobs_shape(measured.jobs),
        "pipelines": {name: _jobs_shape(one) for name, one in measured.pipelines.items()},
        "providers": {
            name: {camel(key): value for key, value in asdict(one).items()}
            for name, one in measured.providers.items()
        },
        "deadLetters": measured.dead_letters,
        "endedJobs10m": measured.ended_jobs,
        "stalled10m": measured.stalled,
        "cpu": measured.cpu,
        "memory": measured.memory,
    }


def _jobs_shape(jobs: JobFigures) -> dict[str, Any]:
    shown = {camel(key): value for key, value in asdict(jobs).items()}
    return shown | {"successRate": jobs.success_rate}


def camel(name: str) -> str:
    first, *others = name.split("_")
    return first + "".join(one.capitalize() for one in others)
