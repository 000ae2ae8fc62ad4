"""Words by which pages name buttons, prices and labels, read once."""

from __future__ import annotations

import re
from functools import cache, lru_cache
from itertools import pairwise

from penstock.catalog.word_lists import load, phrases, words

_LISTS = load("page_words")
_CAMEL = re.compile(r"(?<=[a-z])(?=[A-Z])|(?<=[A-Z])(?=[A-Z][a-z])")
_EDGES = re.compile(r"^[\s:#*.\-–•]+|[\s:#*.\-–]+$")

ADD_TO_CART = frozenset(phrases(_LISTS["add to cart"]))
SOLD_OUT_BUTTON = frozenset(phrases(_LISTS["sold out button"]))
OUT_OF_STOCK = phrases(_LISTS["parts of sentences on missing stock"])
PRICE_NAMES = words(_LISTS["names of prices"])
OLD_PRICE_NAMES = words(_LISTS["names of old prices"])
OTHER_AMOUNT_NAMES = words(_LISTS["names of other amounts"])
OTHER_PRODUCT_NAMES = words(_LISTS["names of other products"])
OTHER_AMOUNT_WORDS = phrases(_LISTS["words of other amounts"])
OLD_PRICE_WORDS = phrases(_LISTS["words of old prices"])
NET_WORDS = phrases(_LISTS["words of net prices"])
STOCK_NAMES = words(_LISTS["names of stock"])
DESCRIPTION_NAMES = words(_LISTS["names of descriptions"])


def label_key(label: str) -> str:
    # A Turkish capital İ in lower case is an i with another dot above.
    low = label.lower().replace("’", "'").replace("i\u0307", "i")
    return _EDGES.sub("", " ".join(low.split()))


@cache
def labels() -> dict[str, tuple[str, float]]:
    """The field that a label means, with its confidence. A `?` marks a label that also means other
    things."""
    found: dict[str, tuple[str, float]] = {}
    for field in ("mpn", "availability", "brand", "gtin", "sku"):
        for phrase in phrases(
            _LISTS["labels of brands" if field == "brand" else f"labels of {field}"]
        ):
            weak = phrase.endswith("?")
            key = label_key(phrase.rstrip("?"))
            if not weak or key not in found:
                found[key] = (field, 0.5 if weak else 1.0)
    return found


@lru_cache(maxsize=20_000)
def name_words(names: str) -> frozenset[str]:
    """The words of class names and ids: `product-price__oldValue` has price and old."""
    parts: set[str] = set()
    for name in names.replace("_", " ").split():
        whole = name.lower()
        parts.add(whole)
        split = _CAMEL.sub(" ", name).lower().replace("-", " ").split()
        parts.update(split)
        parts.update(f"{one}-{two}" for one, two in pairwise(split))
    return frozenset(parts)
