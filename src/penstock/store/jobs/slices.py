"""Leases: fenced writes by their holder, and recovery from dead holders."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple
from uuid import UUID

from penstock.store.database import Connection, to_json
from penstock.store.jobs.claims import Turn
from penstock.store.queries import load

_settle = load("settle")
_sweep = load("sweep")
_ingest = load("ingest")


class LeaseBroken(Exception):
    """Items under a live lease did not match it; nothing may be written."""

    def __init__(self, expected: int, changed: int) -> None:
        super().__init__(f"expected to change {expected} items, changed {changed}")
        self.changed = changed


async def take(conn: Connection, slice_ids: Sequence[UUID]) -> set[UUID]:
    """End the leases; answers those that were still held. Only their items may be written."""
    return {row["id"] for row in await conn.fetch(_settle.take_slices, list(slice_ids))}


async def hold(conn: Connection, slice_ids: Sequence[UUID]) -> set[UUID]:
    """Lock the leases that are still held, until this transaction ends."""
    return {row["id"] for row in await conn.fetch(_settle.hold_slices, list(slice_ids))}


# Columns of ids and numbers in a row of `settle_items`; the documents follow them.
_PLAIN_COLUMNS = 9


async def settle_items(
    conn: Connection, rows: Sequence[tuple[Any, ...]], problems: str | None
) -> None:
    """Write transitions; ``problems`` is the member of checkpoints that lists a row's problems.
    Plain columns go as one text each: asyncpg looks at every member of an array, which for numbers
    and ids costs more than all else."""
    if rows:
        columns = list(zip(*rows, strict=True))
        plain = [_joined(column) for column in columns[:_PLAIN_COLUMNS]]
        # `unnest` fills up what is shorter with NULLs.
        documents = [column if any(column) else () for column in columns[_PLAIN_COLUMNS:]]
        done = await conn.execute(_settle.settle_items, *plain, *documents, problems)
        _expect(done, len(rows))


def _joined(column: Sequence[Any]) -> str:
    """Join values as text. Fast path for equal values, which are common for jobs and leases."""
    if column.count(column[0]) == len(column):
        return ",".join([str(column[0])] * len(column))
    return ",".join(map(str, column))


async def release_items(conn: Connection, rows: Sequence[tuple[Any, ...]]) -> None:
    if rows:
        plain = [",".join(map(str, column)) for column in zip(*rows, strict=True)]
        _expect(await conn.execute(_settle.release_items, *plain), len(rows))


def _expect(status: str, rows: int) -> None:
    changed = int(status.removeprefix("UPDATE "))
    if changed != rows:
        raise LeaseBroken(rows, changed)


async def return_items(
    conn: Connection, job_id: UUID, slice_id: UUID, rows: Sequence[int], error: str
) -> list[str]:
    """Return the items of a crash; answers the new status of each."""
    changed = await conn.fetch(_sweep.return_items, job_id, slice_id, list(rows), error)
    return [row["status"] for row in changed]


async def charge(conn: Connection, turn: Turn, actual_ms: float) -> None:
    await conn.execute(_settle.charge_org, turn.org_id, turn.vstart, actual_ms, turn.pool)


@dataclass(frozen=True, slots=True)
class ExpiredLease:
    id: UUID
    kind: str
    job_id: UUID
    org_id: int
    position: int
    stage: str
    worker: str
    rows: Sequence[int]


class LostLease(NamedTuple):
    id: UUID
    job_id: UUID


async def expired_leases(conn: Connection, lease_ms: float, most: int) -> list[LostLease]:
    return [LostLease(*row) for row in await conn.fetch(_sweep.expired_slices, lease_ms, most)]


async def of_worker(conn: Connection, worker: str) -> list[LostLease]:
    return [LostLease(*row) for row in await conn.fetch(_sweep.slices_of_worker, worker)]


async def take_expired(
    conn: Connection, slice_id: UUID, *, holder_is_dead: bool
) -> ExpiredLease | None:
    row = await conn.fetchrow(_sweep.take_expired, slice_id, holder_is_dead)
    if row is None:
        return None
    return ExpiredLease(
        row["id"], row["kind"], row["job_id"], row["org_id"], row["position"], row["stage"],
        row["worker"], row["row_nos"],
    )  # fmt: skip


async def yield_whole(
    conn: Connection,
    job_id: UUID,
    position: int,
    *,
    after_ms: float,
    attempts: int,
    error: Any = None,
) -> None:
    """Release an ingest or finish to continue later; ``error`` is its failure, if any. The job is
    locked in a separate statement, so that the next one sees the stages as of now."""
    await conn.fetch(_settle.lock_jobs, [job_id])
    await conn.execute(_ingest.yield_stage, job_id, position, after_ms)
    shown = None if error is None else to_json(error)
    await conn.execute(_ingest.yield_job, job_id, attempts, shown)


async def count_crash(conn: Connection, job_id: UUID, position: int) -> int:
    """Count a crash during a job's ingest or finish; answers the number so far."""
    return int(await conn.fetchval(_sweep.crash_stage, job_id, position) or 0)
