"""What a row asks for, and its queries from the most certain variant to the least."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, NamedTuple

from penstock.catalog.lookup.words import strict_words
from penstock.catalog.products.matching import identifiers_of

_MAX_TEXT_LENGTH = 200


class WantedProduct(NamedTuple):
    """What is known of the product that is looked up. ``gtin`` has 14 digits, ``maker`` is brand
    and part number as the catalog's index has them."""

    gtin: str | None = None
    mpn: str | None = None
    sku: str | None = None
    brand: str | None = None
    title: str | None = None
    maker: str | None = None

    def as_json(self) -> dict[str, str]:
        return {name: one for name, one in zip(self._fields, self, strict=True) if one is not None}

    @staticmethod
    def of_json(told: Mapping[str, Any]) -> WantedProduct:
        return WantedProduct(**{name: told.get(name) for name in WantedProduct._fields})


def wanted_of(product: Mapping[str, Any]) -> WantedProduct:
    """What a normalised product says about its identity."""
    names, identifiers = product.get("identifiers", {}), identifiers_of(product)
    sku = names.get("sku")
    if sku is None and product.get("sourceId") not in (names.get("gtin"), names.get("mpn")):
        sku = product.get("sourceId")
    return WantedProduct(
        identifiers.gtin, names.get("mpn"), sku, product.get("brand"), product.get("title"),
        identifiers.maker,
    )  # fmt: skip


def queries_of(wanted: WantedProduct) -> dict[str, str]:
    """The text of each variant that the row can be searched by, in the order of `VARIANTS`."""
    queries: dict[str, str | None] = {
        "gtin": wanted.gtin,
        "mpnBrand": None if wanted.maker is None else f"{wanted.brand} {wanted.mpn}",
        "sku": wanted.sku,
    }
    if wanted.title and strict_words(wanted.title):
        queries["brandTitle"] = f"{wanted.brand} {wanted.title}" if wanted.brand else None
        queries["title"] = wanted.title
    return {name: text[:_MAX_TEXT_LENGTH] for name, text in queries.items() if text}
