"""Current activity: workers, slices, orgs and jobs."""

from __future__ import annotations

from datetime import datetime
from typing import Any

from penstock.store.database import Connection, from_json
from penstock.store.queries import load

_sql = load("activity")
_MOST_WORKERS = 1000
_MOST_SLICES = 1000
_MOST_LETTERS = 1000


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


async def orgs(conn: Connection, most: int) -> list[Any]:
    return await conn.fetch(_sql.live_orgs, most)


async def jobs(conn: Connection, most: int) -> list[Any]:
    return await conn.fetch(_sql.live_jobs, most)


async def ended_since(conn: Connection, since: datetime, most: int) -> list[Any]:
    """Jobs that ended, newest first, without cancelled ones."""
    return await conn.fetch(_sql.lately_ended, since, most)


async def failed_since(conn: Connection, since: datetime, most: int) -> list[Any]:
    """Failed jobs, newest first."""
    return await conn.fetch(_sql.lately_failed, since, most)


async def open_letters(conn: Connection, since_before: datetime) -> tuple[datetime | None, int]:
    """The time of the oldest open dead letter, and the number of those open since before."""
    row = await conn.fetchrow(_sql.open_letters, since_before, _MOST_LETTERS)
    assert row is not None
    return row["oldest"], row["waiting"]
