"""Edits of products by hand, and the prices that products had."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any
from uuid import UUID

from penstock.store.database import Connection, from_json, to_json
from penstock.store.queries import load

_sql = load("product_edits")
_products = load("products")
# Row number of a change that no row made.
_NO_ROW = 0


@dataclass(frozen=True, slots=True)
class ProductToEdit:
    id: UUID
    org_id: int
    source: str
    source_id: str
    version: int
    published: bool
    data: Mapping[str, Any]
    kept: frozenset[str]


@dataclass(frozen=True, slots=True)
class EditedProduct:
    """A product as it is after an edit."""

    gtin: str | None
    published: bool
    data: Mapping[str, Any]
    kept: Sequence[str]
    # Fields whose origin is removed, and the origin of others.
    forgotten: Sequence[str]
    lineage: Mapping[str, Any]


@dataclass(frozen=True, slots=True)
class ProductEdit:
    id: UUID
    changes: Sequence[Mapping[str, Any]]
    undone_at: datetime | None


async def lock_product(conn: Connection, product_id: UUID) -> ProductToEdit | None:
    row = await conn.fetchrow(_sql.lock_product, product_id)
    if row is None:
        return None
    return ProductToEdit(
        row["id"], row["org_id"], row["source"], row["source_id"], row["version"],
        row["published"], from_json(row["data"]), frozenset(row["kept_fields"] or ()),
    )  # fmt: skip


async def write_edit(
    conn: Connection, edit_id: UUID, user_id: int, before: ProductToEdit, after: EditedProduct,
    changes: Sequence[Mapping[str, Any]], undoes: UUID | None = None,
) -> int:  # fmt: skip
    """Write a locked product with its before-image, as a job does; answers its version."""
    [kept] = await conn.fetch(_products.keep_images, edit_id, [before.id], [_NO_ROW])
    version: int = kept["version"]
    await conn.execute(
        _sql.write_edit, before.id, after.gtin, after.published, to_json(after.data),
        list(after.forgotten), to_json(after.lineage), list(after.kept), version,
    )  # fmt: skip
    await conn.execute(
        _sql.add_edit, edit_id, before.org_id, before.id, user_id, to_json(list(changes)), undoes
    )
    return version


async def get_edit(conn: Connection, product_id: UUID, edit_id: UUID) -> ProductEdit | None:
    row = await conn.fetchrow(_sql.get_edit, edit_id, product_id)
    return (
        None if row is None else ProductEdit(row["id"], from_json(row["changes"]), row["undone_at"])
    )


async def mark_undone(conn: Connection, edit_id: UUID) -> None:
    await conn.execute(_sql.mark_edit_undone, edit_id)


async def kept_by_others(conn: Connection, product_id: UUID, edit_id: UUID) -> frozenset[str]:
    rows = await conn.fetch(_sql.kept_by_others, product_id, edit_id)
    return frozenset(row["field"] for row in rows)


@dataclass(frozen=True, slots=True)
class PricePoint:
    """The price of a product from a moment on; None: it had none."""

    at: datetime
    price: Mapping[str, Any] | None


async def price_points(conn: Connection, product_id: UUID, limit: int) -> list[PricePoint]:
    """The earliest first."""
    rows = await conn.fetch(_sql.price_points, product_id, limit)
    return [PricePoint(row["at"], from_json(row["price"])) for row in reversed(rows)]
