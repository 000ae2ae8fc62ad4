"""Flatten a nested record to named cells of text.

An object's members become columns ``price.amount``; a list is kept whole, as JSON.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from typing import Any

# Keys that products have, and other objects of an API answer do not.
IDENTITY = frozenset({
    "id", "sku", "title", "name", "handle", "gtin", "ean", "upc", "mpn", "slug", "code", "asin",
    "product_id", "productid", "item_id", "artikelnummer", "uniqueid", "ref", "reference",
    "part_number",
})  # fmt: skip
# Those that only goods have.
STRONG_IDENTITY = frozenset({
    "sku", "gtin", "gtin13", "gtin14", "ean", "ean13", "upc", "mpn", "asin", "artikelnummer",
    "part_number", "partnumber", "articlenumber", "itemnumber",
})  # fmt: skip
# Typical names of lists and elements of records.
RECORD_NAMES = frozenset({
    "items", "item", "products", "product", "data", "records", "record", "results", "result",
    "rows", "row", "entries", "entry", "list", "offers", "offer", "articles", "article",
    "artikel", "produkte", "produkt", "produits", "produit", "prodotti", "prodotto", "productos",
    "producto", "hits", "nodes", "edges", "values", "value", "shopitem", "catalog", "listings",
    "listing", "product_listings", "goods", "positions",
})  # fmt: skip
# Those among them that mean products.
GOODS = frozenset({
    "item", "product", "offer", "article", "artikel", "produkt", "produit", "prodotto", "producto",
    "shopitem", "listing",
})  # fmt: skip
VALUE = "value"


class Number(str):
    """A number as written in the document."""

    __slots__ = ()


def flattened(record: Any) -> dict[str, str]:
    cells: dict[str, str] = {}
    if isinstance(record, Mapping):
        for name, text in _cells(record, ""):
            cells[name] = text
    else:
        cells[VALUE] = text_of(record)
    return cells


def _cells(record: Mapping[str, Any], prefix: str) -> Iterator[tuple[str, str]]:
    for name, value in record.items():
        if isinstance(value, Mapping) and value:
            yield from _cells(value, f"{prefix}{name}.")
        else:
            yield prefix + name, text_of(value)


def text_of(value: Any) -> str:
    """A cell's text: strings as they are, lists as JSON."""
    match value:
        case str():
            return str(value)
        case None:
            return ""
        case bool():
            return "true" if value else "false"
    if not value:
        return ""
    return as_json(value)


def as_json(value: Any) -> str:
    """JSON with every number as it was written."""
    match value:
        case Number():
            return str(value)
        case str():
            return json.dumps(value, ensure_ascii=False)
        case Mapping():
            members = (
                f"{json.dumps(k, ensure_ascii=False)}:{as_json(v)}" for k, v in value.items()
            )
            return "{" + ",".join(members) + "}"
        case list():
            return "[" + ",".join(map(as_json, value)) + "]"
        case None:
            return "null"
    return "true" if value else "false"
