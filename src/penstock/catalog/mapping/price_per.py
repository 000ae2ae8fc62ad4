"""What the prices below a header are for: `Preis je 100 Stk netto`, `Cena za bal.`, `€/1000`."""

from __future__ import annotations

import re
from typing import NamedTuple
from unicodedata import combining, normalize

from penstock.catalog.mapping.header_words import MEANT
from penstock.catalog.values.currencies import CODES, TOKEN
from penstock.catalog.values.units import unit_of
from penstock.catalog.word_lists import load, words

_LISTS = load("header_words")
_NAMES_OF_PRICES = words(_LISTS["names of prices"])
# `Price per unit` is for whatever the column of units says.
_ANY_UNIT = words(_LISTS["any unit"])
_PER = "|".join(sorted(words(_LISTS["before what a price is for"]), key=len, reverse=True))
_FOR = re.compile(
    rf"(?:/|(?<![^\W\d_])(?:{_PER})(?![^\W\d_])\.?)\s{{0,2}}"
    r"(?P<count>10000|1[., ]?000|500|250|200|100|50|25|10)?(?![0-9.,])\s{0,2}"
    r"(?P<unit>[^\W\d_]{1,10})?\.?(?![^\W_])",
    re.IGNORECASE,
)
_ENDS_AS_PRICE = re.compile(r"(?:preis|prijs|pris|hinta|price)$")
_IN_CURRENCY = re.compile(r"\b(?:in|je)\s*+([€$£(]?)\s*+$")
_WORD = re.compile(r"[^\W\d_]+")


class PricePer(NamedTuple):
    """``rest`` is the header without what the price is for."""

    unit: str
    rest: str


def read_price_per(header: str) -> PricePer | None:
    """None if the header does not name a price, or not what it is for."""
    for match in _FOR.finditer(header):
        head, word = header[: match.start()], (match["unit"] or "").casefold()
        unit = None if word in _ANY_UNIT else unit_of(word)
        if (unit is None and not match["count"]) or not _names_a_price(head):
            continue
        head, tail = _IN_CURRENCY.sub(r"\1", head), header[match.end() :]
        if unit is None and word:
            # `Preis je 100 netto`: the word belongs to the rest.
            unit, tail = "piece", header[match.start("unit") :]
        count = re.sub(r"\D", "", match["count"] or "")
        if not count:
            return PricePer(str(unit), f"{head} {tail}")
        # Sets are not sold by the hundred: `kpl` are pieces in Finnish.
        each = "piece" if unit in (None, "set") else unit
        return PricePer(f"{count} {each}", f"{head} {tail}")
    return None


def _names_a_price(head: str) -> bool:
    if TOKEN.search(head):
        return True
    plain = "".join(c for c in normalize("NFD", head.casefold()) if not combining(c))
    return any(
        MEANT.get(word, word) in ("price", "cost")
        or word in _NAMES_OF_PRICES
        or word.upper() in CODES
        or _ENDS_AS_PRICE.search(word)
        for word in _WORD.findall(plain)
    )
