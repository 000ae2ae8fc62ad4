"""The catalog as a file, written while it is read: for the API and the command line alike."""

from __future__ import annotations

from collections.abc import AsyncGenerator, Iterable, Sequence
from typing import Any
from uuid import UUID

from penstock.api.catalog.shop_writers import ShopWriter
from penstock.app.exports import OpenConnection, in_export_thread
from penstock.catalog.products.grid import ALL_COLUMNS, AMOUNTS, SECTIONS, flatten
from penstock.model.export import ExportRow, RowWriter
from penstock.store.catalog import catalog
from penstock.store.database import from_json

PAGE_PRODUCTS = 1000
_ABOUT = ("status", "updatedAt")
# In these a product is a document, with its parts as they are; elsewhere it is a line of cells.
_DOCUMENTS = frozenset({"json", "ndjson"})


async def catalog_pieces(
    opened: OpenConnection, wanted: catalog.ProductFilter, kind: type[RowWriter]
) -> AsyncGenerator[bytes, None]:
    """In short transactions, page by page; what changes meanwhile is there once, as it is then."""
    nested = kind.extension in _DOCUMENTS or issubclass(kind, ShopWriter)
    columns = SECTIONS if nested else ALL_COLUMNS
    writer = kind([*columns, *_ABOUT], AMOUNTS)
    yield writer.head()
    after: Any = None
    while True:
        async with opened() as conn:
            ids, after = await catalog.next_ids(conn, wanted, after, PAGE_PRODUCTS)
        left: Sequence[UUID] = ids
        while left:
            async with opened() as conn:
                rows, left = await catalog.whole(conn, left)
            yield await in_export_thread(_page, writer, columns, nested, rows)
        if after is None:
            break
    yield await in_export_thread(writer.end)


def _page(writer: RowWriter, columns: Sequence[str], nested: bool, rows: Iterable[Any]) -> bytes:
    return writer.page(_line(row, columns, nested) for row in rows)


def _line(row: Any, columns: Sequence[str], nested: bool) -> ExportRow:
    product = from_json(row["data"])
    cells = product if nested else flatten(product, columns)
    status = "published" if row["published"] else "unpublished"
    about = (status, row["updated_at"].isoformat())
    return ExportRow([*(cells.get(column) for column in columns), *about])
