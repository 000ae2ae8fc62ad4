"""Products of a source that a file does not contain, found by the names of its rows: listed with
the job, and unpublished on request."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from uuid import UUID

from penstock.model.effects import MAX_NAME_LENGTH
from penstock.store.database import Connection
from penstock.store.queries import load

_sql = load("missing")
_products = load("products")
AT_ONCE = 1000
_ROWS_AT_ONCE = 20_000
# Row number of a change that no row made.
_NO_ROW = 0


async def forget(conn: Connection, job_id: UUID) -> None:
    await conn.execute(_sql.forget_missing, job_id)


async def look_at_some(
    conn: Connection, org_id: int, job_id: UUID, source: str, after: str, *, unpublish: bool
) -> str | None:
    """Check the next products of the source; answers where to continue, None at the end."""
    page = await conn.fetch(
        _sql.page_of_source, job_id, org_id, source, after, AT_ONCE, MAX_NAME_LENGTH
    )
    absent = [row["source_id"] for row in page if row["absent"]]
    if absent and unpublish:
        await _take_off(conn, org_id, job_id, source, absent)
    if absent:
        await conn.execute(_sql.note_missing, job_id, org_id, source, absent)
    return page[-1]["source_id"] if len(page) == AT_ONCE else None


async def _take_off(
    conn: Connection, org_id: int, job_id: UUID, source: str, absent: Sequence[str]
) -> None:
    locked = [row["id"] for row in await conn.fetch(_sql.lock_absent, org_id, source, absent)]
    if locked:
        await conn.execute(_products.keep_images, job_id, locked, [_NO_ROW] * len(locked))
        await conn.execute(_sql.unpublish, job_id, locked)


async def counts(conn: Connection, job_id: UUID) -> tuple[int, int]:
    """The number of missing products, and of those that are unpublished."""
    row = await conn.fetchrow(_sql.count_missing, job_id)
    assert row is not None
    return row["missing"], row["unpublished"]


@dataclass(frozen=True, slots=True)
class MissingProduct:
    """A product of the source that the file of the job does not contain."""

    source_id: str
    product_id: UUID
    sku: str | None
    gtin: str | None
    title: str | None
    unpublished: bool


async def page_of_missing(
    conn: Connection, job_id: UUID, after: str, most: int
) -> list[MissingProduct]:
    rows = await conn.fetch(_sql.list_missing, job_id, after, most)
    return [MissingProduct(**row) for row in rows]


async def unnamed_rows(conn: Connection, job_id: UUID, total: int) -> int:
    """In ranges, so that no statement takes long over a large job."""
    found = 0
    for start in range(0, total, _ROWS_AT_ONCE):
        found += await conn.fetchval(_sql.unnamed_rows, job_id, start, start + _ROWS_AT_ONCE)
    return found
