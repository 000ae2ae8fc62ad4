"""Open rows of many jobs in one list: keyset pages, and counts from the jobs' counters."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any, NamedTuple
from uuid import UUID

from penstock.model.pipeline import LABELS
from penstock.model.states import ItemStatus
from penstock.store.database import Connection
from penstock.store.jobs.items import FAR_AHEAD, LONG_AGO, OPEN
from penstock.store.queries import load

_sql = load("pending")
_FIRST_JOB = UUID(int=0)
_MOST_OLDEST = 10


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


async def page(
    conn: Connection, wanted: OpenRowFilter, after: OpenRowCursor, size: int
) -> tuple[list[Any], OpenRowCursor | None]:
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


async def _shown(
    conn: Connection, places: Sequence[OpenRowCursor], statuses: Sequence[str]
) -> list[Any]:
    if not places:
        return []
    ids, rows = [one.job_id for one in places], [one.row_no for one in places]
    return await conn.fetch(_sql.pending_rows, ids, rows, list(statuses), LABELS)


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


async def wait_no_longer(conn: Connection, job_id: UUID, rows: Sequence[int]) -> dict[int, int]:
    """Make the rows due now; answers the number per stage."""
    found = await conn.fetch(_sql.wait_no_longer, job_id, list(rows))
    return {row["stage"]: row["rows"] for row in found}


async def counts(conn: Connection, wanted: OpenRowFilter) -> Any:
    return await conn.fetchrow(_sql.open_counts, *wanted.jobs)


async def oldest(conn: Connection, wanted: OpenRowFilter) -> list[Any]:
    """The jobs whose rows have waited longest."""
    return await conn.fetch(_sql.oldest_rows, *wanted.jobs, _MOST_OLDEST)
