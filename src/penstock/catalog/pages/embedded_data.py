"""Product data that scripts of the page carry: state of the framework, data layers, variables."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Any

import orjson

from penstock.catalog.pages.candidates import Candidates
from penstock.catalog.pages.html_tree import Page
from penstock.catalog.pages.locale import Locale
from penstock.catalog.pages.relaxed_json import NotJsonError, parse_at
from penstock.catalog.pages.schema_product import likeness
from penstock.catalog.pages.values import (
    absolute,
    read_amount,
    read_currency_code,
    read_gtin_text,
    read_identifier_text,
    read_line_text,
    read_status,
)

_SOURCE = "script"
MAX_SCRIPT = 3_000_000
# Bounds of one page: literals read, and objects looked at.
MAX_LITERALS = 200
MAX_OBJECTS = 60_000
_MAX_DEPTH = 25
_MAX_VARIANTS = 500

_ASSIGNED = re.compile(
    r"(?:[=(:]|return\s)\s{0,20}+(?=[{\[])|JSON\.parse\(\s{0,20}+(?P<quoted>[\"'])", re.IGNORECASE
)
_INTERESTING = re.compile(r"price|amount|sku|gtin|ean|availab|brand", re.IGNORECASE)
_NOT_LETTERS = re.compile(r"[^a-z0-9]")

# Keys without signs and in lower case, the surest first.
_NAMES = ("productname", "name", "itemname", "title", "producttitle", "displayname")
_PRICES = (
    "saleprice", "specialprice", "currentprice", "finalprice", "price", "priceamount", "unitprice",
    "productprice", "itemprice", "pricevalue", "offerprice", "actualprice", "sellingprice",
    "pricewithtax", "priceincltax", "value",
)  # fmt: skip
_LIST_PRICES = (
    "listprice", "oldprice", "originalprice", "regularprice", "compareatprice", "wasprice", "msrp",
    "rrp", "strikeprice", "basepricewithtax",
)  # fmt: skip
_CURRENCIES = ("currency", "currencycode", "pricecurrency", "currencyisocode", "currencyiso")
_SKUS = (
    "sku", "productsku", "itemsku", "articlenumber", "productcode", "partnumber", "itemid",
    "productid", "articleid", "itemnumber", "code", "id",
)  # fmt: skip
_WEAK_SKUS = frozenset(("itemid", "productid", "articleid", "code", "id"))
_GTINS = ("gtin13", "gtin", "ean", "ean13", "upc", "barcode", "gtin14", "gtin12", "isbn", "isbn13")
_MPNS = ("mpn", "manufacturerpartnumber", "manufacturernumber", "mfrpartnumber", "partno")
_BRANDS = ("brand", "brandname", "itembrand", "manufacturer", "manufacturername", "vendor")
_STATUSES = ("availability", "stockstatus", "availabilitystatus", "stockstate")
_FLAGS = ("instock", "isinstock", "available", "isavailable", "inventoryavailable", "soldout")


def add_embedded(
    found: Candidates, page: Page, titles: list[str], locale: Locale, url: str
) -> bool:
    """What scripts say of the product whose name is in the titles of the page. Returns whether
    they have its name and price."""
    best: tuple[float, dict[str, Any]] | None = None
    rest: list[dict[str, Any]] = []
    for node in _objects(page):
        keys = {_NOT_LETTERS.sub("", key.lower()): value for key, value in node.items()}
        name = _text(keys, _NAMES)
        if name is None or len(keys) < 2:
            continue
        fits = max((likeness(name, title) for title in titles[:3]), default=0.0)
        if fits < 0.6:
            continue
        known = sum(
            any(key in keys for key in group)
            for group in (_PRICES, _SKUS, _BRANDS, _GTINS, _CURRENCIES, _STATUSES, _FLAGS)
        )
        if known:
            rest.append(keys)
            score = fits + 0.25 * known
            if best is None or score > best[0]:
                best = (score, keys)
    if best is None:
        return False
    _add(found, best[1], locale, url, 1.0)
    for keys in rest[:10]:
        if keys is not best[1]:
            _add(found, keys, locale, url, 0.85)
    return any(key in best[1] for key in _PRICES[:-1])


def _add(found: Candidates, keys: dict[str, Any], locale: Locale, url: str, factor: float) -> None:
    currency = _text(keys, _CURRENCIES)
    code = None if currency is None else read_currency_code(currency, locale)
    price = _amount(keys, _PRICES, locale, code)
    if price is not None:
        found.add("price", price, _SOURCE, 0.55 * factor)
        found.add("listPrice", _amount(keys, _LIST_PRICES, locale, code), _SOURCE, 0.5 * factor)
    found.add("currency", code, _SOURCE, 0.7 * factor)
    for key in _SKUS:
        value = _text(keys, (key,))
        kept = None if value is None else read_identifier_text(value)
        if kept is not None:
            found.add("sku", kept, _SOURCE, (0.5 if key in _WEAK_SKUS else 0.65) * factor)
            break
    gtin = _text(keys, _GTINS)
    found.add("gtin", None if gtin is None else read_gtin_text(gtin), _SOURCE, 0.75 * factor)
    mpn = _text(keys, _MPNS)
    found.add("mpn", None if mpn is None else read_identifier_text(mpn), _SOURCE, 0.7 * factor)
    brand = _text(keys, _BRANDS)
    if brand is not None and len(brand) <= 60 and not brand.isdigit():
        found.add("brand", read_line_text(brand), _SOURCE, 0.7 * factor)
    found.add("availability", _status(keys), _SOURCE, 0.55 * factor)
    images = [
        one for one in _strings(keys.get("images") or keys.get("image")) if absolute(url, one)
    ]
    found.add("images", [absolute(url, one) for one in images][:30], _SOURCE, 0.5 * factor)
    _add_own_variant(found, keys.get("variants"), url, factor)
    variants = _variants(keys.get("variants"), locale, code)
    if len(variants) > 1:
        found.add("variants", variants, _SOURCE, 0.6 * factor)


def _add_own_variant(found: Candidates, variants: Any, url: str, factor: float) -> None:
    """Identifiers of the only variant, or of the one that the address names."""
    if not isinstance(variants, list):
        return
    known = [
        {_NOT_LETTERS.sub("", key.lower()): part for key, part in one.items()}
        for one in variants[:_MAX_VARIANTS]
        if isinstance(one, dict)
    ]
    asked = url.partition("?")[2].partition("#")[0].split("&")
    own = [one for one in known if f"variant={one.get('id')}" in asked]
    if len(known) != 1 and len(own) != 1:
        return
    keys = (own or known)[0]
    sku, gtin = _text(keys, ("sku",)), _text(keys, _GTINS)
    found.add("sku", None if sku is None else read_identifier_text(sku), _SOURCE, 0.65 * factor)
    found.add("gtin", None if gtin is None else read_gtin_text(gtin), _SOURCE, 0.75 * factor)


def _text(keys: dict[str, Any], names: tuple[str, ...]) -> str | None:
    for name in names:
        value = keys.get(name)
        if isinstance(value, dict):
            value = value.get("name") or value.get("value") or value.get("label")
        if isinstance(value, list) and value:
            value = value[0]
        if isinstance(value, (str, int, float)) and not isinstance(value, bool):
            text = str(value).strip()
            if text:
                return text[:1_000]
    return None


def _amount(
    keys: dict[str, Any], names: tuple[str, ...], locale: Locale, currency: str | None
) -> str | None:
    for name in names:
        value = keys.get(name)
        if isinstance(value, dict):
            inner = {_NOT_LETTERS.sub("", key.lower()): one for key, one in value.items()}
            text = _text(inner, ("value", "amount", "price", "current", "sale", "now", "raw"))
        else:
            text = _text(keys, (name,))
        if text is None or (name == "value" and not re.fullmatch(r"[0-9.,]+", text)):
            continue
        amount = read_amount(text, locale, currency)
        if amount is not None:
            return amount.amount
    return None


def _status(keys: dict[str, Any]) -> str | None:
    text = _text(keys, _STATUSES)
    if text is not None and (status := read_status(text)):
        return status
    for name in _FLAGS:
        value = keys.get(name)
        if isinstance(value, bool):
            return "InStock" if value != (name == "soldout") else "OutOfStock"
    return None


def _strings(value: Any) -> list[str]:
    if isinstance(value, str):
        return [value]
    if isinstance(value, list):
        inner = [
            one.get("url") or one.get("src") if isinstance(one, dict) else one for one in value
        ]
        return [one for one in inner if isinstance(one, str)]
    return []


def _variants(value: Any, locale: Locale, currency: str | None) -> list[dict[str, Any]]:
    if not isinstance(value, list):
        return []
    kept: list[dict[str, Any]] = []
    for one in value[:_MAX_VARIANTS]:
        if not isinstance(one, dict):
            continue
        keys = {_NOT_LETTERS.sub("", key.lower()): part for key, part in one.items()}
        gtin = _text(keys, _GTINS)
        variant = {
            "sku": _text(keys, ("sku", "id")),
            "gtin": None if gtin is None else read_gtin_text(gtin),
            "name": _text(keys, _NAMES),
            "availability": _status(keys),
        }
        kept.append({name: part for name, part in variant.items() if part})
    return [one for one in kept if one]


# Literals of scripts


def _objects(page: Page) -> Iterator[dict[str, Any]]:
    left = MAX_OBJECTS
    for value in _literals(page):
        for node in _walk(value, 0):
            left -= 1
            if left < 0:
                return
            yield node


def _walk(value: Any, depth: int) -> Iterator[dict[str, Any]]:
    if depth > _MAX_DEPTH:
        return
    if isinstance(value, dict):
        yield value
        for member in value.values():
            if isinstance(member, (dict, list)):
                yield from _walk(member, depth + 1)
    elif isinstance(value, list):
        for member in value[:2_000]:
            if isinstance(member, (dict, list)):
                yield from _walk(member, depth + 1)


def _literals(page: Page) -> Iterator[Any]:
    left = MAX_LITERALS
    for element in page.elements:
        if element.tag != "script":
            continue
        text = page.scripts.get(element.index, "")
        kind = element.get("type").lower()
        if len(text) > MAX_SCRIPT or "ld+json" in kind or not _INTERESTING.search(text):
            continue
        if "json" in kind:
            try:
                yield orjson.loads(text)
                continue
            except orjson.JSONDecodeError:
                pass
        for value in _assigned(text):
            left -= 1
            if left < 0:
                return
            yield value


def _assigned(text: str) -> Iterator[Any]:
    """Objects and arrays that a script assigns to a variable or passes to a function."""
    end = 0
    for found in _ASSIGNED.finditer(text):
        at = found.end()
        if at < end:
            continue
        if found["quoted"]:
            value, end = _quoted_json(text, at - 1, end)
        else:
            try:
                value, end = parse_at(text, at)
            except NotJsonError:
                continue
        if isinstance(value, (dict, list)) and value:
            yield value


def _quoted_json(text: str, at: int, end: int) -> tuple[Any, int]:
    """`JSON.parse("…")`: JSON inside of a literal text."""
    try:
        written, after = parse_at(text, at)
        return orjson.loads(written), after
    except (NotJsonError, orjson.JSONDecodeError, TypeError):
        return None, end
