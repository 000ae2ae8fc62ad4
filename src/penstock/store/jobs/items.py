"""Pages of items for the grid: keyset pages, without counts.

A page is found by walking an index for the numbers of rows and then reading those rows. What no
index knows (an error code, a text) is searched for among these rows for a limited time: then the
page ends, perhaps empty, and the next one continues from there.
"""

from __future__ import annotations

import time
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Any, NamedTuple
from uuid import UUID

from penstock.model.states import ItemStatus
from penstock.store.database import Connection
from penstock.store.queries import load

_sql = load("items")
OPEN = frozenset({ItemStatus.PENDING, ItemStatus.PROCESSING})
PROBLEMS = frozenset({ItemStatus.ERROR, ItemStatus.NOT_FOUND, ItemStatus.SKIPPED})
LONG_AGO = datetime(1970, 1, 1, tzinfo=UTC)
FAR_AHEAD = datetime(9000, 1, 1, tzinfo=UTC)
LAST_ROW = 2**31 - 1
# Time and rows per step for a text search; a status is found faster.
_TEXT_S, _STATUS_S = 0.05, 0.25
_ROWS_READ, _ROWS_SEEN = 500, 20_000
_MOST_RUNNING = 50_000
# Bytes of documents on one page; the row that exceeds them is the last one.
PAGE_BYTES = 8 * 1024 * 1024


class Key(NamedTuple):
    """The position of an item, by time of change or by row number."""

    updated_at: datetime
    row_no: int


@dataclass(frozen=True)
class ItemFilter:
    """A filter and an order. No statuses: all items."""

    statuses: frozenset[ItemStatus] = frozenset()
    code: str | None = None
    # The code of a problem of a cell; `*`: any.
    problem: str | None = None
    text: str | None = None
    since: datetime | None = None
    until: datetime | None = None
    by_age: bool = False
    down: bool = False

    @property
    def finer(self) -> bool:
        """Whether rows must be read to apply the filter."""
        asked = (self.code, self.problem, self.text, self.since, self.until)
        return any(one is not None for one in asked)

    @property
    def start(self) -> Key:
        return Key(FAR_AHEAD, LAST_ROW) if self.down else Key(LONG_AGO, 0)


class ItemRow(NamedTuple):
    """An item as the grid shows it; a tuple, since pages are long. ``input``, ``normalized``,
    ``result`` and ``error`` are JSON; ``locked_…`` is set while a worker holds the item."""

    job_id: UUID
    row_no: int
    status: str
    stage: int
    attempts: int
    input: str
    normalized: str | None
    result: str | None
    error: str | None
    job_type: str
    updated_at: datetime
    due_at: datetime | None
    locked_by: str | None
    locked_at: datetime | None


_COLUMNS = len(ItemRow._fields)


@dataclass(frozen=True)
class Page:
    rows: list[ItemRow]
    next: Key | None


@dataclass(frozen=True)
class _Step:
    """Keys in order, and the position of the walk; None at the end."""

    keys: list[Key]
    place: Key | None


async def page(
    conn: Connection, job_id: UUID, rows: int, wanted: ItemFilter, after: Key, size: int
) -> Page:
    """``rows``: how many the job has."""
    if wanted == ItemFilter():
        found = await conn.fetch(_sql.items_by_row, job_id, after.row_no, size, PAGE_BYTES)
        return Page(item_rows(found), _key(found[-1]) if _has_more(found) else None)
    until = time.monotonic() + (_TEXT_S if wanted.text is not None else _STATUS_S)
    statuses = sorted(wanted.statuses) or None
    place, last, bytes_left = after, after, PAGE_BYTES
    shown: list[ItemRow] = []
    while True:
        ask = _ROWS_READ if wanted.finer else size + 1 - len(shown)
        step = await _walk(conn, job_id, rows, wanted, place, ask)
        room = size - len(shown)
        read = await conn.fetch(
            _sql.items_of_rows, job_id, [key.row_no for key in step.keys], statuses, wanted.code,
            wanted.text, wanted.since, wanted.until, max(room, 1), bytes_left, wanted.problem,
        )  # fmt: skip
        if read and not room:
            # The page is full; this row only shows that there are more.
            return Page(shown, last)
        shown += item_rows(read)
        if read:
            bytes_left -= read[-1]["bytes"]
            # The position found during the walk; the row may have changed since.
            row_no = shown[-1].row_no
            last = next(key for key in step.keys if key.row_no == row_no)
        if _has_more(read):
            return Page(shown, last)
        if step.place is None or time.monotonic() > until:
            return Page(shown, step.place)
        if bytes_left <= 0:
            return Page(shown, last)
        place = step.place


def item_rows(found: Sequence[Any]) -> list[ItemRow]:
    """Rows of statements whose first columns are those of `ItemRow`."""
    return [ItemRow._make(row[:_COLUMNS]) for row in found]


def rows_from(rows: Sequence[ItemRow], first: int) -> list[ItemRow]:
    """The rows from number ``first`` on."""
    return [row for row in rows if row.row_no >= first]


async def row_of_key(conn: Connection, job_id: UUID, key: str) -> int | None:
    """The row with a key; None if there is none."""
    found: int | None = await conn.fetchval(_sql.row_of_key, job_id, key)
    return found


async def _walk(
    conn: Connection, job_id: UUID, rows: int, wanted: ItemFilter, place: Key, ask: int
) -> _Step:
    statuses = wanted.statuses
    if statuses == {ItemStatus.PROCESSING}:
        return await _running(conn, job_id, wanted, place, ask)
    if wanted.by_age:
        return await _aged(conn, job_id, wanted, place, ask)
    if statuses and statuses <= PROBLEMS:
        walk = _sql.problems_down if wanted.down else _sql.problems_up
        return _step(await conn.fetch(walk, job_id, place.row_no, sorted(statuses), ask), ask)
    return await _stretch(conn, job_id, rows, wanted, place, ask)


async def _stretch(
    conn: Connection, job_id: UUID, rows: int, wanted: ItemFilter, place: Key, ask: int
) -> _Step:
    """The next rows by number; a rare status is searched for in one stretch at a time."""
    seen = _ROWS_SEEN if wanted.statuses else ask
    statuses = sorted(wanted.statuses) or None
    if wanted.down:
        start = min(place.row_no, rows + 1)
        end = max(1, start - seen)
        found = await conn.fetch(_sql.rows_down, job_id, start, end, statuses, ask)
        over = end == 1
    else:
        end = min(place.row_no + seen, LAST_ROW)
        found = await conn.fetch(_sql.rows_up, job_id, place.row_no, end, statuses, ask)
        over = end >= rows
    step = _step(found, ask)
    if step.place is None and not over:
        return _Step(step.keys, Key(place.updated_at, end))
    return step


async def _aged(conn: Connection, job_id: UUID, wanted: ItemFilter, place: Key, ask: int) -> _Step:
    """By time of change: open items, and items that ended with a problem."""
    walks = (
        (_sql.open_newest if wanted.down else _sql.open_oldest, wanted.statuses & OPEN),
        (_sql.problems_newest if wanted.down else _sql.problems_oldest, wanted.statuses & PROBLEMS),
    )
    keys: list[Key] = []
    for walk, statuses in walks:
        if statuses:
            keys += map(_key, await conn.fetch(walk, job_id, *place, sorted(statuses), ask))
    keys.sort(reverse=wanted.down)
    return _Step(keys[:ask], keys[ask - 1] if len(keys) >= ask else None)


async def _running(
    conn: Connection, job_id: UUID, wanted: ItemFilter, place: Key, ask: int
) -> _Step:
    keys = [_key(row) for row in await conn.fetch(_sql.running_rows, job_id, _MOST_RUNNING)]
    if wanted.by_age:
        keys = [key for key in keys if (key < place if wanted.down else key > place)]
        keys.sort(reverse=wanted.down)
    else:
        start = place.row_no
        keys = [key for key in keys if (key.row_no < start if wanted.down else key.row_no > start)]
        keys.sort(key=lambda key: key.row_no, reverse=wanted.down)
    return _Step(keys[:ask], keys[ask - 1] if len(keys) >= ask else None)


def _step(found: Sequence[Any], ask: int) -> _Step:
    keys = [_key(row) for row in found]
    return _Step(keys, keys[-1] if len(keys) >= ask else None)


def _has_more(read: Sequence[Any]) -> bool:
    """Whether a page ended early, at its number of rows or bytes."""
    return bool(read) and read[-1]["following"] is not None


def _key(row: Any) -> Key:
    return Key(row["updated_at"], row["row_no"])
