"""Bulk operations, and the jobs they iterate over."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import datetime
from typing import Any
from uuid import UUID

from penstock.model.bulk import BulkAction, JobFilter
from penstock.model.reprocess import Selection
from penstock.store.database import Connection, from_json, to_json
from penstock.store.queries import load

_sql = load("bulk")
NO_JOB = UUID(int=0)
_MOST_ERRORS = 10


@dataclass(frozen=True, slots=True)
class Reach:
    """The jobs an operation may change: None means all orgs, all users."""

    org_id: int | None
    owner_id: int | None


@dataclass(frozen=True, slots=True)
class NewOperation:
    id: UUID
    org_id: int
    user_id: int
    action: BulkAction
    filter: JobFilter
    reach: Reach
    params: Mapping[str, Any] = field(default_factory=dict)
    ip: str | None = None
    matched: int = 0
    counted: bool = True
    target: UUID | None = None
    target_selection: Mapping[str, Any] | None = None


@dataclass(frozen=True, slots=True)
class OperationRow:
    """An operation as users see it. ``filter``, ``params``, ``errors`` and ``target_selection``
    are JSON; ``target_…`` is of the job whose items it changes now."""

    id: UUID
    action: str
    filter: str
    params: str
    org: str
    user_id: int
    state: str
    matched: int
    changed: int
    left_out: int
    failed: int
    errors: str
    items: int
    items_left_out: int
    target_row: int
    target_total: int | None
    target_selection: str | None
    asked_at: datetime
    updated_at: datetime
    finished_at: datetime | None


@dataclass(frozen=True, slots=True)
class Operation:
    """An operation, read under its lock."""

    id: UUID
    org_id: int
    user_id: int
    ip: str | None
    action: BulkAction
    filter: JobFilter
    reach: Reach
    params: Mapping[str, Any]
    state: str
    last_job: UUID
    asked_at: datetime
    target: UUID | None
    target_row: int
    target_selection: Mapping[str, Any] | None

    @property
    def live(self) -> bool:
        return self.state in {"counting", "running"}


async def add(conn: Connection, new: NewOperation) -> None:
    await conn.execute(
        _sql.add_operation, new.id, new.org_id, new.user_id, new.ip, new.action,
        to_json(new.filter.as_json()), to_json(dict(new.params)), new.reach.org_id,
        new.reach.owner_id, "running" if new.counted else "counting",
        new.matched if new.counted else 0, new.target,
        None if new.target_selection is None else to_json(dict(new.target_selection)),
    )  # fmt: skip


async def now(conn: Connection) -> datetime:
    moment: datetime = await conn.fetchval(_sql.now)
    return moment


async def get(conn: Connection, operation_id: UUID) -> OperationRow | None:
    row = await conn.fetchrow(_sql.get_operation, operation_id)
    return None if row is None else OperationRow(**row)


async def list_operations(conn: Connection, after: UUID | None, limit: int) -> list[OperationRow]:
    return [OperationRow(**row) for row in await conn.fetch(_sql.list_operations, after, limit)]


async def live(conn: Connection, most: int) -> list[UUID]:
    return [row["id"] for row in await conn.fetch(_sql.live_operations, most)]


async def lock(conn: Connection, operation_id: UUID) -> Operation | None:
    row = await conn.fetchrow(_sql.lock_operation, operation_id)
    if row is None:
        return None
    return Operation(
        row["id"], row["org_id"], row["user_id"], None if row["ip"] is None else str(row["ip"]),
        BulkAction(row["action"]), JobFilter.of_json(from_json(row["filter"])),
        Reach(row["scope_org"], row["scope_owner"]), from_json(row["params"]), row["state"],
        row["last_job"], row["asked_at"], row["target"], row["target_row"],
        from_json(row["target_selection"]),
    )  # fmt: skip


@dataclass(frozen=True, slots=True)
class JobWalk:
    """Matching jobs among those checked; ``last`` is the last checked one, None at the end."""

    ids: tuple[UUID, ...]
    last: UUID | None


async def walk(
    conn: Connection, reach: Reach, wanted: JobFilter, after: UUID, asked_at: datetime, most: int
) -> JobWalk:
    row = await conn.fetchrow(
        _sql.walk_jobs, reach.org_id, after,
        None if wanted.job_ids is None else list(wanted.job_ids), asked_at, reach.owner_id,
        None if wanted.states is None else list(wanted.states), wanted.pipeline, wanted.lane,
        wanted.user_id, wanted.name, wanted.created_after, wanted.created_before, most,
    )  # fmt: skip
    assert row is not None
    return JobWalk(tuple(row["ids"]), row["last"] if row["walked"] == most else None)


async def count_more(conn: Connection, operation_id: UUID, matched: int, last: UUID | None) -> None:
    """Count matching jobs up to ``last``; None: all are counted, and the operation begins."""
    if last is None:
        await conn.execute(_sql.end_counting, operation_id, matched)
    else:
        await conn.execute(_sql.count_more, operation_id, matched, last)


async def pass_by(conn: Connection, operation_id: UUID, last: UUID) -> None:
    await conn.execute(_sql.pass_by, operation_id, last)


async def note(
    conn: Connection, operation_id: UUID, job_id: UUID, *, changed: bool = False,
    left_out: bool = False, error: Mapping[str, Any] | None = None, items: int = 0,
    items_left_out: int = 0,
) -> None:  # fmt: skip
    """Record that a job was changed, skipped, or failed with ``error``."""
    await conn.execute(
        _sql.note_target, operation_id, job_id, int(changed), int(left_out),
        int(error is not None), items, items_left_out,
        None if error is None else to_json([{"jobId": job_id, **error}]), _MOST_ERRORS,
    )  # fmt: skip


async def begin_target(
    conn: Connection, operation_id: UUID, job_id: UUID, selection: Selection, asked_at: datetime
) -> None:
    await conn.execute(
        _sql.begin_target, operation_id, job_id, to_json(frozen(selection, asked_at))
    )


async def begin_pass(
    conn: Connection, operation_id: UUID, job_id: UUID, selection: Mapping[str, Any]
) -> None:
    """Begin another pass over the rows of the operation's job."""
    await conn.execute(_sql.begin_target, operation_id, job_id, to_json(dict(selection)))


def frozen(selection: Selection, asked_at: datetime) -> dict[str, Any]:
    """A selection with its time, as stored with an operation."""
    return selection.as_json() | {"askedAt": asked_at.isoformat()}


async def move_in_target(
    conn: Connection, operation_id: UUID, row: int, items: int, left_out: int
) -> None:
    await conn.execute(_sql.move_in_target, operation_id, row, items, left_out)


async def end(
    conn: Connection, operation_id: UUID, state: str, error: Mapping[str, Any] | None = None
) -> bool:
    shown = None if error is None else to_json([error])
    return bool(await conn.execute(_sql.end_operation, operation_id, state, shown) == "UPDATE 1")
