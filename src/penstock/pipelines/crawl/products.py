"""Fields of a page as a product of the catalog.

The fields become a row with fixed columns, which the code of files normalises: prices, units,
GTINs, texts and lineage are the same for both.
"""

from __future__ import annotations

from collections.abc import Mapping
from datetime import date
from decimal import Decimal
from functools import lru_cache
from hashlib import sha256
from typing import Any

import orjson

from penstock.catalog.products.grid import flatten
from penstock.catalog.products.normalise import normalise
from penstock.catalog.products.plan import Plan, compile_plan
from penstock.catalog.products.row import NormalisedRow
from penstock.catalog.products.validate import compile_validator
from penstock.catalog.profiles.profile import ColumnRule, Profile
from penstock.catalog.values.currencies import CODES, rates_on
from penstock.catalog.values.gtin import read_gtin
from penstock.model.effects import MAX_NAME_LENGTH
from penstock.model.errors import ItemError

# Rates of exchange: day, currency, worth.
RateTable = tuple[tuple[date, str, Decimal], ...]
_MAX_PROBLEMS = 50
_MAX_ATTRIBUTES = 200
# A field of the page, and the field of the product it fills; None: a custom field.
_COLUMNS: dict[str, str | None] = {
    "id": "sourceId",
    "name": "title",
    "brand": "brand",
    "description": "description",
    "breadcrumb": "category",
    "price": "price.amount",
    "currency": "price.currency",
    "availability": "availability.status",
    "sku": "identifiers.sku",
    "gtin": "identifiers.gtin",
    "mpn": "identifiers.mpn",
    "images": "images",
    "variants": "variants",
    "url": "metadata.url",
    "listPrice": None,
    "rating": None,
}
_HEADER = tuple(_COLUMNS)
_STATUS = {
    "InStock": "in stock",
    "OutOfStock": "out of stock",
    "LimitedAvailability": "limited",
    "PreOrder": "preorder",
    "BackOrder": "backorder",
}
_STATES = {
    "InStock": "in_stock",
    "OutOfStock": "out_of_stock",
    "LimitedAvailability": "limited",
    "PreOrder": "preorder",
    "BackOrder": "backorder",
}
# Cells that the grid of a run shows of a product.
SHOWN = ("title", "brand", "price", "currency", "availability", "sku", "gtin")


def source_of(company: str) -> str:
    """The source of products that were found on a company's pages."""
    return f"crawl:{company}"


@lru_cache(maxsize=256)
def _plan(source: str, base: str, rates: RateTable) -> Plan:
    newest = max((day for day, _, _ in rates), default=date.min)
    profile = Profile(
        "crawl",
        source=source,
        columns={name: ColumnRule(target) for name, target in _COLUMNS.items()},
        decimal="point",
        required=("sourceId", "title"),
        key="sourceId",
    )
    return compile_plan(_HEADER, profile, (), rates_on(newest, base, rates))


class PageProduct:
    """The document of a product: its checkpoint, its cells, and the first error, if any."""

    __slots__ = ("cells", "document", "error")

    def __init__(self, row: NormalisedRow, verdict: str) -> None:
        problems = [one.as_json() for one in row.problems[:_MAX_PROBLEMS]]
        self.document: dict[str, Any] = {
            "product": row.product, "lineage": row.lineage, "problems": problems,
        }  # fmt: skip
        self.cells: dict[str, Any] = flatten(row.product, SHOWN)
        wrong = (one for one in row.problems if one.severity == "error")
        first = None if verdict == "valid" else next(wrong)
        self.error = (
            None
            if first is None
            else ItemError(first.code, first.message, first.column, first.value)
        )


def product_of(
    fields: Mapping[str, Any], url: str, company: str, base: str, rates: RateTable,
    origins: Mapping[str, Any] | None = None,
) -> PageProduct:  # fmt: skip
    """Pure: the same fields always give the same document. ``origins`` are the sources of the
    fields in the page."""
    plan = _plan(source_of(company), base, rates)
    row = normalise(plan, _cells(fields, url))
    verdict = compile_validator(plan).check(row)
    _add_attributes(row.product, fields)
    _add_availability(row.product, fields)
    page = PageProduct(row, verdict)
    page.document["lineage"] = _with_origins(row.lineage, origins or {})
    _set_confidence(row.product, page.document["lineage"])
    return page


def _with_origins(lineage: Mapping[str, Any], origins: Mapping[str, Any]) -> dict[str, Any]:
    """Each field also says which part of the page it is from, and is as sure as that is."""
    told: dict[str, Any] = {}
    for target, (column, raw, rule, sure) in lineage.items():
        origin = origins.get(column)
        if origin is None:
            told[target] = (column, raw, rule, sure)
            continue
        known = min(float(sure), float(origin.get("confidence", 1.0)))
        told[target] = (f"{column} ({origin.get('source')})", raw, rule, round(known, 2))
    return told


def _set_confidence(product: dict[str, Any], lineage: Mapping[str, Any]) -> None:
    sure = [float(one[3]) for target, one in lineage.items() if target != "price.base"]
    if sure:
        product.setdefault("metadata", {})["confidence"] = round(sum(sure) / len(sure), 2)


def source_id_of(url: str) -> str:
    """The page's URL; the end of a long one is replaced by a hash."""
    if len(url) <= MAX_NAME_LENGTH:
        return url
    return f"{url[: MAX_NAME_LENGTH - 65]}#{sha256(url.encode()).hexdigest()}"


def _cells(fields: Mapping[str, Any], url: str) -> list[str]:
    gtin = fields.get("gtin")
    currency = fields.get("currency")
    told = dict(fields) | {
        "id": source_id_of(url),
        "url": url,
        "breadcrumb": " > ".join(map(str, fields.get("breadcrumb") or ())),
        "availability": _STATUS.get(str(fields.get("availability"))),
        "currency": currency if currency in CODES else None,
        "gtin": gtin if gtin and read_gtin(str(gtin)).value is not None else None,
        "images": _json(fields.get("images")),
        "variants": _json([_variant(one, currency) for one in _records(fields.get("variants"))]),
        "rating": _json(fields.get("rating")),
    }
    return ["" if told.get(name) is None else str(told[name]) for name in _HEADER]


def _records(value: Any) -> list[Mapping[str, Any]]:
    return [one for one in value or () if isinstance(one, Mapping)]


def _variant(variant: Mapping[str, Any], currency: Any) -> dict[str, Any]:
    """As `catalog.values.nested_variants` reads variants."""
    attributes = variant.get("attributes")
    named = attributes if isinstance(attributes, Mapping) else {}
    if not named and variant.get("name"):
        named = {"variant": variant["name"]}
    told = {
        "id": variant.get("id") or variant.get("sku"),
        "sku": variant.get("sku"),
        "gtin": variant.get("gtin"),
        "price": {
            "amount": variant.get("price"), "currency": variant.get("currency") or currency,
        },
        "selectedOptions": [{"name": name, "value": value} for name, value in named.items()],
    }  # fmt: skip
    return {name: value for name, value in told.items() if value is not None}


def _json(value: Any) -> str:
    return orjson.dumps(value).decode() if value else ""


def _add_attributes(product: dict[str, Any], fields: Mapping[str, Any]) -> None:
    """Attributes of the page are custom fields; a field of that name is not replaced."""
    attributes = fields.get("attributes")
    if not isinstance(attributes, Mapping) or not attributes:
        return
    custom = product.setdefault("specifications", {}).setdefault("customFields", {})
    for name, value in list(attributes.items())[:_MAX_ATTRIBUTES]:
        if isinstance(value, str | int | float) and not isinstance(value, bool):
            custom.setdefault(str(name)[:200], str(value)[:2000])


def _add_availability(product: dict[str, Any], fields: Mapping[str, Any]) -> None:
    """Variants have a state and no count."""
    states = {
        str(one.get("id") or one.get("sku")): _STATES.get(str(one.get("availability")))
        for one in _records(fields.get("variants"))
    }
    for variant in product.get("variants", ()):
        state = states.get(variant.get("sourceId", ""))
        if state is not None:
            variant.setdefault("availability", {})["status"] = state
