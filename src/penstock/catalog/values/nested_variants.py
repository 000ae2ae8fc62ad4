"""Variants inside the record of their product, as shop APIs return them."""

from __future__ import annotations

from functools import partial
from typing import Any

import orjson

from penstock.catalog.values.currencies import currency_of
from penstock.catalog.values.gtin import read_gtin, read_identifier
from penstock.catalog.values.numbers import read_count
from penstock.catalog.values.prices import PriceStyle, read_price
from penstock.catalog.values.result import EMPTY, NormalisedValue
from penstock.catalog.word_lists import words

MAX_VARIANTS = 1_000
MAX_LENGTH = 1_000_000

_PRICES = ("price", "regular_price", "amount", "prices")
_STOCKS = words("inventory_quantity stock_quantity stock quantity qty inventory")
_OPTIONS = ("color", "colour", "size", "material", "farbe", "größe")
_GTINS = words("barcode gtin ean upc global_unique_id")


def read_variants(raw: str) -> NormalisedValue:
    """A list of records, each with a SKU or a price; anything else is ignored."""
    text = raw.strip()
    if not text.startswith("[{") or not text.endswith("}]") or len(text) > MAX_LENGTH:
        return EMPTY
    try:
        records = orjson.loads(text)
    except orjson.JSONDecodeError:
        return EMPTY
    found = [_variant(_bare(one)) for one in records[:MAX_VARIANTS] if isinstance(one, dict)]
    kept = [one for one in found if "identifiers" in one or "price" in one]
    return NormalisedValue(kept, "variants_json") if kept else EMPTY


def _bare(record: dict[str, Any]) -> dict[str, Any]:
    """The record without the wrapper of GraphQL: `{"node": {…}}`."""
    inner = record.get("node")
    return inner if isinstance(inner, dict) else record


def _variant(record: dict[str, Any]) -> dict[str, Any]:
    made: dict[str, Any] = {"options": _options(record)}
    identifiers = {"sku": _value(read_identifier, record.get("sku"))}
    identifiers["gtin"] = next(
        (code for name in _GTINS if (code := _value(read_gtin, record.get(name)))), None
    )
    if any(identifiers.values()):
        made["identifiers"] = {name: one for name, one in identifiers.items() if one}
    price = _price(record)
    if price is not None:
        made["price"] = price
    counts = (_value(read_count, record.get(name)) for name in _STOCKS)
    quantity = next((count for count in counts if count is not None), None)
    if quantity is not None:
        status = "in_stock" if quantity else "out_of_stock"
        made["availability"] = {"status": status, "quantity": quantity}
    if record.get("id") is not None:
        made["sourceId"] = str(record["id"])
    return made


def _options(record: dict[str, Any]) -> dict[str, str]:
    options = {
        name.replace("option", "option "): str(record[name])
        for name in ("option1", "option2", "option3")
        if record.get(name) not in (None, "Default Title")
    }
    options |= {
        name: str(record[name])
        for name in _OPTIONS
        if isinstance(record.get(name), str | int | float) and record[name] != ""
    }
    chosen = record.get("selectedOptions") or record.get("options")
    for one in chosen if isinstance(chosen, list) else ():
        if isinstance(one, dict) and one.get("name") and one.get("value"):
            options[str(one["name"])] = str(one["value"])
    for one in record.get("attributes") or ():
        if isinstance(one, dict) and one.get("name") and one.get("option"):
            options[str(one["name"])] = str(one["option"])
    return options


def _price(record: dict[str, Any]) -> dict[str, Any] | None:
    for name in _PRICES:
        given = record.get(name)
        inside: Any = given if isinstance(given, dict) else {"amount": given}
        currency = currency_of(str(inside.get("currency") or inside.get("currency_code") or ""))
        style = PriceStyle("point", currency.currency if currency else None)
        read = _value(partial(read_price, style=style), inside.get("amount"))
        if read is not None and read.amount is not None:
            shown = {"amount": read.amount, "unit": "piece"}
            return shown | ({"currency": read.currency} if read.currency else {})
    return None


def _value(read: Any, given: Any) -> Any:
    """The value of a member, read like a cell; None for lists and records."""
    if given is None or isinstance(given, bool | list | dict):
        return None
    return read(str(given)).value
