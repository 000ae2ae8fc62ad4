"""Reopen ended items and their jobs."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any
from uuid import UUID

from penstock.model.reprocess import EndedItem, Selection
from penstock.model.states import ItemStatus
from penstock.store.database import Connection, Json, from_json, to_json
from penstock.store.jobs import ranges
from penstock.store.jobs.job_rows import JobDetails
from penstock.store.jobs.jobs import NewStage
from penstock.store.jobs.result_cache import own_rows
from penstock.store.queries import load

_sql = load("reprocess")
_PROBLEMS = {ItemStatus.ERROR, ItemStatus.NOT_FOUND, ItemStatus.SKIPPED}


@dataclass(frozen=True, slots=True)
class Window:
    """Items, and the row to continue after; None at the end. ``missing`` rows do not exist."""

    items: list[EndedItem]
    next_row: int | None
    missing: int = 0


@dataclass(frozen=True, slots=True)
class JobToReopen:
    """A job whose items may run again, and the time of the request. ``config`` is JSON;
    ``reopening`` is the operation that reopens its items now."""

    id: UUID
    org_id: int
    pipeline: str
    config: str
    state: str
    ending: str | None
    lane: str
    generation: int
    ingest_done: bool
    standing: bool
    reopening: UUID | None
    total: int
    done: int
    error: int
    not_found: int
    skipped: int
    pruned_at: datetime | None
    asked_at: datetime

    @property
    def ended_items(self) -> dict[ItemStatus, int]:
        return {
            ItemStatus.DONE: self.done,
            ItemStatus.ERROR: self.error,
            ItemStatus.NOT_FOUND: self.not_found,
            ItemStatus.SKIPPED: self.skipped,
        }


@dataclass(frozen=True, slots=True)
class LockedJob:
    state: str
    ending: str | None
    ingest_done: bool
    generation: int
    reopening: UUID | None


@dataclass(frozen=True, slots=True)
class FailedJob:
    id: UUID
    state: str


@dataclass(frozen=True, slots=True)
class LockedItem:
    """``input`` is JSON."""

    status: str
    input: str


async def get_job_to_reopen(conn: Connection, job_id: UUID) -> JobToReopen | None:
    row = await conn.fetchrow(_sql.look_at_job, job_id)
    return None if row is None else JobToReopen(**row)


async def mark_undone(conn: Connection, job_id: UUID) -> None:
    """Record that changes of the locked job were undone now."""
    await conn.execute(_sql.mark_undone, job_id)


async def count_codes(conn: Connection, job_id: UUID, codes: Sequence[str]) -> int:
    return int(await conn.fetchval(_sql.count_codes, job_id, list(codes)))


async def window(
    conn: Connection,
    job_id: UUID,
    selection: Selection,
    after_row: int,
    most: int,
    asked_at: datetime,
) -> Window:
    """The next ended items after a row, of which the selection matches most."""
    await own_rows(conn, job_id)
    if selection.rows:
        named = [row for row in selection.rows if row > after_row][:most]
        found = await conn.fetch(_sql.named_window, job_id, named, asked_at)
        return Window(
            [EndedItem._make(row) for row in found],
            named[-1] if len(named) == most else None,
            missing=len(named) - len(found),
        )
    if set(selection.statuses) <= _PROBLEMS:
        found = await conn.fetch(
            _sql.problem_window, job_id, list(selection.statuses), after_row, most, asked_at
        )
    else:
        found = await conn.fetch(_sql.whole_window, job_id, after_row, most, asked_at)
    items = [EndedItem._make(row) for row in found]
    return Window(items, items[-1].row_no if len(items) == most else None)


async def reopen_items(
    conn: Connection, job_id: UUID, rows: Sequence[int], *, from_start: bool, reset_attempts: bool,
    decision: bool | None = None,
) -> None:  # fmt: skip
    """``decision``: whether a person accepted the rows, which were held back."""
    if not rows:
        return
    listed = ",".join(map(str, rows))
    done = await conn.execute(
        _sql.reopen_items, job_id, listed, from_start, reset_attempts, decision
    )
    if done != f"UPDATE {len(rows)}":
        # The caller holds the claim lock or the job, so the items cannot have changed.
        raise RuntimeError(f"reopening {len(rows)} items of job {job_id}: {done}")


async def drop_finish(conn: Connection, job_id: UUID) -> None:
    await conn.execute(_sql.drop_finish, job_id)


async def lock(conn: Connection, job_id: UUID) -> LockedJob | None:
    row = await conn.fetchrow(_sql.lock_ended, job_id)
    return None if row is None else LockedJob(**row)


async def begin_again(
    conn: Connection, job_id: UUID, *, ended: bool, holder: UUID | None, most: int, reopened: int
) -> int | None:
    """Start a new generation of a locked job, of which ``reopened`` items run again; answers it.
    The job cannot complete until ``holder`` calls `end_reopening`, with up to ``most`` items."""
    await own_rows(conn, job_id)
    if ended:
        generation = await conn.fetchval(_sql.requeue_job, job_id, holder, most, reopened)
        await conn.execute(_sql.renew_stages, job_id)
    else:
        generation = await conn.fetchval(_sql.renew_job, job_id, holder, most)
        await conn.execute(_sql.shut_finish, job_id)
        await ranges.let_all_wait(conn, job_id)
    return None if generation is None else int(generation)


async def run_more(conn: Connection, job_id: UUID, items: int) -> None:
    """Count more items of the locked job that run again."""
    await conn.execute(_sql.run_more, job_id, items)


async def end_reopening(conn: Connection, job_id: UUID, holder: UUID) -> bool:
    """False if the job had another holder, or none."""
    return bool(await conn.execute(_sql.end_reopening, job_id, holder) == "UPDATE 1")


async def failures_since(
    conn: Connection, since: datetime | None, most: int, pipeline: str | None = None
) -> list[FailedJob]:
    rows = await conn.fetch(_sql.failures_since, since, most, pipeline)
    return [FailedJob(**row) for row in rows]


async def input_of(conn: Connection, job_id: UUID, row_no: int) -> Json:
    """A row's cells; None if there is no such row."""
    return from_json(await conn.fetchval(_sql.input_of, job_id, row_no))


async def lock_item(conn: Connection, job_id: UUID, row_no: int) -> LockedItem | None:
    await own_rows(conn, job_id)
    row = await conn.fetchrow(_sql.lock_item, job_id, row_no)
    return None if row is None else LockedItem(**row)


async def lock_document(
    conn: Connection, job_id: UUID, row_no: int
) -> tuple[ItemStatus, Mapping[str, Any]] | None:
    """Lock a row; answers its status and what stages made of it. None if there is no such row."""
    row = await conn.fetchrow(_sql.document_of, job_id, row_no)
    return None if row is None else (ItemStatus(row["status"]), from_json(row["normalized"]) or {})


async def add_to_documents(
    conn: Connection, job_id: UUID, rows: Sequence[int], members: Mapping[str, Any]
) -> None:
    """Add members to what stages made of these rows; a row that does not exist is passed over."""
    await conn.execute(_sql.add_to_documents, job_id, list(rows), to_json(members))


async def set_config(
    conn: Connection, job: JobDetails, config: str, stages: Sequence[NewStage]
) -> None:
    """Set another configuration for an ended job."""
    await lock(conn, job.id)
    barrier = any(stage.barrier for stage in stages)
    await conn.execute(_sql.set_config, job.id, config, barrier)
    rows = [
        (s.position, s.kind, s.name, s.barrier, s.before, s.pace_ms, s.ungrouped) for s in stages
    ]
    columns = [list(column) for column in zip(*rows, strict=True)]
    await conn.execute(_sql.set_stages, job.id, job.org_id, *columns)
