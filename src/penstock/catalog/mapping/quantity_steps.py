"""Headers that name a quantity from which a price applies: `ab 10 Stk.`, `50+ szt.`, `1-9`."""

from __future__ import annotations

import re
from typing import NamedTuple
from unicodedata import combining, normalize

from penstock.catalog.mapping.header_words import JOINING, MEANT
from penstock.catalog.values.currencies import CODES
from penstock.catalog.values.unit_names import KINDS
from penstock.catalog.values.units import unit_of
from penstock.catalog.word_lists import by_word, load, words

MAX_LENGTH = 80
_LISTS = load("header_words")
_TAX = words(_LISTS["tax"])
_MONEY_WORDS = by_word(_LISTS["currencies"])
_NAMES_OF_PRICES = words(_LISTS["names of prices"])
_FROM = words(_LISTS["from a quantity"])
_UP = words(_LISTS["and more"])
_TIERS = words(load("tier_columns")["tier"])
_TOKEN = re.compile(r"[0-9]{1,7}|[^\W\d_]+|>=|[^\w\s]")
_SIGNS = frozenset("€$£()[].,:/|")
_RANGE = ("-", "–", "bis", "to", "do", "a", "à", "до")


class QuantityStep(NamedTuple):
    """``says_from``: `ab 10`, `10+`. ``says_range``: `10-49`. ``says_price``: `Preis 10 Stk`."""

    low: int
    says_from: bool = False
    says_range: bool = False
    says_price: bool = False
    is_discount: bool = False
    high: int | None = None


def read_quantity_step(header: str) -> QuantityStep | None:
    """None if the header says anything else."""
    if len(header) > MAX_LENGTH or not any(map(str.isdecimal, header)):
        return None
    plain = "".join(c for c in normalize("NFKD", header.casefold()) if not combining(c))
    tokens = _TOKEN.findall(plain)
    numbers = [int(token) for token in tokens if token.isdecimal()]
    says_range = len(numbers) == 2 and _has_range(tokens)
    if not 1 <= len(numbers) <= 1 + says_range or (says_range and numbers[1] <= numbers[0]):
        return None
    step = QuantityStep(numbers[0], says_range=says_range, high=numbers[1] if says_range else None)
    for token in tokens:
        told = _add(step, token)
        if told is None:
            return None
        step = told
    return step if step.low else None


def _has_range(tokens: list[str]) -> bool:
    """Whether two numbers have only a word or sign for a range between them."""
    first, second = (place for place, token in enumerate(tokens) if token.isdecimal())
    return second == first + 2 and tokens[first + 1] in _RANGE


def _add(step: QuantityStep, token: str) -> QuantityStep | None:
    """What a word adds to the step; None for a word that is not about tiers."""
    meant = MEANT.get(token, token)
    if token in _FROM or token in _UP:
        return step._replace(says_from=True)
    if token == "%" or meant == "discount":  # noqa: S105 (a word of a header)
        return step._replace(is_discount=True)
    if meant == "price" or token in _NAMES_OF_PRICES or token in _TIERS:
        return step._replace(says_price=True)
    known = (
        token.isdecimal()
        or token in _SIGNS
        or (step.says_range and token in _RANGE)
        or token in _TAX
        or token in JOINING
        or token.upper() in CODES
        or token in _MONEY_WORDS
        or meant in ("quantity", "unit")
        or token in ("in", "a")
        or KINDS.get(unit_of(token) or "") in ("count", "package")
    )
    return step if known else None
