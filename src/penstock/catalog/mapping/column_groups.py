"""Columns that share the name of a group: `Einheiten ME`, `Einheiten VPE`, or `Maße in mm L`,
`Maße in mm B`. The name below the group tells the field where the whole name tells none."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import replace
from itertools import groupby
from typing import NamedTuple

from penstock.catalog.mapping.column_content import filled
from penstock.catalog.mapping.column_options import ColumnOptions
from penstock.catalog.mapping.header_words import canonical
from penstock.catalog.mapping.synonyms import (
    Candidate,
    Hints,
    candidates,
    header_key,
    read_hints,
)
from penstock.catalog.values.unit_names import KINDS
from penstock.catalog.word_lists import by_word, load, words

_LISTS = load("header_words")
_TOO_GENERAL = words(_LISTS["too general below groups"])
_NOT_BELOW_OTHERS = words(_LISTS["too general below other groups"])
# `Carton EAN` and `Competitor SKU` do not identify the product.
_OTHER_THINGS = words(_LISTS["changes the meaning"]) | words(
    _LISTS["changes the meaning in brackets"]
)
# The names of sides by language; the first language that has all names of a file is meant.
_SIDES: tuple[Mapping[str, str], ...] = tuple(
    by_word(text) for section, text in _LISTS.items() if section.startswith("sides")
)
_BELOW_GROUP = 0.85
_SIDE = 0.93
_SIDE_CELL = re.compile(r"[0-9]{1,6}(?:[.,][0-9]{1,4})?(?:\s*(?:mm|cm|dm|m|in|\"|″))?")
_DIMENSIONS = "specifications.dimensions"


class Below(NamedTuple):
    """A column's name below its group."""

    group: str
    name: str


def names_below_groups(header: Sequence[str]) -> list[Below | None]:
    """The first words that columns side by side have in common are the name of their group."""
    found: list[Below | None] = []
    split = [name.split() for name in header]
    for _, run in groupby(split, key=lambda parts: parts[0].casefold() if parts else ""):
        columns = list(run)
        found += _below(columns) if len(columns) > 1 else [None]
    return found


def _below(columns: Sequence[Sequence[str]]) -> list[Below | None]:
    most = min(map(len, columns)) - 1
    first = columns[0]
    same = 0
    while same < most and all(one[same].casefold() == first[same].casefold() for one in columns):
        same += 1
    if not same:
        return [None] * len(columns)
    return [Below(" ".join(one[:same]), " ".join(one[same:]).strip(" /|:-")) for one in columns]


def add_names_below_groups(
    header: Sequence[str], thoughts: list[ColumnOptions], samples: Sequence[Sequence[str]]
) -> list[int]:
    """Options for columns without any from the name below their group. Returns their indexes."""
    below = names_below_groups(header)
    often = Counter(header_key(one.name) for one in below if one is not None)
    added = []
    for index, one in enumerate(below):
        # The stock below the name of each warehouse is not clear.
        if one is None or thoughts[index].options or often[header_key(one.name)] > 1:
            continue
        named, hints = _named_below(one)
        if named:
            for candidate in named:
                confidence = round(candidate.confidence * _BELOW_GROUP, 3)
                thoughts[index].options[candidate.target] = (confidence, "exact")
            thoughts[index] = replace(thoughts[index], hints=hints)
            added.append(index)
    _add_sides(header, below, thoughts, samples)
    return added


def _named_below(below: Below) -> tuple[list[Candidate], Hints]:
    key, group = header_key(below.name), header_key(below.group).split()
    if not {key, canonical(key)}.isdisjoint(_TOO_GENERAL | _NOT_BELOW_OTHERS):
        return [], Hints()
    if not _OTHER_THINGS.isdisjoint(group):
        return [], Hints()
    named, hints = candidates(below.name)
    of_group = read_hints(below.group)[0]
    joined = Hints(
        hints.currency or of_group.currency,
        hints.unit or of_group.unit,
        hints.tax_included if hints.tax_included is not None else of_group.tax_included,
    )
    # `Conditionnement / Qté` counts the pieces of a pack, not the stock.
    is_count = canonical(key) == "quantity"
    return [] if is_count else named, joined


def _add_sides(
    header: Sequence[str],
    below: Sequence[Below | None],
    thoughts: list[ColumnOptions],
    samples: Sequence[Sequence[str]],
) -> None:
    """`L`, `B`, `H` below a group of dimensions, or with a unit of length each, are the sides."""
    letters: dict[int, tuple[str, str]] = {}
    for index, name in enumerate(header):
        found = _side_name(below[index], name)
        cells = filled(samples[index]) if index < len(samples) else ()
        if found is not None and all(_SIDE_CELL.fullmatch(cell.strip()) for cell in cells):
            letters[index] = found
    places = {index: place for place, index in enumerate(letters)}
    for _, run in groupby(letters, key=lambda index: index - places[index]):
        columns = list(run)
        sides = _sides_of([letters[index][0] for index in columns])
        for index, side in zip(columns, sides, strict=False):
            hints = replace(thoughts[index].hints, unit=letters[index][1] or None)
            thoughts[index].options.clear()
            thoughts[index].options[f"{_DIMENSIONS}.{side}"] = (_SIDE, "exact")
            thoughts[index] = replace(thoughts[index], hints=hints)


def _side_name(below: Below | None, name: str) -> tuple[str, str] | None:
    """The abbreviation of a side, and its unit of length."""
    unit = ""
    if below is not None:
        hints, bare = read_hints(below.group)
        unit = hints.unit or ""
        if not _says_dimensions(below.group, bare, unit):
            return None
        name = below.name
    parts = header_key(name).split()
    if len(parts) > 1 and KINDS.get(parts[-1]) == "length":
        unit = parts.pop()
    if len(parts) != 1 or not any(parts[0] in one for one in _SIDES):
        return None
    if below is None and not unit:
        return None
    return ("L" if name.lstrip().startswith("L") else parts[0]), unit


def _says_dimensions(group: str, bare: str, unit: str) -> bool:
    named = candidates(group)[0] or candidates(bare)[0]
    return KINDS.get(unit) == "length" or any(one.target == _DIMENSIONS for one in named)


def _sides_of(names: Sequence[str]) -> list[str]:
    """The sides by the first language that has all the names; empty for one name alone."""
    if len(names) < 2:
        return []
    if "L" in names and "l" in names:
        # `L x l x H` in French: longueur, largeur, hauteur.
        return [{"L": "length", "l": "width", "h": "height"}.get(one, "depth") for one in names]
    keys = [one.casefold() for one in names]
    for language in _SIDES:
        sides = [language[one] for one in keys if one in language]
        if len(set(sides)) == len(keys):
            return sides
    return []
