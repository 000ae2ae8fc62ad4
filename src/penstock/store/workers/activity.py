"""Current activity: workers, slices, orgs and jobs."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime
from typing import Any
from uuid import UUID

from penstock.model.monitor.last_hour import EndedJob
from penstock.store.database import Connection, from_json
from penstock.store.queries import load

_sql = load("activity")
_MOST_WORKERS = 1000
_MOST_SLICES = 1000
_MOST_LETTERS = 1000


@dataclass(frozen=True, slots=True)
class LiveOrg:
    """An org with live jobs; ``ahead_ms`` is its virtual time before the common one."""

    org: str
    plan: str
    weight: int
    slices: int
    items: int
    ahead_ms: float


@dataclass(frozen=True, slots=True)
class LiveJob:
    """A job that workers hold slices of; ``stage`` is the latest of them."""

    id: UUID
    name: str
    pipeline: str
    org: str
    priority: int
    state: str
    paused: bool
    percent: float
    total: int
    pending: int
    processing: int
    skipped: int
    kept_rows: int
    stage: str
    slices: int
    items: int
    avg_ms: float | None
    elapsed_ms: int


@dataclass(frozen=True, slots=True)
class FailedJob:
    """The dead letter of a job that failed."""

    id: UUID
    job_id: UUID
    pipeline: str
    name: str
    code: str
    message: str
    last_failed_at: datetime


async def workers(conn: Connection) -> list[dict[str, Any]]:
    """Live workers with their figures, which a new worker has not yet, and what they hold."""
    held: dict[str, list[dict[str, Any]]] = {}
    for row in await conn.fetch(_sql.held_slices, _MOST_SLICES):
        held.setdefault(row["worker"], []).append(
            {
                "jobId": str(row["job_id"]),
                "name": row["name"],
                "org": row["org"],
                "pipeline": row["pipeline"],
                "stage": row["stage"],
                "kind": row["kind"],
                "items": row["items"],
                "since": row["claimed_at"],
            }
        )
    return [
        {
            "id": row["id"],
            "host": row["host"],
            "pid": row["pid"],
            "startedAt": row["started_at"],
            "silentMs": row["silent_ms"],
            "slots": row["slots"],
            "figures": from_json(row["figures"]) or {},
            "holds": held.get(row["id"], []),
        }
        for row in await conn.fetch(_sql.live_workers, _MOST_WORKERS)
    ]


async def slices(conn: Connection) -> dict[str, int]:
    """Live slices by kind."""
    counts = {row["kind"]: row["slices"] for row in await conn.fetch(_sql.live_slices)}
    return {kind: counts.get(kind, 0) for kind in ("ingest", "ranges", "items", "finish")}


async def orgs(conn: Connection, most: int) -> list[LiveOrg]:
    return [LiveOrg(**row) for row in await conn.fetch(_sql.live_orgs, most)]


async def jobs(conn: Connection, most: int) -> list[LiveJob]:
    return [LiveJob(**row) for row in await conn.fetch(_sql.live_jobs, most)]


async def ended_since(conn: Connection, since: datetime, most: int) -> list[EndedJob]:
    """Jobs that ended, newest first, without cancelled ones."""
    return [
        EndedJob(
            row["finished_at"], row["total"], row["total_ms"], failed=not row["success"],
            row_errors=row["error"],
        )
        for row in await conn.fetch(_sql.last_ended, since, most)
    ]  # fmt: skip


async def failed_since(conn: Connection, since: datetime, most: int) -> list[FailedJob]:
    """Failed jobs, newest first."""
    return [FailedJob(**row) for row in await conn.fetch(_sql.last_failed, since, most)]


async def open_letters(conn: Connection, since_before: datetime) -> tuple[datetime | None, int]:
    """The time of the oldest open dead letter, and the number of those open since before."""
    row = await conn.fetchrow(_sql.open_letters, since_before, _MOST_LETTERS)
    assert row is not None
    return row["oldest"], row["waiting"]
