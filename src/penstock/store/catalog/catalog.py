"""Lists of products: keyset pages, without counts and with bounded time.

A page walks one index, window by window, and keeps what passes the filters. It ends when it is full
or its time is up, and returns a cursor: a filter that matches little costs many short pages, not
one slow one.
"""

from __future__ import annotations

import time
from collections.abc import Sequence
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from typing import Any
from uuid import UUID

from penstock.store.database import Connection
from penstock.store.queries import load

# Bytes of documents read at once for an export; the product that exceeds them is the last one.
EXPORT_BYTES = 16 * 1024 * 1024
_CHANGES_AT_ONCE = 7
_sql = load("catalog")
_PATIENCE_S = 0.05
_FIRST_WINDOW, _WIDEST_WINDOW = 200, 2000
# Matches by prefix, listed before matches anywhere in the text.
MOST_BY_NAME = 100
_LAST_CHARACTER = "\U0010ffff"
# GTINs are stored with 14 digits, but written with 8, 12 or 13.
_LEADING_ZEROS = (0, 1, 2, 6)
FIRST_ID, LAST_ID = UUID(int=0), UUID(int=2**128 - 1)
LONG_AGO, FAR_AHEAD = datetime(1970, 1, 1, tzinfo=UTC), datetime(9000, 1, 1, tzinfo=UTC)


@dataclass(frozen=True, slots=True)
class ProductFilter:
    """A filter: products must match all given fields."""

    org_id: int
    q: str = ""
    source: str | None = None
    sku: str | None = None
    # With 14 digits.
    gtin: str | None = None
    published: bool | None = None
    updated_after: datetime | None = None
    updated_before: datetime | None = None
    job_id: UUID | None = None


@dataclass(frozen=True, slots=True)
class ProductCursor:
    """A cursor: the number of matches by name so far, and the last product of the walk."""

    named: int = 0
    moment: datetime = FAR_AHEAD
    id: UUID | None = None


@dataclass(frozen=True, slots=True)
class Page:
    rows: Sequence[Any]
    next: ProductCursor | None


async def page(conn: Connection, wanted: ProductFilter, place: ProductCursor, size: int) -> Page:
    """Up to ``size`` products, fewer if the time is up; ``next`` is None at the end."""
    deadline = time.monotonic() + _PATIENCE_S
    rows: list[Any] = []
    named = await _by_name(conn, wanted) if wanted.q else []
    if place.named < len(named):
        ids = named[place.named :]
        rows = await _listed(conn, replace(wanted, q=""), ids, size)
        if len(rows) == size:
            return Page(rows, replace(place, named=place.named + rows[-1]["place"]))
    place = replace(place, named=len(named))
    window = max(_FIRST_WINDOW, size)
    while True:
        looked = await _walk(conn, wanted, place, window)
        ids = [row["id"] for row in looked]
        found = await _listed(conn, wanted, ids, size - len(rows), leave_out=named)
        rows += found
        if len(rows) == size:
            return Page(rows, _after(place, looked[found[-1]["place"] - 1]))
        if len(looked) < window:
            return Page(rows, None)
        place = _after(place, looked[-1])
        if time.monotonic() > deadline:
            return Page(rows, place)
        window = min(window * 2, _WIDEST_WINDOW)


async def _by_name(conn: Connection, wanted: ProductFilter) -> list[UUID]:
    """Products whose SKU or GTIN begins with the text, found by index."""
    q = wanted.q
    starts = [(_sql.products_by_sku, text) for text in dict.fromkeys((q, q.upper(), q.lower()))]
    if q.isascii() and q.isdigit():
        starts += [(_sql.products_by_gtin, "0" * zeros + q) for zeros in _LEADING_ZEROS]
    found: dict[UUID, None] = {}
    for statement, text in starts:
        rows = await conn.fetch(
            statement, wanted.org_id, text, FIRST_ID, text + _LAST_CHARACTER, MOST_BY_NAME
        )
        found.update((row["id"], None) for row in rows)
    return list(found)[:MOST_BY_NAME]


async def _walk(
    conn: Connection, wanted: ProductFilter, place: ProductCursor, most: int
) -> list[Any]:
    """The next products in the order of the most selective index."""
    after = place.id
    for name, statement in (
        (wanted.sku, _sql.products_by_sku),
        (wanted.gtin, _sql.products_by_gtin),
    ):
        if name is not None:
            return await conn.fetch(statement, wanted.org_id, name, after or FIRST_ID, name, most)
    if wanted.job_id is not None:
        return await conn.fetch(_sql.products_of_job, wanted.job_id, after or FIRST_ID, most)
    moment = min(place.moment, wanted.updated_before or FAR_AHEAD)
    # Exclusive: no id sorts before the first.
    before = after or FIRST_ID
    return await conn.fetch(
        _sql.newest_products, wanted.org_id, moment, before, wanted.updated_after or LONG_AGO, most
    )


def _after(place: ProductCursor, row: Any) -> ProductCursor:
    return replace(place, moment=row.get("updated_at", place.moment), id=row["id"])


async def _listed(
    conn: Connection, wanted: ProductFilter, ids: Sequence[UUID], most: int,
    leave_out: Sequence[UUID] = (),
) -> list[Any]:  # fmt: skip
    if leave_out:
        known = set(leave_out)
        # Placeholder for products that do not match, so that positions stay the same.
        ids = [FIRST_ID if one in known else one for one in ids]
    words = [f"%{_plain(word)}%" for word in wanted.q.split()]
    return await conn.fetch(
        _sql.listed_products, list(ids), wanted.org_id, wanted.source, wanted.published, wanted.sku,
        wanted.gtin, wanted.updated_after, wanted.updated_before, words or None, most,
    )  # fmt: skip


def _plain(word: str) -> str:
    """Escape the text for LIKE."""
    return word.replace("\\", r"\\").replace("%", r"\%").replace("_", r"\_")


async def get(conn: Connection, product_id: UUID) -> Any:
    return await conn.fetchrow(_sql.get_product, product_id)


async def history(
    conn: Connection, product_id: UUID, before: tuple[datetime, UUID] | None, most: int
) -> tuple[list[Any], bool]:
    """Changes of a product by jobs, newest first, also of a deleted product; and whether there may
    be more. Fewer than ``most`` if the documents are large."""
    place, size = before or (FAR_AHEAD, FIRST_ID), 0
    found: list[Any] = []
    while size < EXPORT_BYTES:
        ask = min(_CHANGES_AT_ONCE, most + 1 - len(found))
        rows = await conn.fetch(_sql.product_history, product_id, *place, ask)
        found += rows
        if len(rows) < ask or len(found) > most:
            return found[:most], len(found) > most
        size += sum(len(row["before"] or "") + len(row["after"] or "") for row in rows)
        place = rows[-1]["changed_at"], rows[-1]["job_id"]
    return found, True


async def next_ids(
    conn: Connection, wanted: ProductFilter, after: Any, most: int
) -> tuple[list[UUID], Any | None]:
    """The matching products among the next ``most``, and where to continue (first: None). The order
    does not change when products change, so that a long export misses nothing."""
    if wanted.sku is None and wanted.gtin is None and wanted.job_id is None:
        source, source_id = (wanted.source or "", "") if after is None else after
        looked = await conn.fetch(
            _sql.products_in_order, wanted.org_id, source, source_id, wanted.source, most
        )
    else:
        looked = await _walk(conn, wanted, ProductCursor(id=after), most)
    found = await _listed(conn, wanted, [row["id"] for row in looked], most)
    ids = [row["id"] for row in found]
    if len(looked) < most:
        return ids, None
    last = looked[-1]
    return ids, (last["source"], last["source_id"]) if "source" in last else last["id"]


async def whole(conn: Connection, ids: Sequence[UUID]) -> tuple[list[Any], Sequence[UUID]]:
    """The documents of the first products, as many as fit into `EXPORT_BYTES`, and the other
    ids."""
    rows = await conn.fetch(_sql.whole_products, list(ids), EXPORT_BYTES)
    # Products deleted meanwhile are in neither.
    last = ids.index(rows[-1]["id"]) + 1 if rows else len(ids)
    return rows, ids[last:]


@dataclass(frozen=True, slots=True)
class ProductDocument:
    """``data`` is JSON."""

    id: UUID
    data: str


async def documents(
    conn: Connection, ids: Sequence[UUID]
) -> tuple[list[ProductDocument], Sequence[UUID]]:
    """The same as `whole`, with the documents alone."""
    rows, left = await whole(conn, ids)
    return [ProductDocument(row["id"], row["data"]) for row in rows], left
