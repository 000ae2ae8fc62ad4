"""Variants of a product in a table: as rows of their own, or as numbered columns."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from penstock.catalog.products.grid import flatten, variant_text
from penstock.catalog.products.option_order import variants_in_order
from penstock.model.exports.variants import VariantShape

OPTION = "option:"
# Further variants are added to the last column, so that none is lost.
VARIANT_COLUMNS = 10
_NUMBERED = [f"Variant {place + 1}" for place in range(VARIANT_COLUMNS)]
# All variants in one cell, and the options of a variant if variants are rows.
_VARIANTS = "variants"
_OPTIONS = "variantOptions"


def shaped_columns(columns: Sequence[str], shape: VariantShape, *, are_chosen: bool) -> list[str]:
    """The columns of a table with variants in this shape. Columns that a person has chosen stay."""
    if shape == "text":
        return list(columns)
    kept = [name for name in columns if are_chosen or name != _VARIANTS]
    if shape == "columns":
        return [*kept, *_NUMBERED]
    return kept if are_chosen else [*kept, _OPTIONS]


def shaped_cells(
    product: Mapping[str, Any], columns: Sequence[str], shape: VariantShape
) -> list[dict[str, Any]]:
    """The cells of each line of a product, by column."""
    lines: list[dict[str, Any]] = []
    for one in variant_rows(product) if shape == "rows" else [product]:
        cells = flatten(one, columns)
        options = one.get(_OPTIONS)
        if options:
            cells[_OPTIONS] = "; ".join(f"{name}: {value}" for name, value in options.items())
            cells |= {name: option_of(one, name) for name in columns if name.startswith(OPTION)}
        if shape == "columns":
            cells |= dict(zip(_NUMBERED, variant_cells(one), strict=True))
        lines.append(cells)
    return lines


def variant_rows(product: Mapping[str, Any]) -> Iterator[Mapping[str, Any]]:
    """The product once per variant, with the values of the variant instead of its own; the product
    itself if it has none."""
    variants = _variants(product)
    if not variants:
        yield product
        return
    for variant in variants:
        shown = {name: value for name, value in product.items() if name != _VARIANTS}
        for name, value in variant.items():
            if name == "options":
                shown[_OPTIONS] = value
            elif isinstance(value, Mapping) and isinstance(shown.get(name), Mapping):
                shown[name] = {**shown[name], **value}
            elif name == "sku":
                shown["identifiers"] = {**(shown.get("identifiers") or {}), "sku": value}
            else:
                shown[name] = value
        yield shown


def _variants(product: Mapping[str, Any]) -> Sequence[Mapping[str, Any]]:
    found = product.get(_VARIANTS) or ()
    return variants_in_order([one for one in found if isinstance(one, Mapping)])


def option_of(row: Mapping[str, Any], column: str) -> str | None:
    """The value of `option:NAME`, capitals or not."""
    options = row.get(_OPTIONS)
    if not isinstance(options, Mapping):
        return None
    wanted = column.removeprefix(OPTION).lower()
    return next((str(value) for name, value in options.items() if name.lower() == wanted), None)


def variant_cells(product: Mapping[str, Any]) -> list[str | None]:
    """A text per variant, for numbered columns."""
    texts = [variant_text(one) for one in _variants(product)]
    if len(texts) > VARIANT_COLUMNS:
        texts[VARIANT_COLUMNS - 1 :] = ["; ".join(texts[VARIANT_COLUMNS - 1 :])]
    return [*texts, *[None] * (VARIANT_COLUMNS - len(texts))]
