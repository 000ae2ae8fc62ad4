"""Dimensions: `10x20x30 cm`, `L 10 x B 20 x H 30 mm`, `H: 10 cm, W: 20 cm`, `Ø 20 cm`."""

from __future__ import annotations

import re
from collections.abc import Sequence
from decimal import Decimal
from typing import NamedTuple

from penstock.catalog.values.numbers import (
    DecimalStyle,
    Number,
    is_empty_cell,
    plain,
    read_number,
    to_ascii,
)
from penstock.catalog.values.result import EMPTY, NormalisedValue, Problem, problem, unreadable
from penstock.catalog.values.unit_names import FACTORS, KINDS
from penstock.catalog.values.units import unit_of, with_fractions
from penstock.catalog.word_lists import load

MAX_LENGTH = 160

# The side that a letter or word before or after a number means.
_LABELS = {label: side for side, labels in load("dimensions").items() for label in labels.split()}
# `A4` is a paper size, `H07` a cable: a single letter with a number is not a side.
_PAPER = re.compile(r"[A-Za-z][0-9]{1,3}")
_ORDER = ("length", "width", "height")
_TIMES = frozenset(("x", "by", "mal", "per", "por", "fois"))
_ABOUT = frozenset(("ca", "circa", "approx", "about", "env", "environ", "aprox"))
_SIDES_NAMED = re.compile(
    r"(?<![^\W_])([LWBHTDPAC])[a-zä]{0,11}\s?[x×*/]\s?([LWBHTDPAC])[a-zä]{0,11}"
    r"\s?[x×*/]\s?([LWBHTDPAC])(?![^\W_x])",
    re.I,
)
_FEET = re.compile(
    r"([0-9]{1,4})\s?(?:'|′|ft\.?|feet|foot)\s?([0-9]{1,2}(?:\.[0-9]{1,6})?)\s?"
    r"(?:\"|″|''|in(?:ch(?:es)?)?(?![^\W_]))"
)

_TOKEN = re.compile(
    r"(?P<number>[0-9]{1,9}(?:[.,][0-9]{1,6})?|[.,][0-9]{1,6})|(?P<word>[^\W\d_]{1,16})"
    r"|(?P<sign>[\"″'′⌀]{1,2})|(?P<times>[×*])|(?P<other>[^\s])"
)


class Sides(NamedTuple):
    """Numbers, their units and the labels, in the order of the text."""

    amounts: list[Number]
    units: list[str | None]
    labels: list[str]


def read_dimensions(
    text: str, default_unit: str | None, style: DecimalStyle | None = None,
    order: Sequence[str] = (),
) -> NormalisedValue:  # fmt: skip
    """`{length, width, height, unit}`. Without labels the order is that of the header, or else
    length, width, height."""
    if is_empty_cell(text):
        return EMPTY
    sides = _sides(_simplify(text), style) if len(text) <= MAX_LENGTH else None
    if sides is None or not 1 <= len(sides.amounts) <= 3 or _PAPER.fullmatch(text.strip()):
        return unreadable("DIMENSIONS_UNREADABLE", text)
    given = [unit for unit in sides.units if unit]
    # "10x20x30 cm": one unit at the end applies to all.
    unit = given[-1] if given else default_unit
    names = order if _fits(order, sides) else _names(sides)
    if names is None:
        return unreadable("DIMENSIONS_UNREADABLE", text)
    labelled = bool(sides.labels) or names is order
    amounts, unsure = _resolve_ambiguity(sides.amounts, text)
    value: dict[str, object] = {
        name: plain(_converted(amount, own or unit, unit))
        for name, amount, own in zip(names, amounts, sides.units, strict=False)
    }
    if unit is None:
        missing = problem("UNIT_MISSING", value=text)
        return NormalisedValue(value, "dimensions", 0.5, (*unsure, missing))
    value["unit"] = unit
    if labelled:
        return NormalisedValue(value, "dimensions_labelled", 0.5 if unsure else 1.0, unsure)
    return NormalisedValue(value, "dimensions_in_order", 0.5 if unsure else 0.9, unsure)


def _resolve_ambiguity(
    numbers: Sequence[Number], text: str
) -> tuple[list[Decimal], tuple[Problem, ...]]:
    """`1.200 x 800 x 600`: an ambiguous number beside whole numbers is whole."""
    unsure = [one for one in numbers if one.other is not None]
    if not unsure:
        return [one.decimal for one in numbers], ()
    whole = len(unsure) < len(numbers) and all(
        "." not in one.text for one in numbers if one.other is None
    )
    taken = [Decimal(one.other if whole and one.other else one.text) for one in numbers]
    one, other = (unsure[0].other, unsure[0].text) if whole else (unsure[0].text, unsure[0].other)
    return taken, (problem("NUMBER_AMBIGUOUS", value=text, one=one, other=other),)


def sides_named(header: str) -> tuple[str, ...]:
    """The order a header gives: `Maße (HxBxT) mm`, `Dimensions W x D x H`."""
    match = _SIDES_NAMED.search(header)
    names = tuple(_LABELS.get(part[0].casefold(), "") for part in match.groups()) if match else ()
    return names if all(names) and len(set(names)) == len(names) else ()


def _fits(order: Sequence[str], sides: Sides) -> bool:
    return len(order) == len(sides.amounts) and not sides.labels


def _simplify(text: str) -> str:
    """Feet with inches as inches, fractions as decimals."""
    return _FEET.sub(_in_inches, with_fractions(to_ascii(text)))


def _in_inches(match: re.Match[str]) -> str:
    return f"{int(match[1]) * 12 + Decimal(match[2])} in"


def _names(sides: Sides) -> Sequence[str] | None:
    """The names of the sides in the order of the numbers; None if labels and numbers differ."""
    if not sides.labels:
        return _ORDER
    if sides.labels == ["diameter"] and len(sides.amounts) == 2:
        return ("diameter", "height")
    match = len(set(sides.labels)) == len(sides.amounts) == len(sides.labels)
    return sides.labels if match else None


def _converted(amount: Decimal, unit: str | None, to: str | None) -> str:
    if unit is None or to is None or unit == to:
        return format(amount, "f")
    return format((amount * FACTORS[unit] / FACTORS[to]).normalize(), "f")


def _sides(text: str, style: DecimalStyle | None) -> Sides | None:
    """None if anything in the text is neither number, unit nor label."""
    sides = Sides([], [], [])
    parted = True
    for token in _TOKEN.finditer(text):
        if token["number"]:
            number = read_number(token["number"], style, three_are_decimals=True)
            # Two numbers without a separator, as in 5' 10", are one measure.
            if number is None or not parted or len(sides.amounts) == 4:
                return None
            parted = False
            sides.amounts.append(number)
            sides.units.append(None)
        elif token["word"] or token["sign"]:
            taken = _take_word((token["word"] or token["sign"]).casefold(), sides)
            if taken is None:
                return None
            parted = parted or taken
        elif token["other"] and token["other"] not in "/:,;()|.=+":
            return None
        else:
            parted = True
    return sides


def _take_word(word: str, sides: Sides) -> bool | None:
    """Whether the word separates two sides; None if it does not belong to dimensions."""
    if word in _TIMES or word in _ABOUT:
        return True
    unit = unit_of(word) or unit_of(word.removesuffix("x"))
    if unit and KINDS[unit] == "length" and sides.units and sides.units[-1] is None:
        sides.units[-1] = unit
        return word.endswith("x")
    # "LxBxH", written before or after the numbers.
    letters = [word] if word in _LABELS else word.split("x")
    if not all(letter in _LABELS for letter in letters):
        return None
    sides.labels.extend(_LABELS[letter] for letter in letters)
    return True
