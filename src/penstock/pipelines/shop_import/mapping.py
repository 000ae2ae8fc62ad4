"""The stage `map`: a shop's product as a product of the catalog.

A product becomes a row of cells with fixed columns, which the code of files normalises: prices,
units, GTINs, texts and lineage are the same for both.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from datetime import date
from decimal import Decimal
from functools import lru_cache
from typing import Any

import orjson

from penstock.catalog.products.grid import MATCH, flatten, grid_columns
from penstock.catalog.products.normalise import normalise
from penstock.catalog.products.plan import Plan, compile_plan
from penstock.catalog.products.row import NormalisedRow
from penstock.catalog.products.validate import compile_validator
from penstock.catalog.profiles.profile import ColumnRule, Profile
from penstock.catalog.values.currencies import CODES, rates_on
from penstock.catalog.values.gtin import read_gtin
from penstock.model.shops.products import ShopProduct, ShopVariant

# Rates of exchange: day, currency, worth.
RateTable = tuple[tuple[date, str, Decimal], ...]
_MAX_PROBLEMS = 50
# A column of the shop's product, and the field it fills; None: a custom field.
_COLUMNS: dict[str, str | None] = {
    "id": "sourceId",
    "title": "title",
    "description": "description",
    "vendor": "brand",
    "category": "category",
    "images": "images",
    "variants": "variants",
    "variants[0].price": "price.amount",
    "currency": "price.currency",
    "variants[0].sku": "identifiers.sku",
    "variants[0].barcode": "identifiers.gtin",
    "variants[0].stock": "availability.quantity",
    "variants[0].stockStatus": "availability.status",
    "variants[0].weight": "specifications.weight",
    "variants[0].weightUnit": "specifications.weight.unit",
    "variants[0].length": "specifications.dimensions.length",
    "variants[0].width": "specifications.dimensions.width",
    "variants[0].height": "specifications.dimensions.height",
    "variants[0].dimensionUnit": "specifications.dimensions.unit",
    "url": "metadata.url",
    "updatedAt": "metadata.lastUpdated",
    "tags": "metadata.tags",
    "handle": None,
    "productType": None,
    "status": None,
    "variants[0].compareAtPrice": None,
    # A barcode that is no GTIN.
    "barcode": None,
}
_HEADER = tuple(_COLUMNS)
_STOCK = {"in_stock": "in stock", "out_of_stock": "out of stock", "backorder": "backorder"}
KIND = "kind"
COLUMNS = (
    KIND,
    *(
        name
        for name in grid_columns(
            [target for target in _COLUMNS.values() if target], [], converts=True
        )
        if name != MATCH
    ),
    MATCH,
)


@lru_cache(maxsize=64)
def _plan(source: str, currency: str | None, base: str, rates: RateTable) -> Plan:
    newest = max((day for day, _, _ in rates), default=date.min)
    profile = Profile(
        "shop",
        source=source,
        columns={name: ColumnRule(target) for name, target in _COLUMNS.items()},
        decimal="point",
        currency=currency,
        required=("sourceId", "title"),
        key="sourceId",
    )
    return compile_plan(_HEADER, profile, (), rates_on(newest, base, rates))


class MappedProduct:
    """The document of a product: its checkpoint, its cells, and the first error, if any."""

    __slots__ = ("cells", "document", "error")

    def __init__(self, row: NormalisedRow, verdict: str) -> None:
        problems = [one.as_json() for one in row.problems[:_MAX_PROBLEMS]]
        self.document: dict[str, Any] = {
            "product": row.product, "lineage": row.lineage, "problems": problems,
        }  # fmt: skip
        self.cells: dict[str, Any] = {KIND: "product", **flatten(row.product, COLUMNS[1:])}
        wrong = (one for one in row.problems if one.severity == "error")
        self.error = None if verdict == "valid" else next(wrong)


def map_product(shop: ShopProduct, source: str, base: str, rates: RateTable) -> MappedProduct:
    """Pure: the same product always gives the same document."""
    currency = shop.currency if shop.currency in CODES else None
    plan = _plan(source, currency, base, rates)
    row = normalise(plan, _cells(shop))
    verdict = compile_validator(plan).check(row)
    _add_details(row.product, shop)
    return MappedProduct(row, verdict)


def _cells(shop: ShopProduct) -> list[str]:
    first = shop.variants[0] if shop.variants else ShopVariant("")
    sides = first.dimensions
    barcode = first.barcode or ""
    is_gtin = read_gtin(barcode).value is not None
    cells: Mapping[str, Any] = {
        "id": shop.id,
        "title": shop.title,
        "description": shop.description,
        "vendor": shop.vendor,
        "category": " > ".join(shop.categories) or shop.product_type,
        "images": _json([image.url for image in _pictures(shop)]),
        "variants": _json([_variant(one, shop) for one in shop.variants]),
        "variants[0].price": None if first.price is None else format(first.price, "f"),
        "currency": shop.currency if shop.currency in CODES else None,
        "variants[0].sku": first.sku,
        "variants[0].barcode": barcode if is_gtin else None,
        "barcode": None if is_gtin else barcode,
        "variants[0].stock": None if first.stock is None else max(0, first.stock),
        "variants[0].stockStatus": _STOCK.get(first.stock_status or ""),
        "variants[0].weight": _positive(first.weight),
        "variants[0].weightUnit": first.weight_unit if _positive(first.weight) else None,
        "variants[0].length": sides.get("length"),
        "variants[0].width": sides.get("width"),
        "variants[0].height": sides.get("height"),
        "variants[0].dimensionUnit": first.dimension_unit if sides else None,
        "url": shop.url,
        "updatedAt": None if shop.updated_at is None else shop.updated_at.isoformat(),
        "tags": ", ".join(shop.tags),
        "handle": shop.handle,
        "productType": shop.product_type,
        "status": shop.status,
        "variants[0].compareAtPrice": first.compare_at_price,
    }
    return ["" if cells[name] is None else str(cells[name]) for name in _HEADER]


def _pictures(shop: ShopProduct) -> list[Any]:
    return sorted(shop.images, key=lambda image: image.position)


def _json(values: Sequence[Any]) -> str:
    return orjson.dumps(values).decode() if values else ""


def _positive(value: Decimal | None) -> str | None:
    return None if not value or value < 0 else format(value, "f")


def _variant(variant: ShopVariant, shop: ShopProduct) -> dict[str, Any]:
    """As `catalog.values.nested_variants` reads variants of shops."""
    price = None if variant.price is None else format(variant.price, "f")
    return {
        "id": variant.id,
        "sku": variant.sku,
        "barcode": variant.barcode,
        "price": {"amount": price, "currency": shop.currency},
        "stock": None if variant.stock is None else max(0, variant.stock),
        "selectedOptions": [
            {"name": name, "value": value} for name, value in variant.options.items()
        ],
    }


def _add_details(product: dict[str, Any], shop: ShopProduct) -> None:
    """What cells cannot say: texts of the pictures, and states of variants without a count."""
    texts = {image.url: image.alt for image in shop.images if image.alt}
    for image in product.get("images", ()):
        if image["url"] in texts:
            image["alt"] = texts[image["url"]]
    known = {one.id: one for one in shop.variants}
    for variant in product.get("variants", ()):
        told = known.get(variant.get("sourceId", ""))
        if told is None:
            continue
        if told.stock_status is not None:
            variant.setdefault("availability", {})["status"] = told.stock_status
        if told.image_url is not None:
            variant["image"] = told.image_url
