"""Rows that were read but are not items yet: ranges, each stored under a lease of its own."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any
from uuid import UUID

from penstock.model.ranges import RowRange, StoredRow
from penstock.model.states import ItemStatus
from penstock.store.copy_format import (
    NULL,
    copy_rows,
    int2_field,
    int4_field,
    int8_field,
    json_field,
    jsonb_field,
    text_field,
    uuid_field,
)
from penstock.store.database import Connection, from_json, to_json
from penstock.store.jobs.claims import ClaimedJob, Lease, Turn, Work, open_slices, take_items
from penstock.store.jobs.transitions import JobMove
from penstock.store.queries import load

_sql = load("ranges")
_claims = load("claims")
_settle = load("settle")
# Where the ranges are among a job's stages: before the items of the first one.
RANGES = -2
_RANGES_AT_ONCE = 100
_COLUMNS = (
    "job_id", "row_no", "org_id", "user_id", "job_type", "stage", "status", "attempts", "input",
    "noticed", "normalized", "result", "problems", "error",
)  # fmt: skip


@dataclass(frozen=True, slots=True)
class LeasedRange:
    rows: RowRange
    count: int
    crashes: int


async def add(
    conn: Connection, job: ClaimedJob, first: int, lines: bytes, count: int,
    noticed: Mapping[int, Any],
) -> None:  # fmt: skip
    found = to_json({str(row): one for row, one in noticed.items()}) if noticed else None
    await conn.execute(_sql.add_range, job.id, first, job.org_id, count, lines, found)


async def open_all(conn: Connection, job_id: UUID, waiting: Sequence[int] | None) -> None:
    """All rows are read: the ranges can be claimed. ``waiting`` rows must wait for all others."""
    if waiting is not None:
        await conn.execute(_sql.set_waiting, job_id, list(waiting))
    await conn.execute(_sql.open_ranges, job_id)


async def lease(
    conn: Connection, turn: Turn, work: Work, one: Lease, worker: str, lease_ms: float, *,
    in_turn: bool,
) -> bool:  # fmt: skip
    """Lease the next free range; False if there is none."""
    rows = await conn.fetchval(_sql.pick_range, work.job_id, one.id)
    if rows is None:
        await conn.fetch(_settle.lock_jobs, [work.job_id])
        await conn.execute(_sql.rest_ranges, work.job_id)
        await conn.execute(_claims.refresh_ready, [work.job_id])
        return False
    await open_slices(conn, turn, work, [one], worker, lease_ms, in_turn=in_turn)
    await conn.execute(_sql.take_from_ranges, work.job_id)
    await take_items(conn, work, [work.job_id], [0], [0], worker)
    return True


async def load_leased(conn: Connection, job_id: UUID, slice_id: UUID) -> LeasedRange | None:
    """The range of a lease; None if the lease was lost meanwhile."""
    row = await conn.fetchrow(_sql.load_range, job_id, slice_id)
    if row is None:
        return None
    waiting = None if row["waiting"] is None else frozenset(row["waiting"])
    rows = RowRange(row["first_row"], row["lines"], from_json(row["noticed"]) or {}, waiting)
    return LeasedRange(rows, row["rows"], row["crashes"])


async def end(conn: Connection, job_id: UUID, first_row: int, slice_id: UUID) -> bool:
    """The fence: only the lease that holds the range may store its rows, once."""
    return await conn.fetchval(_sql.end_range, job_id, first_row, slice_id) is not None


async def copy_items(
    conn: Connection, schema: str, job: ClaimedJob, rows: RowRange, stored: Sequence[StoredRow]
) -> None:
    """Write the rows of a range as items."""
    await copy_rows(conn, schema, "job_items", _COLUMNS, _item_records(job, rows, stored))


def _item_records(job: ClaimedJob, rows: RowRange, stored: Sequence[StoredRow]) -> Iterator[bytes]:
    job_id = uuid_field(job.id)
    fixed = int8_field(job.org_id) + int8_field(job.user_id) + text_field(job.pipeline)
    states: dict[tuple[int, ItemStatus, int], bytes] = {}
    numbers = range(rows.first_row, rows.first_row + len(stored))
    for row_no, line, one in zip(numbers, rows.lines.split(b"\n"), stored, strict=True):
        status, stage, attempts, normalized, result, problems, error = one
        state = states.get((stage, status, attempts))
        if state is None:
            state = fixed + int2_field(stage) + text_field(status.value) + int2_field(attempts)
            states[stage, status, attempts] = state
        noticed = rows.noticed.get(str(row_no)) if rows.noticed else None
        yield b"".join((
            job_id, int4_field(row_no), state, jsonb_field(line),
            NULL if noticed is None else jsonb_field(to_json(noticed).encode()),
            json_field(normalized), json_field(result), jsonb_field(problems),
            NULL if error is None else jsonb_field(to_json(error.as_json()).encode()),
        ))  # fmt: skip


async def release(
    conn: Connection, job_id: UUID, slice_id: UUID, *, crashes: int = 0, most_crashes: int = 1
) -> JobMove:
    """Free the range of a lease; answers the change of the job's counters. After more than
    ``most_crashes`` its rows become items, among which the one that kills workers is found."""
    move = JobMove()
    row = await conn.fetchrow(_sql.release_range, job_id, slice_id, crashes)
    if row is None:
        return move
    if row["crashes"] > most_crashes:
        await as_items(conn, job_id, row["first_row"], ItemStatus.PENDING)
        move.stage(RANGES).open -= 1
        move.stage(0).enter(row["rows"], 0)
        return move
    move.stage(RANGES).pending += 1
    move.stage(RANGES).wait(0)
    return move


async def as_items(
    conn: Connection, job_id: UUID, first_row: int, status: ItemStatus, error: Any = None
) -> None:
    """Turn a range into ordinary items of the first stage, or into skipped ones."""
    shown = None if error is None else to_json(error)
    await conn.execute(_sql.range_items, job_id, first_row, status.value, shown)
    await conn.execute(_sql.drop_range, job_id, first_row)


async def skip_some(conn: Connection, job_id: UUID, reason: Mapping[str, Any], most: int) -> int:
    """Turn ranges of an ending job into skipped items, at least one range and then up to ``most``
    rows; answers how many rows."""
    skipped = 0
    for row in await conn.fetch(_sql.first_ranges, job_id, _RANGES_AT_ONCE):
        if skipped and skipped + row["rows"] > most:
            break
        await as_items(conn, job_id, row["first_row"], ItemStatus.SKIPPED, reason)
        skipped += row["rows"]
    return skipped


async def let_all_wait(conn: Connection, job_id: UUID) -> None:
    """A row of the job is changed, so that rows of its ranges may be the same product."""
    await conn.execute(_sql.let_all_wait, job_id)


@dataclass(frozen=True, slots=True)
class RangeCounts:
    open: int
    pending: int
    rows: int


async def recount(conn: Connection, job_id: UUID) -> RangeCounts:
    """Count the ranges of a job without leases, all of which are free then."""
    await conn.execute(_sql.free_ranges, job_id)
    row = await conn.fetchrow(_sql.count_ranges, job_id)
    assert row is not None
    return RangeCounts(**row)
