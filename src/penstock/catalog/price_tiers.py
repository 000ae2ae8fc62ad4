"""Tier prices: `1+ 9.90; 10+ 8.50`, `ab 10 St. 8,50 €`, `1-9: 9.90 | 10-49: 8.50`, `10 @ 8.50`."""

from __future__ import annotations

import re
from typing import NamedTuple

import orjson

from penstock.catalog.currencies import TOKEN, currency_of, money, places
from penstock.catalog.numbers import DecimalStyle, is_nothing, read_number, to_ascii
from penstock.catalog.unit_words import KINDS
from penstock.catalog.units import unit_of
from penstock.catalog.value import EMPTY, Normalised, unreadable
from penstock.catalog.words import words

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
    named = _members(text.strip()) if "=" in text or '"' in text else None
    if named is not None:
        tiers = _from_members(named, style, currency)
    else:
        tiers = read_tiers(to_ascii(text[: LONGEST + 1]), style, currency)
    if tiers is None:
        return unreadable("TIERS_UNREADABLE", text)
    return Normalised(tiers, "price_tiers")


_QUANTITY_NAMES = words(
    """
    qty quantity minqty minquantity lowerbound lower from min minimum menge ab staffel amountfrom
    startquantity quantitystart"""
)
_AMOUNT_NAMES = words("price amount priceamount value preis unitprice netprice net")
_CURRENCY_NAMES = words("currency pricecurrency currencycode")
_TYPE_NAMES = words("type valuetype discounttype pricevaluetype")


def _members(text: str) -> list[dict[str, str]] | None:
    """`[{"qty": 10, "price": "8.50"}]` or `qty=10,price=8.50|qty=…`: each tier by its names."""
    if text.startswith("[") and text.endswith("]") and len(text) <= LONGEST * MOST_TIERS:
        try:
            read = orjson.loads(text)
        except orjson.JSONDecodeError:
            return None
        found = [one for one in read if isinstance(one, dict)]
        return [{_name(k): str(v) for k, v in one.items()} for one in found] or None
    pairs = [dict(_pair(part) for part in re.split("[,&]", step) if "=" in part)
             for step in re.split(r"[|;\n]", text[:LONGEST])]  # fmt: skip
    return pairs if pairs and all(len(one) > 1 for one in pairs) else None


def _pair(text: str) -> tuple[str, str]:
    name, _, value = text.partition("=")
    return _name(name), value.strip()


def _name(text: str) -> str:
    return re.sub(r"[\W_]+", "", str(text)).casefold()


def _from_members(
    steps: list[dict[str, str]], style: DecimalStyle | None, currency: str | None
) -> tuple[tuple[Tier, ...], str | None] | None:
    """None as soon as one step is no price from a quantity up, but a discount or something else."""
    found: dict[int, str] = {}
    named: str | None = None
    for step in steps[: MOST_TIERS + 1]:
        token = next((step[name] for name in step if name in _CURRENCY_NAMES), "")
        own = currency_of(token, currency)
        named = own.currency if own else named
        quantity = next((step[name] for name in step if name in _QUANTITY_NAMES), "1")
        amount = next((step[name] for name in step if name in _AMOUNT_NAMES), "")
        kind = next((step[name] for name in step if name in _TYPE_NAMES), "fixed")
        count, price = read_number(quantity, style), read_number(amount, style)
        if count is None or price is None or kind.casefold() not in ("fixed", "final", "price"):
            return None
        found.setdefault(int(count.decimal), money(price.text, places(named or currency)))
    if not found or len(steps) > MOST_TIERS:
        return None
    return tuple(Tier(quantity, found[quantity]) for quantity in sorted(found)), named
