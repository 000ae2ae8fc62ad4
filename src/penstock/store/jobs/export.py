"""Read items for exports: in row order and in windows, so that no statement takes long."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple
from uuid import UUID

from penstock.model.states import ItemStatus
from penstock.store.database import Connection, to_json
from penstock.store.queries import load

_sql = load("export")
# Bytes of documents on one page; the row that exceeds them is the last one.
PAGE_BYTES = 16 * 1024 * 1024
_PROBLEMS = {ItemStatus.ERROR, ItemStatus.NOT_FOUND, ItemStatus.SKIPPED}


@dataclass(frozen=True, slots=True)
class Rows:
    """A filter of a job's rows. Without statuses: all rows, without their input; ``bare``: only
    their cells."""

    job_id: UUID
    statuses: Sequence[str] = ()
    code: str | None = None
    q: str = ""
    bare: bool = False


class ExportedRow(NamedTuple):
    """A row of an export; a tuple, since there may be millions. ``result``, ``error``, ``problems``
    and ``input`` are JSON, None where they were not asked for."""

    row_no: int
    status: str
    result: str | None
    error: str | None = None
    problems: str | None = None
    input: str | None = None


async def window(
    conn: Connection, rows: Rows, after: int, last: int, most: int
) -> tuple[list[ExportedRow], bool]:
    """The first matching rows of a range, limited by number and `PAGE_BYTES`; and whether there are
    more."""
    found = await _window(conn, rows, after, last, most)
    # All columns but the last one are those of `ExportedRow`, in its order.
    shown = [ExportedRow(*row[:-1]) for row in found]
    return shown, bool(found) and found[-1]["following"] is not None


async def _window(conn: Connection, rows: Rows, after: int, last: int, most: int) -> list[Any]:
    if not rows.statuses:
        statement = _sql.cells if rows.bare else _sql.results
        return await conn.fetch(statement, rows.job_id, after, last, most, PAGE_BYTES)
    rare = set(rows.statuses) <= _PROBLEMS
    statement = _sql.problems_to_export if rare else _sql.rows_to_export
    # Escaped as in JSON, as the grid searches for it.
    words = to_json(rows.q.lower())[1:-1] or None
    return await conn.fetch(
        statement, rows.job_id, after, last, most, PAGE_BYTES, list(rows.statuses), rows.code, words
    )


async def widest(conn: Connection, job_id: UUID, after: int, last: int) -> int:
    """The largest number of cells of a row in the range."""
    found: int = await conn.fetchval(_sql.widest, job_id, after, last)
    return found
