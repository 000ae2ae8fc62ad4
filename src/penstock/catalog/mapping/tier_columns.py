"""Price tiers in separate columns: which columns are a quantity, its price or its discount."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence
from decimal import Decimal
from typing import Any, NamedTuple

from penstock.catalog.fields import TIER_COLUMN, TIERS
from penstock.catalog.mapping.header_words import canonical
from penstock.catalog.mapping.synonyms import header_key, read_hints
from penstock.catalog.values.price_tiers import Discount, Tier, TierList
from penstock.catalog.word_lists import load, words

QUANTITY, AMOUNT, DISCOUNT = "quantity", "amount", "discount"

_LISTS = load("tier_columns")
_STEPS = words(_LISTS["tier"])
_PARTS = {part: words(_LISTS[part]) for part in (QUANTITY, AMOUNT, DISCOUNT)}
_DISCOUNTS = re.compile(
    r"rabatt|discount|remise|scont[oi]|descuento|korting|desconto|nachlass|rabat\b|%|percent",
    re.IGNORECASE,
)


def mentions_discounts(header: str) -> bool:
    return _DISCOUNTS.search(header) is not None


class _Column(NamedTuple):
    place: int
    step: int  # 0 where the name has no number
    part: str
    of_steps: bool


def find_steps(header: Sequence[str]) -> dict[int, str]:
    """Targets by column for pairs such as `Menge 1`, `Preis 1`, `Menge 2`, `Preis 2`. At least two
    steps, or one whose names contain a word for tiers."""
    named = [
        one for index, name in enumerate(header) if (one := _tier_column(index, name)) is not None
    ]
    pairs = [pair for step in {one.step for one in named} if (pair := _pair(named, step))]
    of_steps = any(one.of_steps for pair in pairs for one in pair)
    if not pairs or (len(pairs) < 2 and not of_steps):
        return {}
    return {
        one.place: f"{TIERS}.step{one.step}.{one.part}"
        for pair in pairs
        if pair[0].step or pair[1].place == pair[0].place + 1
        for one in pair
    }


def _tier_column(index: int, header: str) -> _Column | None:
    """A column that may be part of a step, with the number of the step."""
    percent = " percent" if "%" in header else ""
    whole = header_key(header)
    key = re.sub(r"\bstaffel(?=\w)", "staffel ", read_hints(header)[1] or whole)
    parts = (key + percent).split()
    numbers = [part for part in whole.split() if part.isdecimal()]
    if len(numbers) > 1 or any(len(number) > 2 for number in numbers):
        return None
    rest = [part for part in parts if not part.isdecimal() and part not in _STEPS]
    of_steps = any(part in _STEPS for part in parts)
    if not rest and not of_steps:
        return None
    said = canonical(" ".join(rest)) if rest else ""
    part = _part(said, rest) if rest else QUANTITY
    step = int(numbers[0]) if numbers else 0
    return None if part is None else _Column(index, step, part, of_steps)


def _part(said: str, rest: Sequence[str]) -> str | None:
    for part in (DISCOUNT, QUANTITY, AMOUNT):
        if said in _PARTS[part] or (part == DISCOUNT and not _PARTS[part].isdisjoint(rest)):
            return part
    return None


def _pair(named: Iterable[_Column], step: int) -> tuple[_Column, _Column] | None:
    """The quantity and its price or discount. `Price Break 1` beside `Unit Price 1` is the
    quantity."""
    here = [one for one in named if one.step == step]
    if not step and any(one.of_steps for one in here):
        # `Menge` and `Preis` beside `Staffelmenge` and `Staffelpreis` are not part of a tier.
        here = [one for one in here if one.of_steps]
    if len(here) != 2:
        return None
    first, second = sorted(here, key=lambda one: one.part != QUANTITY)
    if first.part == second.part == AMOUNT and first.of_steps != second.of_steps:
        first, second = sorted(here, key=lambda one: not one.of_steps)
        first = first._replace(part=QUANTITY)
    if first.part != QUANTITY or second.part == QUANTITY:
        return None
    return first, second


class Step(NamedTuple):
    """The columns of one step; ``quantity`` is None if it is in a column too."""

    quantity: int | None
    parts: Mapping[str, str]


def steps_of(targets: Iterable[str]) -> tuple[Step, ...]:
    """The steps in columns with these targets, those with a known quantity first."""
    known: dict[int, dict[str, str]] = {}
    told: dict[int, dict[str, str]] = {}
    for target in targets:
        match = TIER_COLUMN.fullmatch(target)
        if match is None:
            continue
        if match["quantity"]:
            part = DISCOUNT if match["off"] else AMOUNT
            known.setdefault(int(match["quantity"]), {})[part] = target
        else:
            told.setdefault(int(match["step"]), {})[match["part"]] = target
    return (
        *(Step(quantity, parts) for quantity, parts in sorted(known.items())),
        *(Step(None, parts) for _, parts in sorted(told.items())),
    )


def tiers_in(steps: Sequence[Step], parts: Mapping[str, Any]) -> TierList | None:
    """The tiers of one row by quantity; None if no step is filled. Of two steps with the same
    quantity the first wins; a price of 0 counts as empty."""
    found: dict[int, Tier | Discount] = {}
    currency: str | None = None
    for step in steps:
        quantity = step.quantity
        if quantity is None:
            quantity = parts.get(step.parts.get(QUANTITY, ""))
        price = parts.get(step.parts.get(AMOUNT, ""))
        percent: Decimal | None = parts.get(step.parts.get(DISCOUNT, ""))
        if quantity is None or quantity in found:
            continue
        if price is not None and price.amount is not None and price.amount.strip("0."):
            found[quantity] = Tier(quantity, price.amount)
            currency = currency or price.currency
        elif percent is not None:
            found[quantity] = Discount(quantity, percent)
    return (tuple(found[n] for n in sorted(found)), currency) if found else None
