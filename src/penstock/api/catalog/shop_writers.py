"""Write the catalog in the formats that shop systems import."""

from __future__ import annotations

import csv
import io
from collections.abc import Collection, Iterable, Sequence
from typing import Any, ClassVar

from penstock.catalog.shop_files.registry import SHOP_FILES
from penstock.catalog.shop_files.shop_file import ShopFile, columns_of
from penstock.formats.writing.registry import FORMATS
from penstock.formats.writing.text_formats import safe_cell
from penstock.model.errors import BadInput
from penstock.model.export import ExportRow, RowWriter


class ShopWriter:
    """A `RowWriter` of whole products, whose cells are their sections. The header is written with
    the first products, which it may depend on."""

    media_type = "text/csv; charset=utf-8"
    extension = "csv"
    marks = False
    shop: ClassVar[ShopFile]

    def __init__(self, columns: Sequence[str], amounts: Collection[str] = ()) -> None:
        self._sections = columns
        self._columns: list[str] = []

    def head(self) -> bytes:
        return b""

    def page(self, rows: Iterable[ExportRow]) -> bytes:
        products = [self._product(row) for row in rows]
        lines: list[Sequence[Any]] = []
        if not self._columns:
            self._columns = columns_of(self.shop, products)
            lines.append(self._columns)
        for product in products:
            lines += [
                [line.get(name) for name in self._columns] for line in self.shop.lines(product)
            ]
        return self._encoded(lines)

    def end(self) -> bytes:
        return b"" if self._columns else self._encoded([columns_of(self.shop, ())])

    def _product(self, row: ExportRow) -> dict[str, Any]:
        given = zip(self._sections, row.cells, strict=True)
        product = {name: value for name, value in given if value is not None}
        # The state in the catalog, which an undo or a missing product may have changed since.
        return {**product, "published": product.pop("status", "published") == "published"}

    def _encoded(self, lines: Iterable[Sequence[Any]]) -> bytes:
        text = io.StringIO()
        writer = csv.writer(text, delimiter=self.shop.delimiter, lineterminator="\r\n")
        writer.writerows(map(safe_cell, line) for line in lines)
        return text.getvalue().encode()


SHOP_WRITERS: dict[str, type[ShopWriter]] = {
    name: type(f"{name.title().replace('-', '')}Writer", (ShopWriter,), {"shop": one})
    for name, one in SHOP_FILES.items()
}
PRODUCT_FORMATS: dict[str, type[RowWriter]] = {**FORMATS, **SHOP_WRITERS}


def products_as(format_name: str) -> type[RowWriter]:
    """The writer of a format of the catalog: a general one, or that of a shop system."""
    found = PRODUCT_FORMATS.get(format_name)
    if found is None:
        raise BadInput(
            "INVALID_PARAMETERS",
            f"There is no export as {format_name!r}. Supported: {', '.join(PRODUCT_FORMATS)}.",
            supported=list(PRODUCT_FORMATS),
        )
    return found
