"""Policies of orgs, jobs that are old enough, and the deletion of their parts in chunks."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any
from uuid import UUID

from penstock.model.retention.policy import RetentionOverrides
from penstock.store.database import Connection
from penstock.store.jobs.result_cache import own_rows
from penstock.store.queries import load

_sql = load("retention")


@dataclass(frozen=True, slots=True)
class OrgPolicy:
    id: int
    name: str
    overrides: RetentionOverrides


@dataclass(frozen=True, slots=True)
class EndedJob:
    """A job that has ended, and which of its parts are left. ``seq`` is the number of its last
    event."""

    id: UUID
    finished_at: datetime
    total: int
    seq: int
    has_file: bool
    has_rows: bool
    has_changes: bool
    has_events: bool
    has_searches: bool


@dataclass(frozen=True, slots=True)
class JobLock:
    """``counted``: its rows count towards the usage of the org."""

    pruned: bool
    counted: bool


@dataclass(frozen=True, slots=True)
class TableSize:
    """Size with indexes and large values; rows as PostgreSQL estimates them."""

    name: str
    bytes: int
    rows: int
    dead_rows: int
    vacuumed_at: datetime | None


@dataclass(frozen=True, slots=True)
class PartCounts:
    events: int
    searches: int
    changes: int


async def policies(conn: Connection, org_id: int | None = None) -> list[OrgPolicy]:
    """Those of all orgs that the connection may see, or of one."""
    rows = await conn.fetch(_sql.policies, org_id)
    return [OrgPolicy(row["id"], row["name"], _overrides(row["policy"])) for row in rows]


def _overrides(policy: str | None) -> RetentionOverrides:
    return RetentionOverrides.model_validate_json(policy or "{}")


async def set_policy(conn: Connection, org_id: int, overrides: RetentionOverrides) -> None:
    await conn.execute(_sql.set_policy, org_id, overrides.model_dump_json(exclude_none=True))


async def ended_jobs(
    conn: Connection, org_id: int, before: datetime, after: tuple[datetime, UUID], most: int
) -> list[EndedJob]:
    rows = await conn.fetch(_sql.ended_jobs, org_id, before, *after, most)
    return [EndedJob(**row) for row in rows]


async def get_ended_job(conn: Connection, job_id: UUID) -> EndedJob | None:
    row = await conn.fetchrow(_sql.get_ended_job, job_id)
    return None if row is None else EndedJob(**row)


async def lock_ended(conn: Connection, job_id: UUID) -> JobLock | None:
    """None if the job was deleted, runs again, or has an open dead letter."""
    row = await conn.fetchrow(_sql.lock_ended, job_id)
    return None if row is None else JobLock(**row)


async def drop_items(
    conn: Connection, org_id: int, job_id: UUID, lock: JobLock, after: int, last: int
) -> int:
    """Delete a range of rows and their names. Return how many rows were deleted."""
    await own_rows(conn, job_id)
    await conn.execute(_sql.mark_pruned, job_id)
    gone: Any = await conn.fetchrow(_sql.drop_items, job_id, after, last)
    await conn.execute(_sql.drop_keys, job_id, after, last)
    await conn.execute(_sql.drop_edit_rows, job_id, after, last)
    if lock.counted and gone["rows"]:
        await conn.execute(_sql.free_rows, org_id, gone["rows"])
    return int(gone["items"])


async def drop_rest_of_items(conn: Connection, job_id: UUID, most: int) -> int:
    """What else hangs on the rows of a job."""
    await conn.execute(_sql.mark_pruned, job_id)
    await conn.execute(_sql.drop_counters, job_id)
    await conn.execute(_sql.drop_edits, job_id)
    return _count(await conn.execute(_sql.drop_missing, job_id, most))


async def drop_searches(conn: Connection, job_id: UUID, after: int, last: int) -> int:
    return _count(await conn.execute(_sql.drop_searches, job_id, after, last))


async def drop_events(conn: Connection, job_id: UUID, after: int, last: int) -> int:
    return _count(await conn.execute(_sql.drop_events, job_id, after, last))


async def drop_system_events(conn: Connection, days: float, most: int) -> int:
    return _count(await conn.execute(_sql.drop_system_events, days, most))


async def drop_changes(
    conn: Connection, job_id: UUID, after: UUID, most: int
) -> tuple[int, UUID | None]:
    """Delete before-images. Return how many, and the last product; None at the end."""
    await conn.execute(_sql.mark_changes_pruned, job_id)
    await conn.execute(_sql.drop_posting_changes, job_id)
    gone = [row["product_id"] for row in await conn.fetch(_sql.drop_changes, job_id, after, most)]
    return len(gone), max(gone) if len(gone) == most else None


async def release_files(conn: Connection, job_id: UUID) -> int:
    await conn.execute(_sql.release_more_files, job_id)
    return _count(await conn.execute(_sql.release_files, job_id))


async def drop_job(conn: Connection, job_id: UUID) -> int:
    return _count(await conn.execute(_sql.drop_job, job_id))


async def drop_deliveries(conn: Connection, org_id: int, days: float, most: int) -> int:
    return _count(await conn.execute(_sql.drop_deliveries, org_id, days, most))


async def count_deliveries(conn: Connection, org_id: int, days: float) -> int:
    return int(await conn.fetchval(_sql.count_deliveries, org_id, days))


async def count_parts(
    conn: Connection, events: Sequence[UUID], searches: Sequence[UUID], changes: Sequence[UUID]
) -> PartCounts:
    row: Any = await conn.fetchrow(_sql.count_parts, list(events), list(searches), list(changes))
    return PartCounts(**row)


async def with_open_letters(conn: Connection, job_ids: Sequence[UUID]) -> set[UUID]:
    rows = await conn.fetch(_sql.open_letters, list(job_ids))
    return {row["job_id"] for row in rows}


async def table_sizes(conn: Connection) -> list[TableSize]:
    """The largest first."""
    return [TableSize(**row) for row in await conn.fetch(_sql.table_sizes)]


def _count(done: str) -> int:
    return int(done.rpartition(" ")[2])
