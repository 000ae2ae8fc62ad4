"""OpenGraph and other `meta` elements that describe a product."""

from __future__ import annotations

from penstock.catalog.pages.candidates import Candidates
from penstock.catalog.pages.html_tree import Page
from penstock.catalog.pages.locale import Locale
from penstock.catalog.pages.values import (
    absolute,
    read_amount,
    read_currency_code,
    read_gtin_text,
    read_identifier_text,
    read_line_text,
    read_long_text,
    read_status,
)

_SOURCE = "meta"
_PRICE = (
    "product:sale_price:amount", "product:price:amount", "og:price:amount", "product:price",
    "og:price", "price",
)  # fmt: skip
_CURRENCY = (
    "product:sale_price:currency", "product:price:currency", "og:price:currency",
    "product:currency", "og:currency", "currency",
)  # fmt: skip
_LIST_PRICE = (
    "product:original_price:amount",
    "og:price:standard_amount",
    "product:price:standard_amount",
)
_STATUS = ("product:availability", "og:availability", "availability")
_SKU = ("product:retailer_item_id", "product:sku", "product:retailer_part_no", "og:sku", "sku")
_MPN = ("product:mfr_part_no", "product:mpn", "mpn")
_GTIN = (
    "product:ean",
    "product:gtin",
    "product:upc",
    "product:isbn",
    "og:ean",
    "og:upc",
    "gtin",
    "ean",
    "book:isbn",
)
_BRAND = ("product:brand", "og:brand", "brand")


class MetaTags:
    """The contents of `meta` elements by name or property, in lower case."""

    def __init__(self, page: Page) -> None:
        self._values: dict[str, list[str]] = {}
        for element in page.elements:
            if element.tag == "meta":
                content = element.get("content").strip()
                for name in {element.get("property"), element.get("name")}:
                    if name and content:
                        self._values.setdefault(name.strip().lower(), []).append(content)

    def first(self, *names: str) -> str | None:
        return next((self._values[name][0] for name in names if name in self._values), None)

    def all(self, *names: str) -> list[str]:
        return [value for name in names for value in self._values.get(name, ())]

    @property
    def says_product(self) -> bool:
        kinds = " ".join(self.all("og:type")).lower()
        return "product" in kinds or any(self.first(name) for name in _PRICE[:5])


def add_meta(found: Candidates, meta: MetaTags, locale: Locale, url: str) -> None:
    code = meta.first(*_CURRENCY)
    currency = None if code is None else read_currency_code(code, locale)
    text = meta.first(*_PRICE)
    price = None if text is None else read_amount(text, locale, currency)
    if price is not None:
        found.add("price", price.amount, _SOURCE, 0.75)
        found.add("currency", price.currency, _SOURCE, 0.8)
    else:
        found.add("currency", currency, _SOURCE, 0.7)
    text = meta.first(*_LIST_PRICE)
    before = None if text is None else read_amount(text, locale, currency)
    if before is not None and (price is None or price.amount != before.amount):
        found.add("listPrice", before.amount, _SOURCE, 0.7)
    for field, names, read, sure in (
        ("availability", _STATUS, read_status, 0.75),
        ("gtin", _GTIN, read_gtin_text, 0.8),
        ("mpn", _MPN, read_identifier_text, 0.8),
        ("brand", _BRAND, read_line_text, 0.8),
        (
            "description",
            ("og:description", "description", "twitter:description"),
            read_long_text,
            0.5,
        ),
    ):
        value = meta.first(*names)
        found.add(field, None if value is None else read(value), _SOURCE, sure)
    _add_sku(found, meta)
    title = meta.first("og:title", "twitter:title")
    found.add("name", None if title is None else read_line_text(title), _SOURCE, 0.6)
    images = [
        absolute(url, one) for one in meta.all("og:image", "og:image:secure_url", "twitter:image")
    ]
    found.add("images", list(dict.fromkeys(one for one in images if one))[:20], _SOURCE, 0.6)
    _add_twitter_labels(found, meta, locale)


def _add_sku(found: Candidates, meta: MetaTags) -> None:
    value = meta.first(*_SKU)
    if value is None:
        return
    gtin = read_gtin_text(value)
    if gtin is not None and len(gtin) >= 12:
        found.add("gtin", gtin, _SOURCE, 0.7)
        found.add("sku", gtin, _SOURCE, 0.4)
    else:
        found.add("sku", read_identifier_text(value), _SOURCE, 0.7)


def _add_twitter_labels(found: Candidates, meta: MetaTags, locale: Locale) -> None:
    """`twitter:label1` Price, `twitter:data1` £ 12.99."""
    for number in ("1", "2"):
        label, value = meta.first(f"twitter:label{number}"), meta.first(f"twitter:data{number}")
        if not label or not value:
            continue
        if label.lower().startswith(("price", "preis", "prix", "precio", "cena", "prezzo")):
            price = read_amount(value, locale)
            if price is not None:
                found.add("price", price.amount, _SOURCE, 0.6)
                found.add("currency", price.currency, _SOURCE, 0.6)
        elif label.lower().startswith(("availab", "verfüg", "dispo")):
            found.add("availability", read_status(value), _SOURCE, 0.6)
