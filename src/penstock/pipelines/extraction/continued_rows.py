"""Rows of Magento that continue the product above them.

An export of Magento 1 has further rows below a product, without a SKU: its other pictures and
variants, and its texts in other languages (with a `_store`). What they add is put into the row of
the product. An export of Magento 2 has the texts of other store views in rows with the SKU again
and a `store_view_code`; they are not the product's. The rows themselves stay, without content, so
that rows keep their numbers.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from penstock.catalog.mapping.synonyms import platform_of
from penstock.formats.tables import Piece, TableChunk

_SKU, _STORE, _STORE_VIEW = "sku", "_store", "store_view_code"
# Columns whose further values are added; of others the first value counts.
_LISTS = frozenset(("_super_products_sku", "_media_image"))
# The SKU of a variant, and the name and value of one of its options.
_VARIANTS = ("_super_products_sku", "_super_attribute_code", "_super_attribute_option")


def continues_rows(names: Sequence[str]) -> bool:
    """Whether these are the columns of Magento."""
    if _SKU not in names:
        return False
    return _STORE_VIEW in names or (_STORE in names and platform_of(names) == "magento1")


def with_complete_products(
    pieces: Iterator[Piece], names: Sequence[str], *, resumed: bool
) -> Iterator[Piece]:
    """The pieces, each held back until the next one is read, since that may begin with rows that
    continue its last product. ``resumed``: the product of the first rows was read before."""
    products = (_StoreViews if _STORE_VIEW in names else _Products)(names, resumed)
    held: Piece | None = None
    for piece in pieces:
        if isinstance(piece, TableChunk):
            products.complete(piece.rows)
        if held is not None:
            yield held
        held = piece
    if held is not None:
        yield held


class _Products:
    def __init__(self, names: Sequence[str], resumed: bool) -> None:
        self._sku, self._store = names.index(_SKU), names.index(_STORE)
        self._lists = [index for index, name in enumerate(names) if name in _LISTS]
        self._variants = (
            [names.index(name) for name in _VARIANTS] if set(_VARIANTS) <= set(names) else None
        )
        self._options: dict[str, dict[str, str]] = {}
        self._last: list[str] | None = None
        self._begun = resumed

    def complete(self, rows: Sequence[list[str]]) -> None:
        for row in rows:
            if _cell(row, self._sku):
                self._options = {}
                self._last, self._begun = row, True
                self._list_variant(row, row)
            elif self._begun:
                if self._last is not None and not _cell(row, self._store):
                    listed = self._listed(self._last)
                    self._add(self._last, row)
                    self._list_variant(self._last, row, listed)
                row[:] = [""] * len(row)

    def _listed(self, row: Sequence[str]) -> str:
        return _cell(row, self._variants[0]) if self._variants else ""

    def _list_variant(self, product: list[str], row: Sequence[str], listed: str = "") -> None:
        """Write the variants of the product as Magento 2 does: `sku=A,color=red|sku=B,color=blue`.
        A variant has a row for each of its options."""
        if self._variants is None:
            return
        sku, name, value = (_cell(row, index) for index in self._variants)
        if not (sku and name and value) or (listed and not self._options):
            return
        self._options.setdefault(sku, {})[name] = value
        product[self._variants[0]] = "|".join(
            ",".join([f"sku={one}", *(f"{key}={option}" for key, option in options.items())])
            for one, options in self._options.items()
        )

    def _add(self, product: list[str], row: Sequence[str]) -> None:
        product += [""] * (len(row) - len(product))
        for index, cell in enumerate(row):
            if not cell.strip():
                continue
            if not product[index].strip():
                product[index] = cell
            elif index in self._lists:
                product[index] = f"{product[index]},{cell}"


class _StoreViews:
    """Empties the rows of store views below the product that they belong to. A file of one store
    view only has no other rows, so its rows stay."""

    def __init__(self, names: Sequence[str], resumed: bool) -> None:
        self._sku, self._view = names.index(_SKU), names.index(_STORE_VIEW)
        self._last: str | None = None
        # The product of the first rows was read before.
        self._resumed = resumed

    def complete(self, rows: Sequence[list[str]]) -> None:
        for row in rows:
            if not _cell(row, self._view):
                self._last, self._resumed = _cell(row, self._sku), False
            elif self._resumed or _cell(row, self._sku) in ("", self._last):
                row[:] = [""] * len(row)


def _cell(row: Sequence[str], index: int) -> str:
    return row[index].strip() if index < len(row) else ""
