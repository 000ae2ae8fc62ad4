"""Tier prices: `1+ 9.90; 10+ 8.50`, `ab 10 St. 8,50 €`, `1-9: 9.90 | 10-49: 8.50`, `10 @ 8.50`.

A step may also be a discount in percent: `ab 10: -5 %`. Its amount depends on the price of one, so
it is kept as a `Discount`.
"""

from __future__ import annotations

import re
from decimal import Decimal
from typing import NamedTuple

import orjson

from penstock.catalog.values.currencies import TOKEN, currency_of, format_amount, places, rounded
from penstock.catalog.values.numbers import (
    DecimalStyle,
    Number,
    is_empty_cell,
    read_number,
    to_ascii,
)
from penstock.catalog.values.result import EMPTY, NormalisedValue, unreadable
from penstock.catalog.values.unit_names import KINDS
from penstock.catalog.values.units import unit_of
from penstock.catalog.word_lists import load, words

MAX_LENGTH = 1_000
MAX_TIERS = 50

_SEGMENTS = re.compile(r"\s{0,3}[;|\n]\s{0,3}|,\s(?=(?:ab |from |>=? ?)?[0-9]{1,6}\s{0,2}[+:@=])")
_STEP = re.compile(
    r"(?P<word>ab|from|from qty|qty|à partir de|dès|desde|da|vanaf|a partir de|a partire da"
    r"|>=|≥|>)?\s{0,2}"
    r"(?P<low>[0-9]{1,7})\s{0,2}(?:(?P<plus>\+)|(?:-|–|to|bis)\s{0,2}[0-9]{1,7})?\s{0,2}"
    r"(?P<unit>[^\W\d_]{1,12}\.?)?\s{0,2}(?P<mark>[:=@]|->|=>)?\s{0,2}(?:je\s|à\s)?"
    r"(?P<price>[^\d]{0,6}[0-9][0-9.,' ]{0,15}[^\d]{0,12})",
    re.IGNORECASE,
)
_AMOUNT = re.compile(r"[0-9](?:[0-9.,' ]*[0-9])?")


class Tier(NamedTuple):
    quantity: int
    amount: str

    def as_json(self) -> dict[str, object]:
        return {"minQuantity": self.quantity, "amount": self.amount}


class Discount(NamedTuple):
    """A discount in percent from a quantity up."""

    quantity: int
    percent: Decimal


TierList = tuple[tuple["Tier | Discount", ...], str | None]


def tier_amount(step: Tier | Discount, amount: str, currency: str | None) -> Tier:
    """A step as an amount, where ``amount`` is the price of one."""
    if isinstance(step, Tier):
        return step
    minor = places(currency)
    left = Decimal(amount) * (100 - step.percent) / 100
    return Tier(step.quantity, format_amount(rounded(left, minor), minor))


def read_tiers(text: str, style: DecimalStyle | None, currency: str | None) -> TierList | None:
    """The steps by quantity, and their currency; None if the text is not a list of tiers."""
    if len(text) > MAX_LENGTH or not any(mark in text for mark in "+:@=;|>-b≥àdfv"):
        return None
    steps: dict[int, Tier | Discount] = {}
    named: str | None = None
    segments = [part for part in _SEGMENTS.split(text.strip(" ;|")) if part]
    for segment in segments[: MAX_TIERS + 1]:
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
        step = _step(quantity, number, match["price"], named or currency)
        if step is None:
            return None
        steps[quantity] = step
    if not steps or len(segments) > MAX_TIERS:
        return None
    return tuple(steps[quantity] for quantity in sorted(steps)), named


def _step(quantity: int, number: Number, said: str, currency: str | None) -> Tier | Discount | None:
    if "%" in said:
        return discount(quantity, number)
    # `ab 10: -0,50` is a discount, not a price.
    if said.lstrip().startswith(("-", "–", "−")):
        return None
    return Tier(quantity, format_amount(number.text, places(currency)))


def discount(quantity: int, number: Number) -> Discount | None:
    percent = abs(number.decimal)
    return Discount(quantity, percent) if 0 < percent < 100 else None


def _is_step(match: re.Match[str], segments: int) -> bool:
    """`1+ 9.90` is a tier; `ab 9,90` and `10-20 €` only look like one."""
    unit = match["unit"]
    if unit and KINDS.get(unit_of(unit) or "") not in ("count", "package"):
        return False
    if match["plus"] or match["mark"]:
        return True
    return bool(match["word"] and (unit or segments > 1))


def read_tier_cell(
    text: str, style: DecimalStyle | None, currency: str | None, *, off: bool = False
) -> NormalisedValue:
    """A cell of a tier column. ``off``: the header mentions discounts, so a number without a
    percent sign is not necessarily a price."""
    if is_empty_cell(text):
        return EMPTY
    named = _members(text.strip()) if "=" in text or '"' in text else None
    if named is not None:
        tiers = _from_members(named, style, currency)
    else:
        tiers = read_tiers(to_ascii(text[: MAX_LENGTH + 1]), style, currency)
    if tiers is None or (off and any(isinstance(step, Tier) for step in tiers[0])):
        return unreadable("TIERS_UNREADABLE", text)
    return NormalisedValue(tiers, "price_tiers")


_LOW = re.compile(
    r"[^\d]{0,15}?([0-9]{1,3}(?:[.' ][0-9]{3})+|[0-9]{1,7})(?:[.,]0{1,3})?(?![0-9.,])"
)


def read_step(text: str) -> NormalisedValue:
    """The quantity of a tier in its own column: `10`, `ab 10`, `10-49`."""
    if is_empty_cell(text):
        return EMPTY
    match = _LOW.match(to_ascii(text[:MAX_LENGTH]).strip())
    if match is None:
        return unreadable("TIERS_UNREADABLE", text)
    return NormalisedValue(int(re.sub(r"\D", "", match[1])), "tier_quantity")


def read_percent(text: str, style: DecimalStyle | None) -> NormalisedValue:
    """A discount in percent. A number below one without a percent sign is ambiguous and refused."""
    body = text.strip()
    if is_empty_cell(body):
        return EMPTY
    number = read_number(body.strip(" %").lstrip("-–−+").strip(), style, three_are_decimals=True)
    if number is None or number.decimal >= 100 or (number.decimal < 1 and "%" not in body):
        zero = number is not None and not number.decimal
        return EMPTY if zero else unreadable("TIERS_UNREADABLE", text)
    return NormalisedValue(number.decimal, "discount_percent") if number.decimal else EMPTY


_LISTS = load("tier_columns")
_QUANTITY_NAMES = words(_LISTS["quantity members"])
_AMOUNT_NAMES = words(_LISTS["amount members"])
_CURRENCY_NAMES = words(_LISTS["currency members"])
_TYPE_NAMES = words(_LISTS["type members"])


def _members(text: str) -> list[dict[str, str]] | None:
    """Tiers with named members: `[{"qty": 10, "price": "8.50"}]` or `qty=10,price=8.50|qty=…`."""
    if text.startswith("[") and text.endswith("]") and len(text) <= MAX_LENGTH * MAX_TIERS:
        try:
            read = orjson.loads(text)
        except orjson.JSONDecodeError:
            return None
        found = [one for one in read if isinstance(one, dict)]
        return [{_name(k): str(v) for k, v in one.items()} for one in found] or None
    pairs = [dict(_pair(part) for part in re.split("[,&]", step) if "=" in part)
             for step in re.split(r"[|;\n]", text[:MAX_LENGTH])]  # fmt: skip
    return pairs if pairs and all(len(one) > 1 for one in pairs) else None


def _pair(text: str) -> tuple[str, str]:
    name, _, value = text.partition("=")
    return _name(name), value.strip()


def _name(text: str) -> str:
    return re.sub(r"[\W_]+", "", str(text)).casefold()


_FIXED, _PERCENT = words(_LISTS["fixed price types"]), words(_LISTS["percent types"])


def _from_members(
    steps: list[dict[str, str]], style: DecimalStyle | None, currency: str | None
) -> TierList | None:
    """None if any step is neither a price nor a percentage from a quantity up."""
    found: dict[int, Tier | Discount] = {}
    named: str | None = None
    for step in steps[: MAX_TIERS + 1]:
        token = next((step[name] for name in step if name in _CURRENCY_NAMES), "")
        own = currency_of(token, currency)
        named = own.currency if own else named
        quantity = next((step[name] for name in step if name in _QUANTITY_NAMES), "1")
        amount = next((step[name] for name in step if name in _AMOUNT_NAMES), "")
        kind = next((step[name] for name in step if name in _TYPE_NAMES), "fixed").casefold()
        count, price = read_number(quantity, style), read_number(amount.strip(" %"), style)
        if count is None or price is None or kind not in _FIXED | _PERCENT:
            return None
        said = f"{amount}%" if kind in _PERCENT else amount
        one = _step(int(count.decimal), price, said, named or currency)
        if one is None:
            return None
        found.setdefault(one.quantity, one)
    if not found or len(steps) > MAX_TIERS:
        return None
    return tuple(found[quantity] for quantity in sorted(found)), named
