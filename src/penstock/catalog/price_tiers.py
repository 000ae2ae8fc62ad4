"""Tier prices: `1+ 9.90; 10+ 8.50`, `ab 10 St. 8,50 €`, `1-9: 9.90 | 10-49: 8.50`, `10 @ 8.50`."""

from __future__ import annotations

import re
from typing import NamedTuple

from penstock.catalog.currencies import TOKEN, currency_of, money, places
from penstock.catalog.numbers import DecimalStyle, is_nothing, read_number, to_ascii
from penstock.catalog.unit_words import KINDS
from penstock.catalog.units import unit_of
from penstock.catalog.value import EMPTY, Normalised, unreadable

LONGEST = 1_000
MOST_TIERS = 50

_SEGMENTS = re.compile(r"\s{0,3}[;|\n]\s{0,3}|,\s(?=(?:ab |from |>=? ?)?[0-9]{1,6}\s{0,2}[+:@=])")
_STEP = re.compile(
    r"(?P<word>ab|from|from qty|qty|à partir de|dès|desde|da|vanaf|a partir de|a partire da"
    r"|>=|≥|>)?\s{0,2}"
    r"(?P<low>[0-9]{1,7})\s{0,2}(?:(?P<plus>\+)|(?:-|–|to|bis)\s{0,2}[0-9]{1,7})?\s{0,2}"
    r"(?P<unit>[^\W\d_]{1,12}\.?)?\s{0,2}(?P<mark>[:=@]|->|=>)?\s{0,2}(?:je\s|à\s)?"
    r"(?P<price>[^\d]{0,6}[0-9][0-9.,' ]{0,15}[^\d]{0,8})",
    re.IGNORECASE,
)
_AMOUNT = re.compile(r"[0-9](?:[0-9.,' ]*[0-9])?")


class Tier(NamedTuple):
    quantity: int
    amount: str

    def as_json(self) -> dict[str, object]:
        return {"minQuantity": self.quantity, "amount": self.amount}


def read_tiers(
    text: str, style: DecimalStyle | None, currency: str | None
) -> tuple[tuple[Tier, ...], str | None] | None:
    """The steps by quantity, and the currency they name; None if the text is no list of tiers."""
    if len(text) > LONGEST or not any(mark in text for mark in "+:@=;|>-b≥àdfv"):
        return None
    steps: dict[int, str] = {}
    named: str | None = None
    segments = [part for part in _SEGMENTS.split(text.strip(" ;|")) if part]
    for segment in segments[: MOST_TIERS + 1]:
        match = _STEP.fullmatch(segment.strip())
        if match is None or not _is_step(match, len(segments)):
            return None
        token = TOKEN.search(match["price"])
        found = currency_of(token.group(), currency) if token else None
        amount = _AMOUNT.search(match["price"])
        number = read_number(amount.group(), style) if amount else None
        quantity = int(match["low"])
        if number is None or quantity in steps or (named and found and found.currency != named):
            return None
        named = found.currency if found else named
        steps[quantity] = money(number.text, places(named or currency))
    if not steps or len(segments) > MOST_TIERS:
        return None
    return tuple(Tier(quantity, steps[quantity]) for quantity in sorted(steps)), named


def _is_step(match: re.Match[str], segments: int) -> bool:
    """`1+ 9.90` says that it is a tier; `ab 9,90` and `10-20 €` only look like one."""
    unit = match["unit"]
    if unit and KINDS.get(unit_of(unit) or "") not in ("count", "package"):
        return False
    if match["plus"] or match["mark"]:
        return True
    return bool(match["word"] and (unit or segments > 1))


def read_tier_cell(text: str, style: DecimalStyle | None, currency: str | None) -> Normalised:
    """A cell of a column of tiers."""
    if is_nothing(text):
        return EMPTY
    tiers = read_tiers(to_ascii(text[: LONGEST + 1]), style, currency)
    if tiers is None:
        return unreadable("TIERS_UNREADABLE", text)
    return Normalised(tiers, "price_tiers")
