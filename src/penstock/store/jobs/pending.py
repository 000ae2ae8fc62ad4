"""Open rows of many jobs in one list: keyset pages, and counts from the jobs' counters."""

from __future__ import annotations

import time
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import NamedTuple
from uuid import UUID

from penstock.model.pipeline import LABELS
from penstock.model.states import ItemStatus
from penstock.store.database import Connection
from penstock.store.jobs.items import FAR_AHEAD, LONG_AGO, OPEN
from penstock.store.queries import load

_sql = load("pending")
_FIRST_JOB = UUID(int=0)
_MOST_OLDEST = 10
# Rows that one step of a search looks at, and how long a page continues with steps.
_LOOKED_AT = 5000
_PATIENCE_S = 0.5


class OpenRowCursor(NamedTuple):
    """The position of a row in the list."""

    updated_at: datetime
    job_id: UUID
    row_no: int


START = OpenRowCursor(LONG_AGO, _FIRST_JOB, 0)


@dataclass(frozen=True)
class OpenRowFilter:
    """A filter by user, job and status. None: all rows in this scope."""

    user_id: int | None = None
    statuses: frozenset[ItemStatus] = OPEN
    job_type: str | None = None
    job_id: UUID | None = None
    since: datetime | None = None
    until: datetime | None = None

    @property
    def jobs(self) -> tuple[int | None, str | None, UUID | None]:
        return self.user_id, self.job_type, self.job_id


@dataclass(frozen=True, slots=True)
class OpenRow:
    """An open row with its job. ``labels`` is JSON; ``code`` is of the last error."""

    job_id: UUID
    row_no: int
    status: str
    stage: int
    attempts: int
    job_type: str
    updated_at: datetime
    due_at: datetime | None
    code: str | None
    locked_by: str | None
    locked_at: datetime | None
    labels: str
    job_name: str
    user_id: int
    percent: float
    total: int
    pending: int
    processing: int
    state: str
    paused: bool
    delayed: bool
    org: str


@dataclass(frozen=True, slots=True)
class OpenCounts:
    pending: int
    processing: int


@dataclass(frozen=True, slots=True)
class OldestRow:
    """A job, and how long its oldest open row has waited."""

    id: UUID
    name: str
    pipeline: str
    updated_at: datetime
    age_ms: int


async def page(
    conn: Connection, wanted: OpenRowFilter, after: OpenRowCursor, size: int
) -> tuple[list[OpenRow], OpenRowCursor | None]:
    """Rows by time of change, oldest first; and where to continue."""
    if wanted.since is not None and wanted.since > after.updated_at:
        after = OpenRowCursor(wanted.since, _FIRST_JOB, 0)
    until, statuses = wanted.until or FAR_AHEAD, sorted(wanted.statuses)
    if wanted.statuses == {ItemStatus.PROCESSING}:
        found = await conn.fetch(_sql.running_rows, *after, *wanted.jobs, until, size + 1)
    else:
        found = await conn.fetch(_sql.open_rows, *after, statuses, *wanted.jobs, until, size + 1)
    places = [OpenRowCursor(row["updated_at"], row["job_id"], row["row_no"]) for row in found]
    more = places[size - 1] if len(places) > size else None
    return await _shown(conn, places[:size], statuses), more


async def search(
    conn: Connection, job_id: UUID, statuses: Sequence[str], text: str, after: OpenRowCursor,
    size: int,
) -> tuple[list[OpenRow], OpenRowCursor | None]:  # fmt: skip
    """Open rows of a job whose labels contain a text, oldest first, and where to continue. A page
    ends early if few rows match."""
    places: list[OpenRowCursor] = []
    following: OpenRowCursor | None = after
    until = time.monotonic() + _PATIENCE_S
    while following is not None and len(places) <= size and time.monotonic() < until:
        rows = await conn.fetch(
            _sql.search_open, job_id, list(statuses), following.updated_at, following.row_no,
            _LOOKED_AT, text, LABELS,
        )  # fmt: skip
        found = [OpenRowCursor(row["updated_at"], job_id, row["row_no"]) for row in rows]
        places += [place for place, row in zip(found, rows, strict=True) if row["fits"]]
        following = found[-1] if found else None
    if len(places) > size:
        following = places[size - 1]
    return await _shown(conn, places[:size], statuses), following


async def _shown(
    conn: Connection, places: Sequence[OpenRowCursor], statuses: Sequence[str]
) -> list[OpenRow]:
    if not places:
        return []
    ids, rows = [one.job_id for one in places], [one.row_no for one in places]
    found = await conn.fetch(_sql.pending_rows, ids, rows, list(statuses), LABELS)
    return [OpenRow(**row) for row in found]


async def waiting_jobs(conn: Connection, wanted: OpenRowFilter, most: int) -> list[UUID]:
    """Jobs with rows that wait for their due time."""
    since, until = wanted.since or LONG_AGO, wanted.until or FAR_AHEAD
    rows = await conn.fetch(_sql.waiting_jobs, *wanted.jobs, since, until, most)
    return [row["id"] for row in rows]


async def waiting_rows(
    conn: Connection, job_id: UUID, wanted: OpenRowFilter, most: int
) -> list[int]:
    since, until = wanted.since or LONG_AGO, wanted.until or FAR_AHEAD
    rows = await conn.fetch(_sql.waiting_rows, job_id, since, until, most)
    return [row["row_no"] for row in rows]


async def make_due(conn: Connection, job_id: UUID, rows: Sequence[int]) -> dict[int, int]:
    """Make the rows due now; answers the number per stage."""
    found = await conn.fetch(_sql.make_due, job_id, list(rows))
    return {row["stage"]: row["rows"] for row in found}


async def counts(conn: Connection, wanted: OpenRowFilter) -> OpenCounts:
    row = await conn.fetchrow(_sql.open_counts, *wanted.jobs)
    assert row is not None
    return OpenCounts(**row)


async def oldest(conn: Connection, wanted: OpenRowFilter) -> list[OldestRow]:
    """The jobs whose rows have waited longest."""
    rows = await conn.fetch(_sql.oldest_rows, *wanted.jobs, _MOST_OLDEST)
    return [OldestRow(**row) for row in rows]
