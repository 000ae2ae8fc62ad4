"""Items as the grid reads them: keyset pages, never a count."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import UTC, datetime
from typing import Any
from uuid import UUID

from penstock.model.states import ItemStatus
from penstock.store.database import Connection
from penstock.store.queries import load

_sql = load("items")
_PROBLEMS = {ItemStatus.ERROR, ItemStatus.NOT_FOUND, ItemStatus.SKIPPED}
_LONG_AGO = datetime(1970, 1, 1, tzinfo=UTC)


async def by_row(
    conn: Connection, job_id: UUID, statuses: Sequence[str] | None, after_row: int, limit: int
) -> list[Any]:
    """Items after a row, in row order; None: of every status."""
    if statuses is None:
        return await conn.fetch(_sql.items_by_row, job_id, after_row, limit)
    wanted = _sql.problem_items if set(statuses) <= _PROBLEMS else _sql.items_by_row_and_status
    return await conn.fetch(wanted, job_id, after_row, list(statuses), limit)


async def live(
    conn: Connection,
    job_id: UUID,
    statuses: Sequence[str],
    after: tuple[datetime, int] | None,
    limit: int,
) -> list[Any]:
    """What waits or runs, longest untouched first."""
    updated_at, row_no = after or (_LONG_AGO, 0)
    return await conn.fetch(_sql.live_items, job_id, updated_at, row_no, list(statuses), limit)
