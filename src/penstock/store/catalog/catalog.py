"""Lists of products: keyset pages, without counts and with bounded time.

A page walks one index, window by window, and keeps what passes the filters. It ends when it is full
or its time is up, and returns a cursor: a filter that matches little costs many short pages, not
one slow one.
"""

from __future__ import annotations

import time
from collections.abc import Sequence
from dataclasses import dataclass, replace
from datetime import datetime
from uuid import UUID

from penstock.store.catalog.product_order import FAR_AHEAD as FAR_AHEAD
from penstock.store.catalog.product_order import FIRST_ID as FIRST_ID
from penstock.store.catalog.product_order import LAST_ID as LAST_ID
from penstock.store.catalog.product_order import (
    LONG_AGO,
    NEWEST_FIRST,
    Sort,
    WalkedProduct,
    sorted_walk,
)
from penstock.store.catalog.product_order import ProductCursor as ProductCursor
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
    # Whatever the case of its letters.
    brand: str | None = None
    # With the categories below it.
    category: str | None = None
    # Has fields that a person edited.
    edited: bool | None = None
    # Has an accepted link to a product of another source.
    linked: bool | None = None


@dataclass(frozen=True, slots=True)
class ProductRow:
    """A product. ``price`` is JSON; ``stock`` is the status of its availability."""

    id: UUID
    org_id: int
    source: str
    source_id: str
    sku: str | None
    gtin: str | None
    published: bool
    version: int
    job_id: UUID
    row_no: int
    created_at: datetime
    updated_at: datetime
    title: str | None
    brand: str | None
    category: str | None
    price: str | None
    stock: str | None
    image: str | None


@dataclass(frozen=True, slots=True)
class ListedProduct(ProductRow):
    """A product of a list; ``place`` is its number among those that were looked at."""

    place: int


@dataclass(frozen=True, slots=True)
class ProductDetails(ProductRow):
    """``data`` and ``lineage`` are JSON; imports do not change ``kept_fields``."""

    data: str
    lineage: str
    kept_fields: Sequence[str] | None


@dataclass(frozen=True, slots=True)
class Page:
    rows: Sequence[ListedProduct]
    next: ProductCursor | None


async def page(
    conn: Connection, wanted: ProductFilter, place: ProductCursor, size: int,
    sort: Sort = NEWEST_FIRST,
) -> Page:  # fmt: skip
    """Up to ``size`` products, fewer if the time is up; ``next`` is None at the end. In another
    order than the usual one, matches by name do not come first."""
    deadline = time.monotonic() + _PATIENCE_S
    rows: list[ListedProduct] = []
    named = await _by_name(conn, wanted) if wanted.q and sort == NEWEST_FIRST else []
    # The usual order has an index for the products of a job.
    job_id = None if sort == NEWEST_FIRST else wanted.job_id
    if place.named < len(named):
        ids = named[place.named :]
        rows = await _listed(conn, replace(wanted, q=""), ids, size)
        if len(rows) == size:
            return Page(rows, replace(place, named=place.named + rows[-1].place))
    place = replace(place, named=len(named))
    window = max(_FIRST_WINDOW, size)
    while True:
        if sort == NEWEST_FIRST:
            looked = await walk(conn, wanted, place, window)
        else:
            looked = await sorted_walk(conn, wanted.org_id, place, window, sort)
        ids = [row.id for row in looked]
        found = await _listed(conn, wanted, ids, size - len(rows), leave_out=named, job_id=job_id)
        rows += found
        if len(rows) == size:
            return Page(rows, after_product(place, looked[found[-1].place - 1]))
        if len(looked) < window:
            return Page(rows, None)
        place = after_product(place, looked[-1])
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


async def walk(
    conn: Connection, wanted: ProductFilter, place: ProductCursor, most: int
) -> list[WalkedProduct]:
    """The next products in the order of the most selective index."""
    after = place.id
    for name, statement in (
        (wanted.sku, _sql.products_by_sku),
        (wanted.gtin, _sql.products_by_gtin),
    ):
        if name is not None:
            rows = await conn.fetch(statement, wanted.org_id, name, after or FIRST_ID, name, most)
            return [WalkedProduct(row["id"]) for row in rows]
    if wanted.job_id is not None:
        rows = await conn.fetch(_sql.products_of_job, wanted.job_id, after or FIRST_ID, most)
        return [WalkedProduct(row["id"]) for row in rows]
    moment = min(place.moment, wanted.updated_before or FAR_AHEAD)
    # Exclusive: no id sorts before the first.
    before = after or FIRST_ID
    rows = await conn.fetch(
        _sql.newest_products, wanted.org_id, moment, before, wanted.updated_after or LONG_AGO, most
    )
    return [WalkedProduct(*row) for row in rows]


def after_product(place: ProductCursor, last: WalkedProduct) -> ProductCursor:
    """The cursor after the last product of a walk from ``place``."""
    key = place.key if last.key is None else last.key
    return replace(place, moment=last.updated_at or place.moment, id=last.id, key=key)


async def _listed(
    conn: Connection, wanted: ProductFilter, ids: Sequence[UUID], most: int,
    leave_out: Sequence[UUID] = (), job_id: UUID | None = None,
) -> list[ListedProduct]:  # fmt: skip
    if leave_out:
        known = set(leave_out)
        # Placeholder for products that do not match, so that positions stay the same.
        ids = [FIRST_ID if one in known else one for one in ids]
    rows = await conn.fetch(
        _sql.listed_products, list(ids), wanted.org_id, wanted.source, wanted.published, wanted.sku,
        wanted.gtin, wanted.updated_after, wanted.updated_before, like_words(wanted.q), most,
        wanted.brand, wanted.category, wanted.edited, wanted.linked, job_id,
    )  # fmt: skip
    return [ListedProduct(**row) for row in rows]


def like_words(q: str) -> list[str] | None:
    """Patterns for the words of a search; None without words."""
    return [f"%{_plain(word)}%" for word in q.split()] or None


def _plain(word: str) -> str:
    """Escape the text for LIKE."""
    return word.replace("\\", r"\\").replace("%", r"\%").replace("_", r"\_")


async def get(conn: Connection, product_id: UUID) -> ProductDetails | None:
    row = await conn.fetchrow(_sql.get_product, product_id)
    return None if row is None else ProductDetails(**row)


@dataclass(frozen=True, slots=True)
class ProductChange:
    """A change of a product by a job, or by an edit: then ``job_id`` is the edit's. ``before`` and
    ``after`` are whole rows as JSON; None: there was none, or it is no longer known. ``undoes`` is
    the edit that this one sets back."""

    job_id: UUID
    job_name: str | None
    row_no: int
    version: int
    changed_at: datetime
    undone_at: datetime | None
    before: str | None
    after: str | None
    edit_id: UUID | None
    undoes: UUID | None
    edited_by: str | None


async def history(
    conn: Connection, product_id: UUID, before: tuple[datetime, UUID] | None, most: int
) -> tuple[list[ProductChange], bool]:
    """Changes of a product, newest first, also of a deleted product; and whether there may
    be more. Fewer than ``most`` if the documents are large."""
    place, size = before or (FAR_AHEAD, FIRST_ID), 0
    found: list[ProductChange] = []
    while size < EXPORT_BYTES:
        ask = min(_CHANGES_AT_ONCE, most + 1 - len(found))
        rows = await conn.fetch(_sql.product_history, product_id, *place, ask)
        found += [ProductChange(**row) for row in rows]
        if len(rows) < ask or len(found) > most:
            return found[:most], len(found) > most
        size += sum(len(row["before"] or "") + len(row["after"] or "") for row in rows)
        place = rows[-1]["changed_at"], rows[-1]["job_id"]
    return found, True


@dataclass(frozen=True, slots=True)
class ExportCursor:
    """Where an export continues: after a product of a source, or after an id."""

    source: str = ""
    source_id: str = ""
    id: UUID | None = None


async def next_ids(
    conn: Connection, wanted: ProductFilter, after: ExportCursor | None, most: int
) -> tuple[list[UUID], ExportCursor | None]:
    """The matching products among the next ``most``, and where to continue (first: None). The order
    does not change when products change, so that a long export misses nothing."""
    if wanted.sku is None and wanted.gtin is None and wanted.job_id is None:
        place = after or ExportCursor(wanted.source or "")
        rows = await conn.fetch(
            _sql.products_in_order, wanted.org_id, place.source, place.source_id, wanted.source,
            most,
        )  # fmt: skip
        looked = [row["id"] for row in rows]
        last = ExportCursor(rows[-1]["source"], rows[-1]["source_id"]) if rows else None
    else:
        start = ProductCursor(id=None if after is None else after.id)
        looked = [row.id for row in await walk(conn, wanted, start, most)]
        last = ExportCursor(id=looked[-1]) if looked else None
    found = await _listed(conn, wanted, looked, most)
    return [row.id for row in found], last if len(looked) == most else None


@dataclass(frozen=True, slots=True)
class ProductDocument:
    """``data`` is JSON."""

    id: UUID
    data: str
    published: bool
    updated_at: datetime


async def documents(
    conn: Connection, ids: Sequence[UUID]
) -> tuple[list[ProductDocument], Sequence[UUID]]:
    """The documents of the first products, as many as fit into `EXPORT_BYTES`, and the other
    ids."""
    rows = await conn.fetch(_sql.whole_products, list(ids), EXPORT_BYTES)
    # Products deleted meanwhile are in neither.
    last = ids.index(rows[-1]["id"]) + 1 if rows else len(ids)
    return [ProductDocument(**row) for row in rows], ids[last:]
