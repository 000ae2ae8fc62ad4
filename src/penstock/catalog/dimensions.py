"""Dimensions: `10x20x30 cm`, `L 10 x B 20 x H 30 mm`, `H: 10 cm, W: 20 cm`, `Ø 20 cm`."""

from __future__ import annotations

import re
from collections.abc import Sequence
from decimal import Decimal
from typing import NamedTuple

from penstock.catalog.numbers import DecimalStyle, is_nothing, plain, read_number, to_ascii
from penstock.catalog.unit_words import FACTORS, KINDS
from penstock.catalog.units import unit_of
from penstock.catalog.value import EMPTY, Normalised, problem, unreadable

LONGEST = 160

# What the letter before or after a number means.
_LABELS = {
    "l": "length", "length": "length", "long": "length", "länge": "length", "laenge": "length",
    "longueur": "length", "largo": "length", "lunghezza": "length", "lengte": "length",
    "comprimento": "length", "c": "length", "lg": "length",
    "w": "width", "b": "width", "width": "width", "wide": "width", "breite": "width", "br": "width",
    "largeur": "width", "ancho": "width", "larghezza": "width", "breedte": "width",
    "largura": "width", "a": "width",
    "h": "height", "height": "height", "high": "height", "höhe": "height", "hoehe": "height",
    "hauteur": "height", "alto": "height", "altura": "height", "altezza": "height",
    "hoogte": "height",
    "d": "depth", "t": "depth", "p": "depth", "depth": "depth", "deep": "depth", "tiefe": "depth",
    "profondeur": "depth", "prof": "depth", "fondo": "depth", "profundidad": "depth",
    "profondità": "depth", "diepte": "depth", "profundidade": "depth",
    "ø": "diameter", "⌀": "diameter", "dia": "diameter", "diam": "diameter",
    "diameter": "diameter", "durchmesser": "diameter", "diamètre": "diameter",
    "diametre": "diameter", "diámetro": "diameter", "diametro": "diameter", "diâmetro": "diameter",
}  # fmt: skip
_ORDER = ("length", "width", "height")
_TIMES = frozenset(("x", "by", "mal", "per", "por", "fois"))

_TOKEN = re.compile(
    r"(?P<number>[0-9]{1,9}(?:[.,][0-9]{1,6})?|[.,][0-9]{1,6})|(?P<word>[^\W\d_]{1,16})"
    r"|(?P<sign>[\"″'′⌀]{1,2})|(?P<times>[×*])|(?P<other>[^\s])"
)


class Sides(NamedTuple):
    """What stands in a text, in its order: numbers, the unit behind each, the labels."""

    amounts: list[Decimal]
    units: list[str | None]
    labels: list[str]


def read_dimensions(
    text: str, default_unit: str | None, style: DecimalStyle | None = None
) -> Normalised:
    """`{length, width, height, unit}`; without labels the order is length, width, height."""
    if is_nothing(text):
        return EMPTY
    sides = _sides(to_ascii(text), style) if len(text) <= LONGEST else None
    if sides is None or not 1 <= len(sides.amounts) <= 3:
        return unreadable("DIMENSIONS_UNREADABLE", text)
    given = [unit for unit in sides.units if unit]
    # "10x20x30 cm": one unit at the end is meant for all.
    unit = given[-1] if given else default_unit
    names = _names(sides)
    if names is None:
        return unreadable("DIMENSIONS_UNREADABLE", text)
    labelled = bool(sides.labels)
    value: dict[str, object] = {
        name: plain(_converted(amount, own or unit, unit))
        for name, amount, own in zip(names, sides.amounts, sides.units, strict=False)
    }
    if unit is None:
        return Normalised(value, "dimensions", 0.5, (problem("UNIT_MISSING", value=text),))
    value["unit"] = unit
    if labelled:
        return Normalised(value, "dimensions_labelled")
    return Normalised(value, "dimensions_in_order", 0.9)


def _names(sides: Sides) -> Sequence[str] | None:
    """The sides' names, in the order of the numbers; None where labels and numbers do not match."""
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
            # Two numbers with nothing between, as in 5' 10", are one measure, not two sides.
            if number is None or not parted or len(sides.amounts) == 4:
                return None
            parted = False
            sides.amounts.append(number.decimal)
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
    """Whether the word parts one side from the next; None if it belongs to no dimension."""
    if word in _TIMES:
        return True
    unit = unit_of(word) or unit_of(word.removesuffix("x"))
    if unit and KINDS[unit] == "length" and sides.units and sides.units[-1] is None:
        sides.units[-1] = unit
        return word.endswith("x")
    # "LxBxH", as written before or behind the numbers.
    letters = [word] if word in _LABELS else word.split("x")
    if not all(letter in _LABELS for letter in letters):
        return None
    sides.labels.extend(_LABELS[letter] for letter in letters)
    return True
