"""Rows of a job by the values of a column, and which values a column has.

Values are in documents, which no index covers. So a list by value reads all rows that it may
contain for every page, and is only offered up to `MOST_SORTED` rows. The distribution of values
reads at most `MOST_SAMPLED` rows, evenly spread over the job.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import NamedTuple
from uuid import UUID

from penstock.store.database import Connection
from penstock.store.jobs.items import PAGE_BYTES, PROBLEMS, ItemFilter, ItemRow, item_rows
from penstock.store.queries import load

_sql = load("column_values")
_items = load("items")
MOST_SORTED = 100_000
MOST_SAMPLED = 50_000
_STRETCH = 500
_LONGEST_VALUE = 200


@dataclass(frozen=True, slots=True)
class Cell:
    """Where a column is: in the input, by its place or name, or in the result, by its name."""

    in_input: bool
    name: str


class ValueKey(NamedTuple):
    """The position of a row in a list by value."""

    rank: int
    number: str
    text: str
    row_no: int


@dataclass(frozen=True, slots=True)
class ValuePage:
    rows: list[ItemRow]
    next: ValueKey | None


@dataclass(frozen=True, slots=True)
class Distribution:
    """The values of a column in ``rows`` rows, which are all of the job or evenly spread ones.
    ``least`` and ``most`` are of the values that are numbers."""

    rows: int
    empty: int
    distinct: int
    numbers: int
    least: str | None
    most: str | None
    top: Sequence[tuple[str, int]]


async def page_by_value(
    conn: Connection, job_id: UUID, wanted: ItemFilter, cell: Cell, first_row: int,
    after: ValueKey | None, size: int,
) -> ValuePage:  # fmt: skip
    """The next rows by the value of a cell, from ``first_row`` on."""
    statuses = sorted(wanted.statuses) or None
    is_rare = statuses is not None and wanted.statuses <= PROBLEMS
    found = await conn.fetch(
        _sql.rows_by_value, job_id, is_rare, cell.in_input, cell.name, statuses, first_row,
        wanted.code, wanted.text, wanted.problem, *(after or (None, None, None, None)),
        wanted.down, size + 1,
    )  # fmt: skip
    keys = [ValueKey(row["rank"], row["number_text"], row["text"], row["row_no"]) for row in found]
    rows = await conn.fetch(
        _items.items_of_rows, job_id, [key.row_no for key in keys[:size]], None, None, None, None,
        None, size, PAGE_BYTES, None,
    )  # fmt: skip
    shown = {row["row_no"] for row in rows}
    # A page may end early, at its number of bytes.
    last = [key for key in keys[:size] if key.row_no in shown][-1:]
    has_more = bool(last) and last[0] != keys[-1]
    return ValuePage(item_rows(rows), last[0] if has_more else None)


async def distribution(
    conn: Connection, job_id: UUID, total: int, cell: Cell, most_values: int
) -> Distribution:
    row = await conn.fetchrow(
        _sql.distribution, job_id, _stretches(total), _STRETCH, cell.in_input, cell.name,
        _LONGEST_VALUE, most_values,
    )  # fmt: skip
    assert row is not None
    return Distribution(
        row["rows"], row["empty"], row["distinct"], row["numbers"], row["least"], row["most"],
        list(zip(row["values"], row["counts"], strict=True)),
    )  # fmt: skip


def _stretches(total: int) -> list[int]:
    """First rows of stretches that cover the job, or are evenly spread over it."""
    whole = -(-total // _STRETCH)
    wanted = min(whole, MOST_SAMPLED // _STRETCH)
    return [1 + n * whole // wanted * _STRETCH for n in range(wanted)]
