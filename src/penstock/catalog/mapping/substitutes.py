"""Columns that fill a field which no column of the file is named for: `PRECIO VETERINARIO` is the
price of a file without another, and the short description its description."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence

from penstock.catalog.mapping import column_content
from penstock.catalog.mapping.header_meaning import meaning
from penstock.catalog.mapping.synonyms import header_key
from penstock.catalog.word_lists import load, phrases, words

_LISTS = load("header_words")
# With these words a price is not what customers pay for the product.
_OTHER_PRICES = words(_LISTS["prices of another kind"])
_OTHER_STOCKS = words(_LISTS["stocks of another kind"])
_STOCKS = ({"stock"}, {"inventory"}, {"quantity", "current"}, {"quantity", "available"})
_ENDS_AS_PRICE = re.compile(r"(?:preis|prijs|pris|price|hinta)$")
_SHORT_TEXTS = frozenset(map(header_key, phrases(_LISTS["short descriptions"])))
_MODELS = frozenset(map(header_key, phrases(_LISTS["models"])))
_MIN_SHARE = 0.9
_MIN_TEXT = 20


def find_price(
    header: Sequence[str], free: Iterable[int], samples: Sequence[Sequence[str]]
) -> int | None:
    """The first column without a field whose name has a word for price and that contains amounts:
    `GN-pris`, `tc_CenaNetto7`. One that says it is the selling price comes first."""
    named = [index for index in free if _names_a_price(header[index]) and index < len(samples)]
    for index in sorted(named, key=lambda index: "sales" not in meaning(header_key(header[index]))):
        share = column_content.fit("price", samples[index])
        if share is not None and share >= _MIN_SHARE:
            return index
        if share is None and column_content.are_decimals(samples[index]):
            return index
    return None


def find_stock(
    header: Sequence[str], free: Iterable[int], samples: Sequence[Sequence[str]]
) -> int | None:
    """The only column without a field whose name has a word for stock and that contains whole
    numbers: `inventory_Main_Street`. With several places none is the stock."""
    found = [
        index
        for index in free
        if index < len(samples)
        and column_content.are_whole(samples[index])
        and _names_a_stock(header[index])
    ]
    return found[0] if len(found) == 1 else None


def find_description(
    header: Sequence[str], free: Iterable[int], samples: Sequence[Sequence[str]]
) -> int | None:
    """The first column without a field that is named as a short description and contains more
    than names."""
    for index in free:
        if header_key(header[index]) in _SHORT_TEXTS and index < len(samples):
            cells = sorted(map(len, column_content.filled(samples[index])))
            if cells and cells[len(cells) // 2] >= _MIN_TEXT:
                return index
    return None


def find_title(
    header: Sequence[str], free: Iterable[int], samples: Sequence[Sequence[str]]
) -> int | None:
    """The column of models, or else the first of different texts, which are no codes or links."""
    places = [index for index in free if index < len(samples)]
    named = [index for index in places if header_key(header[index]) in _MODELS]
    for index in [*named, *places]:
        if column_content.are_names(samples[index]):
            return index
    return None


def _names_a_stock(name: str) -> bool:
    key = header_key(name)
    said = {*meaning(key), *key.split()}
    return any(one <= said for one in _STOCKS) and said.isdisjoint(_OTHER_STOCKS)


def _names_a_price(name: str) -> bool:
    key = header_key(name)
    said = {*meaning(key), *key.split()}
    has_word = "price" in said or any(map(_ENDS_AS_PRICE.search, key.split()))
    return has_word and said.isdisjoint(_OTHER_PRICES)
