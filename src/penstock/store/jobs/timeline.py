"""How a job went: its stages, and how many rows were finished when."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime
from uuid import UUID

from penstock.store.database import Connection, from_json
from penstock.store.queries import load

_sql = load("timeline")
_MAX_POINTS = 200


@dataclass(frozen=True, slots=True)
class StageTimes:
    """``ended_at`` is None while the stage has open items."""

    name: str
    kind: str
    started_at: datetime
    ended_at: datetime | None


@dataclass(frozen=True, slots=True)
class RowsDone:
    at: datetime
    rows: int


@dataclass(frozen=True, slots=True)
class Timeline:
    stages: list[StageTimes]
    progress: list[RowsDone]


async def load_timeline(conn: Connection, job_id: UUID) -> Timeline | None:
    """None if there is no such job."""
    job = await conn.fetchrow(_sql.end_of_job, job_id)
    if job is None:
        return None
    stages = [
        StageTimes(
            row["name"], row["kind"], row["started_at"],
            None if row["is_open"] else row["moved_at"] or row["started_at"],
        )
        for row in await conn.fetch(_sql.stages_of_job, job_id)
    ]  # fmt: skip
    progress = [
        RowsDone(row["created_at"], from_json(row["data"]).get("rowsDone", 0))
        for row in await conn.fetch(_sql.progress_of_job, job_id, _MAX_POINTS)
    ]
    if job["started_at"] is not None and job["finished_at"] is not None:
        progress = [*progress, RowsDone(job["finished_at"], job["rows"])]
    if job["started_at"] is not None:
        progress = [RowsDone(job["started_at"], 0), *progress]
    return Timeline(stages, progress)
