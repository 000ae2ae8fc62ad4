"""Columns that are named by the quantity from which their price applies: `1-9`, `10-49`, `50+`, or
`Cena netto 10-49 szt.` alone."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from decimal import Decimal
from itertools import pairwise
from typing import NamedTuple

from penstock.catalog.fields import TIERS
from penstock.catalog.mapping import column_content
from penstock.catalog.mapping.quantity_steps import QuantityStep, read_quantity_step
from penstock.catalog.values.prices import read_price

MIN_BREAKS = 3
_OF_A_SERIES, _ALONE = 0.8, 0.78
# Beside another column for the price, `Price 1-9` is a tier like the others.
_FIRST_TIER = 0.5
_YEARS = range(1900, 2100)
_MOST_PIECES = 100_000


class Break(NamedTuple):
    column: int
    target: str
    confidence: float


def find_price_breaks(header: Sequence[str], samples: Sequence[Sequence[str]]) -> Iterator[Break]:
    """The fields that columns of amounts may fill by the quantities in their names."""
    steps = {index: step for index, name in enumerate(header) if (step := read_quantity_step(name))}
    series = _series(steps) or _series_without_first(steps, samples)
    for index, step in steps.items():
        alone = _names_a_tier(step)
        if index not in series and not alone:
            continue
        cells = samples[index] if index < len(samples) else ()
        if not cells or column_content.fit(_kind(step), cells) not in (1.0, None):
            continue
        confidence = _OF_A_SERIES if index in series else _ALONE
        if step.is_discount:
            yield Break(index, f"{TIERS}.{step.low}.discount", confidence)
        elif step.low > 1:
            yield Break(index, f"{TIERS}.{step.low}", confidence)
        else:
            yield Break(index, "price.amount", confidence)
            if alone:
                yield Break(index, f"{TIERS}.1", _FIRST_TIER)


def _kind(step: QuantityStep) -> str:
    return "percent" if step.is_discount else "price"


def _series(steps: dict[int, QuantityStep]) -> set[int]:
    """Columns such as `1`, `10`, `100`, or `Preis 1 Stk`, `Preis 10 Stk`, from one piece up."""
    found = {index: step for index, step in steps.items() if not step.is_discount}
    numbers = [step.low for step in found.values()]
    clear = any(step.says_range or step.says_price for step in found.values())
    grow = all(b > a for a, b in pairwise(numbers))
    if len(found) < (2 if clear else MIN_BREAKS) or numbers[0] != 1 or not grow:
        return set()
    return set() if numbers[1] == 2 else set(found)


def _series_without_first(
    steps: dict[int, QuantityStep], samples: Sequence[Sequence[str]]
) -> set[int]:
    """`Cena 10 szt`, `Cena 100 szt` beside the price of one piece: the more pieces, the lower the
    amounts. Prices of packs grow with the pieces."""
    found = [(index, step) for index, step in steps.items() if not step.is_discount]
    numbers = [step.low for _, step in found]
    grow = all(b > a > 2 for a, b in pairwise(numbers))
    if len(found) < 2 or not grow or not all(step.says_price for _, step in found):
        return set()
    if set(numbers) & set(_YEARS) or max(index for index, _ in found) >= len(samples):
        return set()
    rows = list(zip(*(map(_amount, samples[index]) for index, _ in found), strict=False))
    full = [[one for one in row if one is not None] for row in rows]
    full = [row for row in full if len(row) == len(found)]
    falls = full and all(a >= b for row in full for a, b in pairwise(row))
    return {index for index, _ in found} if falls else set()


def _amount(cell: str) -> Decimal | None:
    price = read_price(cell).value
    return None if price is None or price.amount is None else Decimal(price.amount)


def _names_a_tier(step: QuantityStep) -> bool:
    """`Price 10-49` and `Rabatt 10-49`, but not `Price 2025-2026`."""
    if not step.says_range or not (step.says_price or step.is_discount):
        return False
    are_years = step.low in _YEARS and step.high in _YEARS
    return not are_years and step.low < _MOST_PIECES
