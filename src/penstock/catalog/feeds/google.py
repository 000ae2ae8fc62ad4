"""Products as offers of Google Merchant Center, by the rules of its product data specification.

An offer without a required attribute would be refused there, so it is left out and counted here.
Texts that are too long are cut; attributes that are optional and not valid are left out.
"""

from __future__ import annotations

import csv
import io
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from decimal import Decimal, InvalidOperation
from hashlib import sha256
from typing import Any, Literal
from urllib.parse import quote, urlsplit
from xml.sax.saxutils import escape

from penstock.catalog.values.gtin import is_valid

Kind = Literal["xml", "csv"]
Reason = Literal[
    "NO_TITLE", "NO_LINK", "NO_IMAGE", "NO_PRICE", "NO_CURRENCY", "NO_AVAILABILITY",
]  # fmt: skip
COLUMNS = (
    "id", "title", "description", "link", "image_link", "additional_image_link", "availability",
    "availability_date", "price", "brand", "gtin", "mpn", "identifier_exists", "condition",
    "product_type", "shipping_weight",
)  # fmt: skip
# Characters that an attribute may have.
_MOST = {
    "id": 50, "title": 150, "description": 5000, "link": 2000, "image_link": 2000, "brand": 70,
    "mpn": 70, "product_type": 750,
}  # fmt: skip
_MOST_IMAGES = 10
_AVAILABILITY = {
    "in_stock": "in_stock", "limited": "in_stock", "out_of_stock": "out_of_stock",
    "preorder": "preorder", "backorder": "backorder", "discontinued": "out_of_stock",
}  # fmt: skip
_WEIGHTS = {"g": "g", "kg": "kg", "lb": "lb", "oz": "oz"}
_MOST_PRICE = Decimal(10) ** 12
_NAMESPACE = "http://base.google.com/ns/1.0"


@dataclass(frozen=True, slots=True)
class FeedOptions:
    """``link`` is a template for products without a page of their own: `{sku}`, `{gtin}` and
    `{id}` are replaced. ``availability`` is that of products that say nothing."""

    title: str = "Products"
    site: str = "https://example.com/"
    link: str = ""
    condition: str = "new"
    availability: str = ""


Offer = Mapping[str, str | Sequence[str]]


def offer_of(product: Mapping[str, Any], options: FeedOptions) -> Offer | Reason:
    """The offer, or the reason why there is none."""
    names = _section(product, "identifiers")
    title = _text(product.get("title"), "title")
    if not title:
        return "NO_TITLE"
    offer_id = _offer_id(product, names)
    link = _link(product, names, offer_id, options)
    if not link:
        return "NO_LINK"
    images = _images(product)
    if not images:
        return "NO_IMAGE"
    stock = _section(product, "availability")
    availability = _AVAILABILITY.get(str(stock.get("status") or options.availability), "")
    if not availability:
        return "NO_AVAILABILITY"
    price = _price(_section(product, "price"))
    if price in ("NO_PRICE", "NO_CURRENCY"):
        return price  # type: ignore[return-value]
    given: dict[str, str | Sequence[str]] = {
        "id": offer_id,
        "title": title,
        "description": _text(product.get("description"), "description") or title,
        "link": link,
        "image_link": images[0],
        "additional_image_link": images[1 : 1 + _MOST_IMAGES],
        "availability": availability,
        "availability_date": _date(stock, availability),
        "price": price,
        **_identity(product, names),
        "condition": options.condition,
        "product_type": _text(product.get("category"), "product_type"),
        "shipping_weight": _weight(product),
    }
    return {name: value for name, value in given.items() if value}


def _section(product: Mapping[str, Any], name: str) -> Mapping[str, Any]:
    found = product.get(name)
    return found if isinstance(found, Mapping) else {}


def _text(value: Any, attribute: str) -> str:
    """One line without control characters, cut to what is allowed."""
    text = " ".join(str(value or "").split())
    # XML cannot contain these at all.
    clean = "".join(c for c in text if c >= " " and not "\ud800" <= c <= "\udfff" and c < "\ufffe")
    return clean[: _MOST[attribute]].strip()


def _offer_id(product: Mapping[str, Any], names: Mapping[str, Any]) -> str:
    given = str(names.get("sku") or product.get("id") or "")
    text = " ".join(given.split())
    if text and len(text) <= _MOST["id"] and _text(given, "id") == text:
        return text
    return sha256(given.encode("utf-8", "surrogatepass")).hexdigest()[: _MOST["id"]]


def _link(
    product: Mapping[str, Any], names: Mapping[str, Any], offer_id: str, options: FeedOptions
) -> str:
    own = _url(_section(product, "metadata").get("url"))
    if own or not options.link:
        return own
    filled = options.link
    for name, value in (
        ("sku", names.get("sku")), ("gtin", names.get("gtin")), ("id", offer_id),
    ):  # fmt: skip
        if f"{{{name}}}" in filled:
            if not value:
                return ""
            filled = filled.replace(f"{{{name}}}", quote(str(value), safe=""))
    return _url(filled)


def _url(value: Any) -> str:
    text = str(value or "").strip()
    try:
        parts = urlsplit(text)
        known = parts.scheme in ("http", "https") and parts.hostname
    except ValueError:
        return ""
    plain = text.isprintable() and " " not in text and len(text) <= _MOST["link"]
    return text if known and plain else ""


def _images(product: Mapping[str, Any]) -> list[str]:
    found = product.get("images")
    listed = found if isinstance(found, list) else []
    urls = (_url(one.get("url") if isinstance(one, Mapping) else one) for one in listed)
    return [one for one in dict.fromkeys(urls) if one]


def _price(price: Mapping[str, Any]) -> str:
    try:
        amount = Decimal(str(price.get("amount")))
    except InvalidOperation:
        return "NO_PRICE"
    if not amount.is_finite() or not 0 < amount < _MOST_PRICE:
        return "NO_PRICE"
    currency = str(price.get("currency") or "")
    if len(currency) != 3 or not (currency.isascii() and currency.isupper()):
        return "NO_CURRENCY"
    return f"{amount.quantize(Decimal('0.01'))} {currency}"


def _identity(product: Mapping[str, Any], names: Mapping[str, Any]) -> dict[str, str]:
    """GTIN, or brand and part number; an offer with neither says so."""
    gtin = str(names.get("gtin") or "")
    gtin = gtin if gtin.isascii() and gtin.isdigit() and is_valid(gtin) else ""
    brand, mpn = _text(product.get("brand"), "brand"), _text(names.get("mpn"), "mpn")
    exists = bool(gtin or (brand and mpn))
    return {
        "brand": brand, "gtin": gtin, "mpn": mpn, "identifier_exists": "" if exists else "no",
    }  # fmt: skip


def _date(stock: Mapping[str, Any], availability: str) -> str:
    """Only for what is not there yet."""
    day = str(stock.get("deliveryDate") or "")
    is_day = len(day) == 10 and day[4] == day[7] == "-"
    return day if is_day and availability in ("preorder", "backorder") else ""


def _weight(product: Mapping[str, Any]) -> str:
    weight = _section(_section(product, "specifications"), "weight")
    unit = _WEIGHTS.get(str(weight.get("unit") or "").lower())
    try:
        value = Decimal(str(weight.get("value")))
    except InvalidOperation:
        return ""
    return f"{value:f} {unit}" if unit and value.is_finite() and value > 0 else ""


class XmlFeed:
    """RSS 2.0 with Google's namespace."""

    media_type = "application/xml; charset=utf-8"

    def __init__(self, options: FeedOptions) -> None:
        self._options = options

    def head(self) -> bytes:
        title, site = escape(self._options.title), escape(self._options.site)
        return (
            f'<?xml version="1.0" encoding="UTF-8"?>\n<rss version="2.0" xmlns:g="{_NAMESPACE}">\n'
            f"<channel>\n<title>{title}</title>\n<link>{site}</link>\n"
            f"<description>{title}</description>\n"
        ).encode()

    def page(self, offers: Iterable[Offer]) -> bytes:
        return "".join(map(self._item, offers)).encode()

    def _item(self, offer: Offer) -> str:
        lines = [
            f"<g:{name}>{escape(value)}</g:{name}>\n"
            for name, given in offer.items()
            for value in ([given] if isinstance(given, str) else given)
        ]
        return f"<item>\n{''.join(lines)}</item>\n"

    def end(self) -> bytes:
        return b"</channel>\n</rss>\n"


class CsvFeed:
    """Comma-separated, with the names of the attributes in the first line."""

    media_type = "text/csv; charset=utf-8"

    def __init__(self, options: FeedOptions) -> None:
        self._options = options

    def head(self) -> bytes:
        return self._lines([COLUMNS])

    def page(self, offers: Iterable[Offer]) -> bytes:
        return self._lines([self._cell(one.get(name, "")) for name in COLUMNS] for one in offers)

    def _cell(self, value: str | Sequence[str]) -> str:
        # A comma in a URL would end it.
        if isinstance(value, str):
            return value
        return ",".join(one.replace(",", "%2C") for one in value)

    def _lines(self, rows: Iterable[Sequence[str]]) -> bytes:
        text = io.StringIO()
        csv.writer(text, lineterminator="\n").writerows(rows)
        return text.getvalue().encode()

    def end(self) -> bytes:
        return b""


WRITERS: Mapping[str, type[XmlFeed] | type[CsvFeed]] = {"xml": XmlFeed, "csv": CsvFeed}
