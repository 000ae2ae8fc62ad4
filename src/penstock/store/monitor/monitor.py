"""What the monitor measures and stores: figures of jobs, their sums, and the checks."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Any
from uuid import UUID

from penstock.model.monitor.checks import LEASE_TAKEN_BACK, JobFigures, ProviderFigures
from penstock.model.monitor.health import HealthStatus
from penstock.model.network.provider_limits import p95_of
from penstock.store.database import Connection, from_json, to_json
from penstock.store.jobs.followers import EventRange
from penstock.store.queries import load

_sql = load("monitor")
# Of more jobs than this in an hour, the figures are those of the latest.
MAX_JOBS = 100_000
# A transaction that ends a job may be open for so long after it set the time.
_LATE = timedelta(minutes=10)
_KEPT_DAYS = {"minute": 2, "hour": 32, "day": 730}
# What the sweeper says of a lease that it took back.
_TAKEN_BACK = to_json({"reason": LEASE_TAKEN_BACK})


@dataclass(frozen=True, slots=True)
class MonitorState:
    status: HealthStatus
    since: datetime
    rolled_up_to: datetime
    # Another leader has just checked.
    recent: bool


async def lock_state(conn: Connection, recent_ms: float) -> MonitorState:
    row = await conn.fetchrow(_sql.lock_state, recent_ms)
    assert row is not None
    return MonitorState(
        HealthStatus(row["status"]), row["since"], row["rolled_up_to"], row["recent"]
    )


async def save_state(conn: Connection, status: HealthStatus) -> datetime:
    """Record the status; answers since when it is this one."""
    since: datetime = await conn.fetchval(_sql.save_state, status)
    return since


@dataclass(frozen=True, slots=True)
class StoredCheck:
    """What was measured at one moment: checks and figures as the API shows them."""

    at: datetime
    status: HealthStatus
    since: datetime
    age_ms: float
    checks: list[dict[str, Any]]
    figures: dict[str, Any]


@dataclass(frozen=True, slots=True)
class NewCheck:
    status: HealthStatus
    depth: int
    waiting: int
    active: int
    oldest_ms: int
    workers: int
    checks: Sequence[Mapping[str, Any]]
    figures: Mapping[str, Any]


async def add_check(conn: Connection, new: NewCheck) -> None:
    await conn.execute(
        _sql.add_check, new.status, new.depth, new.waiting, new.active, new.oldest_ms, new.workers,
        to_json(list(new.checks)), to_json(dict(new.figures)),
    )  # fmt: skip


async def newest_check(conn: Connection) -> StoredCheck | None:
    row = await conn.fetchrow(_sql.newest_check)
    if row is None:
        return None
    return StoredCheck(
        row["at"], HealthStatus(row["status"]), row["since"], float(row["age_ms"]),
        from_json(row["checks"]), from_json(row["figures"]),
    )  # fmt: skip


@dataclass(frozen=True, slots=True)
class JobFiguresOfHour:
    all: JobFigures
    others: JobFigures
    pipelines: dict[str, JobFigures]


async def job_figures(conn: Connection, apart: Sequence[str]) -> JobFiguresOfHour:
    """Of the last hour: of all jobs, of those whose pipeline is not in ``apart``, by pipeline."""
    found = JobFiguresOfHour(JobFigures(), JobFigures(), {})
    every, others = found.all, found.others
    for row in await conn.fetch(_sql.job_figures, list(apart), MAX_JOBS):
        figures = _job_figures(row)
        if row["of_pipeline"]:
            found.pipelines[row["pipeline"]] = figures
        elif not row["of_others"]:
            every = figures
        elif not row["apart"]:
            others = figures
    return JobFiguresOfHour(every, others, found.pipelines)


def _job_figures(row: Any) -> JobFigures:
    shares = row["percentiles"] or [None, None, None]
    return JobFigures(
        row["succeeded"], row["failed"], row["cancelled"], row["rows"], row["duration_ms"],
        row["run_ms"], *shares,
    )  # fmt: skip


async def recent_counts(conn: Connection) -> tuple[int, int]:
    """Jobs that ended and leases that were taken back, in the last 10 minutes."""
    row = await conn.fetchrow(_sql.recent_counts, MAX_JOBS, _TAKEN_BACK)
    assert row is not None
    return row["ended"], row["stalled"]


async def provider_figures(conn: Connection, since: datetime) -> dict[str, ProviderFigures]:
    return {
        row["provider"]: ProviderFigures(
            row["calls"], row["failed"], row["throttled"], p95_of(row["durations"])
        )
        for row in await conn.fetch(_sql.provider_figures, since)
    }


async def roll_up(conn: Connection, done_up_to: datetime) -> None:
    """Bring the sums up to date. What ended shortly before ``done_up_to`` is summed again, since it
    may have been committed after."""
    endless = done_up_to.year <= 1
    since = done_up_to if endless else done_up_to - _LATE
    await conn.execute(_sql.roll_up_minutes, since)
    await conn.execute(_sql.roll_up, "minute", "hour", since)
    await conn.execute(_sql.roll_up, "hour", "day", since)
    await conn.execute(_sql.rolled_up)


@dataclass(frozen=True, slots=True)
class HistoryFilter:
    """Steps of ``step_s`` seconds since a moment, from sums by ``span``."""

    span: str
    step_s: int
    since: datetime
    pipeline: str | None = None
    org: str | None = None


@dataclass(frozen=True, slots=True)
class JobSums:
    """Jobs that ended within a step."""

    step: datetime
    succeeded: int = 0
    failed: int = 0
    cancelled: int = 0
    rows: int = 0
    queued_ms: int = 0
    run_ms: int = 0
    total_ms: int = 0


async def job_history(conn: Connection, wanted: HistoryFilter) -> list[JobSums]:
    rows = await conn.fetch(
        _sql.job_history, wanted.span, wanted.step_s, wanted.since, wanted.pipeline, wanted.org
    )
    return [JobSums(**dict(row)) for row in rows]


async def duration_history(
    conn: Connection, wanted: HistoryFilter
) -> dict[datetime, dict[int, int]]:
    """How many jobs took how long in each step, by class."""
    found: dict[datetime, dict[int, int]] = {}
    for row in await conn.fetch(
        _sql.duration_history, wanted.span, wanted.step_s, wanted.since, wanted.pipeline, wanted.org
    ):
        found.setdefault(row["step"], {})[row["class"]] = row["count"]
    return found


@dataclass(frozen=True, slots=True)
class CheckSums:
    """What was measured within a step."""

    step: datetime
    depth: float
    max_depth: int
    oldest_ms: int
    workers: int
    status: str


async def check_history(conn: Connection, wanted: HistoryFilter) -> list[CheckSums]:
    rows = await conn.fetch(_sql.check_history, wanted.step_s, wanted.since)
    return [CheckSums(**dict(row)) for row in rows]


@dataclass(frozen=True, slots=True)
class FailureGroup:
    """Failed jobs of one pipeline with one error code."""

    pipeline: str
    code: str
    jobs: int
    orgs: int
    last_at: datetime
    job_ids: list[UUID]


async def recent_failures(conn: Connection, since: datetime, most: int) -> list[FailureGroup]:
    rows = await conn.fetch(_sql.recent_failures, since, MAX_JOBS, most)
    return [FailureGroup(**dict(row)) for row in rows]


@dataclass(frozen=True, slots=True)
class WaitingJobs:
    """Live jobs of one lane and pipeline."""

    lane: str
    pipeline: str
    waiting: int
    items: int


async def waiting_jobs(conn: Connection) -> list[WaitingJobs]:
    rows = await conn.fetch(_sql.waiting_jobs, MAX_JOBS)
    return [WaitingJobs(**dict(row)) for row in rows]


@dataclass(frozen=True, slots=True)
class EndedJobs:
    """Jobs of one pipeline that ended; durations by class."""

    pipeline: str
    succeeded: int
    failed: int
    cancelled: int
    rows: int
    total_ms: int
    durations: dict[int, int]


async def ended_jobs(conn: Connection) -> list[EndedJobs]:
    found = []
    for row in await conn.fetch(_sql.ended_jobs):
        counts = {int(key): count for key, count in (from_json(row["durations"]) or {}).items()}
        found.append(EndedJobs(**dict(row) | {"durations": counts}))
    return found


@dataclass(frozen=True, slots=True)
class LoggedJob:
    """A start or an end of a job."""

    event: str
    job_id: UUID
    org: str
    pipeline: str
    worker: str | None
    total: int
    data: dict[str, Any]
    config: dict[str, Any]
    summary: dict[str, Any]
    created_at: datetime
    traceparent: str | None


async def to_log(
    conn: Connection, events: EventRange, names: Sequence[str], detailed: Sequence[str]
) -> list[LoggedJob]:
    """Config and summary are given for jobs of the pipelines ``detailed``."""
    rows = await conn.fetch(_sql.to_log, *events.start, *events.end, list(names), list(detailed))
    documents = ("data", "config", "summary")
    return [
        LoggedJob(**dict(row) | {name: from_json(row[name]) or {} for name in documents})
        for row in rows
    ]


async def drop_old(conn: Connection, days: float, most: int) -> int:
    """Delete metrics of jobs after so many days; answers how many of at most ``most``."""
    told = await conn.execute(_sql.drop_old_metrics, days, most)
    return int(told.rpartition(" ")[2])


async def drop_old_sums(conn: Connection) -> None:
    for span, days in _KEPT_DAYS.items():
        await conn.execute(_sql.drop_old_rollups, span, days)
    await conn.execute(_sql.drop_old_checks)


async def leases_taken_back(conn: Connection) -> int:
    return int(await conn.fetchval(_sql.leases_taken_back))
