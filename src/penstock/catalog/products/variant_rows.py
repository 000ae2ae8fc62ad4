"""Variants of a product in a table: as rows of their own, or as numbered columns."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

OPTION = "option:"
# Further variants are added to the last column, so that none is lost.
VARIANT_COLUMNS = 10


def variant_rows(product: Mapping[str, Any]) -> Iterator[Mapping[str, Any]]:
    """The product once per variant, with the values of the variant instead of its own; the product
    itself if it has none."""
    variants = [one for one in product.get("variants") or () if isinstance(one, Mapping)]
    if not variants:
        yield product
        return
    for variant in variants:
        shown = {name: value for name, value in product.items() if name != "variants"}
        for name, value in variant.items():
            if name == "options":
                shown["variantOptions"] = value
            elif isinstance(value, Mapping) and isinstance(shown.get(name), Mapping):
                shown[name] = {**shown[name], **value}
            elif name == "sku":
                shown["identifiers"] = {**(shown.get("identifiers") or {}), "sku": value}
            else:
                shown[name] = value
        yield shown


def option_of(row: Mapping[str, Any], column: str) -> str | None:
    """The value of `option:NAME`, capitals or not."""
    options = row.get("variantOptions")
    if not isinstance(options, Mapping):
        return None
    wanted = column.removeprefix(OPTION).lower()
    return next((str(value) for name, value in options.items() if name.lower() == wanted), None)


def variant_cells(product: Mapping[str, Any]) -> list[str | None]:
    """A text per variant, for numbered columns."""
    texts = [_text(one) for one in product.get("variants") or () if isinstance(one, Mapping)]
    if len(texts) > VARIANT_COLUMNS:
        texts[VARIANT_COLUMNS - 1 :] = ["; ".join(texts[VARIANT_COLUMNS - 1 :])]
    return [*texts, *[None] * (VARIANT_COLUMNS - len(texts))]


def _text(variant: Mapping[str, Any]) -> str:
    identifiers = variant.get("identifiers")
    sku = identifiers.get("sku") if isinstance(identifiers, Mapping) else variant.get("sku")
    options = variant.get("options")
    told: Sequence[str] = ()
    if isinstance(options, Mapping):
        told = [f"{name}: {value}" for name, value in options.items()]
    price = variant.get("price")
    amount = price.get("amount") if isinstance(price, Mapping) else None
    return ", ".join(str(one) for one in (sku, *told, amount) if one)
