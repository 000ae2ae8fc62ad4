"""The catalog as a file, written while it is read: for the API and the command line."""

from __future__ import annotations

from collections.abc import AsyncGenerator, Iterable, Sequence
from dataclasses import dataclass, replace
from uuid import UUID

from penstock.api.catalog.shop_writers import ShopWriter
from penstock.app.exports import OpenConnection, in_export_thread
from penstock.catalog.products.grid import ALL_COLUMNS, AMOUNTS, SECTIONS
from penstock.catalog.products.variant_rows import shaped_cells, shaped_columns
from penstock.model.export import ExportRow, RowWriter
from penstock.model.exports.templates import ExportTemplate
from penstock.model.exports.variants import VariantShape
from penstock.store.catalog import catalog
from penstock.store.catalog.catalog import ProductDocument
from penstock.store.database import from_json

PAGE_PRODUCTS = 1000
_ABOUT = ("status", "updatedAt")
# Formats in which a product is a nested document; in the others it is a row of cells.
_DOCUMENTS = frozenset({"json", "ndjson"})


@dataclass(frozen=True, slots=True)
class _Layout:
    """Which values of a product go into which columns. ``is_nested``: documents with their
    parts."""

    columns: Sequence[str]
    names: Sequence[str]
    amounts: frozenset[str]
    variants: VariantShape = "text"
    is_nested: bool = False


def _layout(
    kind: type[RowWriter], template: ExportTemplate | None, variants: VariantShape | None
) -> _Layout:
    # Files of shop systems have columns of their own.
    is_shop = issubclass(kind, ShopWriter)
    if template is None or is_shop:
        is_nested = is_shop or (kind.extension in _DOCUMENTS and variants is None)
        columns = [*(SECTIONS if is_nested else ALL_COLUMNS), *_ABOUT]
        shape: VariantShape = "text" if is_shop or variants is None else variants
        layout = _Layout(columns, columns, frozenset(AMOUNTS), shape, is_nested)
    else:
        layout = _Layout(
            template.sources, template.names, template.amounts(AMOUNTS),
            variants or template.variants,
        )  # fmt: skip
    is_chosen = template is not None and not is_shop
    columns = shaped_columns(layout.columns, layout.variants, are_chosen=is_chosen)
    names = [*layout.names, *columns[len(layout.names) :]] if is_chosen else columns
    return replace(layout, columns=columns, names=names)


async def catalog_pieces(
    opened: OpenConnection, wanted: catalog.ProductFilter, kind: type[RowWriter],
    template: ExportTemplate | None = None, variants: VariantShape | None = None,
) -> AsyncGenerator[bytes, None]:  # fmt: skip
    """Read in short transactions, page by page. A product that changes meanwhile is exported once,
    as it is when it is read."""
    layout = _layout(kind, template, variants)
    writer = kind(layout.names, layout.amounts)
    yield writer.head()
    after: catalog.ExportCursor | None = None
    while True:
        async with opened() as conn:
            ids, after = await catalog.next_ids(conn, wanted, after, PAGE_PRODUCTS)
        left: Sequence[UUID] = ids
        while left:
            async with opened() as conn:
                rows, left = await catalog.documents(conn, left)
            yield await in_export_thread(_page, writer, layout, rows)
        if after is None:
            break
    yield await in_export_thread(writer.end)


def _page(writer: RowWriter, layout: _Layout, rows: Iterable[ProductDocument]) -> bytes:
    return writer.page(line for row in rows for line in _lines(row, layout))


def _lines(row: ProductDocument, layout: _Layout) -> Iterable[ExportRow]:
    product = from_json(row.data)
    about = {
        "status": "published" if row.published else "unpublished",
        "updatedAt": row.updated_at.isoformat(),
    }
    shown = (
        [product] if layout.is_nested else shaped_cells(product, layout.columns, layout.variants)
    )
    for one in shown:
        cells = {**one, **about}
        yield ExportRow([cells.get(column) for column in layout.columns])
