"""Variants in the results of pipelines whose rows are products."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from penstock.catalog.products.grid import MATCH, flatten
from penstock.catalog.products.variant_rows import shaped_cells, shaped_columns
from penstock.model.exports.variants import VariantShape


class ProductVariants:
    """Implements `model.exports.variants.VariantTable`."""

    def columns(
        self, columns: Sequence[str], shape: VariantShape, *, are_chosen: bool
    ) -> list[str]:
        return shaped_columns(columns, shape, are_chosen=are_chosen)

    def rows(
        self, result: Mapping[str, Any], document: Mapping[str, Any] | None,
        columns: Sequence[str], shape: VariantShape,
    ) -> Sequence[Mapping[str, Any]]:  # fmt: skip
        if result.get(MATCH) == "part":
            return ()
        product = (document or {}).get("product")
        if not isinstance(product, Mapping) or not product.get("variants"):
            return [result]
        # Cells such as the match are those of the row, not of its product.
        own = flatten(product, [*columns, "variants"])
        kept = {name: value for name, value in result.items() if name not in own}
        return [{**kept, **cells} for cells in shaped_cells(product, columns, shape)]
