"""Single values of pages: amounts, availability, identifiers, addresses."""

from __future__ import annotations

import html
import re
from decimal import Decimal
from typing import NamedTuple
from urllib.parse import urljoin, urlsplit

from penstock.catalog.pages.locale import Locale
from penstock.catalog.values.availability import read_availability
from penstock.catalog.values.currencies import currency_of
from penstock.catalog.values.gtin import is_valid
from penstock.catalog.values.prices import Price, PriceStyle, read_price
from penstock.catalog.values.text import strip_markup, tidy_line, tidy_lines
from penstock.catalog.word_lists import words

MAX_LINE = 1_000
MAX_TEXT = 20_000
MAX_IDENTIFIER = 80

_PLAIN_AMOUNT = re.compile(r"[0-9]{1,12}(?:\.[0-9]{1,12})?")
_STATUSES = {
    "in_stock": "InStock", "out_of_stock": "OutOfStock", "limited": "LimitedAvailability",
    "preorder": "PreOrder", "backorder": "BackOrder",
}  # fmt: skip
_SCHEMA_STATUSES = {
    "instock": "InStock", "instoreonly": "InStock", "onlineonly": "InStock",
    "limitedavailability": "LimitedAvailability", "outofstock": "OutOfStock",
    "soldout": "OutOfStock", "discontinued": "OutOfStock", "reserved": "OutOfStock",
    "preorder": "PreOrder", "presale": "PreOrder", "backorder": "BackOrder",
    "madetoorder": "BackOrder", "availablefororder": "InStock", "oos": "OutOfStock",
    "available": "InStock", "unavailable": "OutOfStock", "notinstock": "OutOfStock",
}  # fmt: skip
_LETTERS = re.compile(r"[^a-z]+")
_IDENTIFIER = re.compile(r"[^\s<>]{1,40}(?: [^\s<>]{1,20}){0,4}")
_NO_IDENTIFIER = words("n/a na none null undefined - 0 false true")


class Amount(NamedTuple):
    amount: str
    currency: str | None
    # The dearer end of a range, or the price before a reduction.
    upper: str | None = None


def read_amount(text: str, locale: Locale, currency: str | None = None) -> Amount | None:
    """The amount of a price as it stands in markup or in the page."""
    text = html.unescape(text).strip()
    found = _PLAIN_AMOUNT.fullmatch(text)
    if found is not None:
        head, _, decimals = text.partition(".")
        if len(decimals) == 3 and locale.decimal == "comma" and head.strip("0"):
            text = head + decimals
        return _positive(text, currency, None)
    read = read_price(text, PriceStyle(locale.decimal, currency or locale.currency)).value
    if not isinstance(read, Price) or read.amount is None:
        return None
    named = read.currency if currency is None else currency
    return _positive(read.amount, named, read.upper)


def _positive(amount: str, currency: str | None, upper: str | None) -> Amount | None:
    plain = plain_amount(amount)
    if plain is None or Decimal(plain) <= 0:
        return None
    return Amount(plain, currency, None if upper is None else plain_amount(upper))


def plain_amount(text: str) -> str | None:
    """`2433.0` is 2433, `13.4` is 13.40, `10.1400` is 10.14."""
    if not _PLAIN_AMOUNT.fullmatch(text):
        return None
    head, _, decimals = text.partition(".")
    decimals = decimals.rstrip("0")
    if len(decimals) > 4:
        decimals = f"{Decimal('0.' + decimals):.4f}"[2:].rstrip("0")
    head = head.lstrip("0") or "0"
    return f"{head}.{decimals:<02}".replace(" ", "0") if decimals else head


def read_currency_code(text: str, locale: Locale) -> str | None:
    found = currency_of(text.strip()[:10], locale.currency)
    return None if found is None else found.currency


def read_status(text: str) -> str | None:
    """One of the values of schema.org, from an address, a word or a sentence."""
    word = text.strip()
    if len(word) > 200:
        return None
    last = _LETTERS.sub("", word.rstrip("/").rsplit("/", 1)[-1].rsplit("#", 1)[-1].lower())
    if last in _SCHEMA_STATUSES:
        return _SCHEMA_STATUSES[last]
    read = read_availability(word).value
    return None if read is None else _STATUSES.get(read.status or "")


def read_identifier_text(text: str) -> str | None:
    """A SKU or part number; None for sentences and placeholders."""
    word = tidy_line(html.unescape(text)).strip(" :#*")
    for prefix in ("sku:", "mpn:", "SKU:", "MPN:"):
        word = word.removeprefix(prefix).strip()
    if len(word) > MAX_IDENTIFIER or word.lower() in _NO_IDENTIFIER:
        return None
    return word if _IDENTIFIER.fullmatch(word) else None


def read_gtin_text(text: str) -> str | None:
    """A GTIN whose check digit is right; None for all else."""
    digits = re.sub(r"[\s\-‐]", "", text.strip(" .,;").rsplit(":", 1)[-1])
    if not digits.isascii() or not digits.isdigit() or len(digits) not in (8, 12, 13, 14):
        return None
    return digits if is_valid(digits) and digits.strip("0") else None


def read_line_text(text: str) -> str | None:
    line = tidy_line(strip_markup(html.unescape(text)))
    return line if 0 < len(line) <= MAX_LINE else None


def read_long_text(text: str) -> str | None:
    return tidy_lines(strip_markup(html.unescape(text)))[:MAX_TEXT] or None


def absolute(url: str, address: str) -> str | None:
    """The address of an image or a page; None for what is not fetched by HTTP."""
    address = address.strip()
    if not address or len(address) > 2_000 or address.startswith(("data:", "javascript:")):
        return None
    try:
        joined = urljoin(url, address)
        split = urlsplit(joined)
    except ValueError:
        return None
    return joined if split.scheme in ("http", "https") and split.netloc else None
