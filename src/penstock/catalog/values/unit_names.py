"""Units: their kinds, their factors to the base unit of the kind, and the names they go by."""

from __future__ import annotations

from decimal import Decimal

from penstock.catalog.word_lists import entries, load

KINDS: dict[str, str] = {}
FACTORS: dict[str, Decimal] = {}
WORDS: dict[str, str] = {}
# Words that mean another unit in Finnish.
FINNISH: dict[str, str] = {}


def _read_units() -> None:
    for heading, names in load("units").items():
        if heading == "capitals":
            WORDS.update(entries(names))
            continue
        if heading == "Finnish":
            FINNISH.update(entries(names))
            continue
        unit, KINDS[unit], factor = heading.split(" | ")
        FACTORS[unit] = Decimal(factor)
        for name in (unit, *names.split()):
            WORDS.setdefault(name.replace("_", " "), unit)


_read_units()
