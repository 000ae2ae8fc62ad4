"""Decimal commas in a file whose delimiter is the comma: `1,Bolt,2,50,10` below four names."""

from __future__ import annotations

import re
from collections.abc import Sequence
from itertools import pairwise

MIN_ROWS = 2
MAX_JOINED = 4

_WHOLE = re.compile(r"\s*-?[0-9]{1,9}")
_CENTS = re.compile(r"[0-9]{2}\s*")


def find_split_amounts(names: Sequence[str], rows: Sequence[Sequence[str]]) -> list[int]:
    """The columns whose cells were split at a decimal comma; empty if there are none, or if it is
    unclear which ones."""
    width = len(names)
    more = {len(row) for row in rows if row}
    if len(more) != 1 or len(rows) < MIN_ROWS or not all(name.strip() for name in names):
        return []
    extra = more.pop() - width
    if not 0 < extra <= MAX_JOINED:
        return []
    found = [
        at
        for at in range(width + extra - 1)
        if all(_WHOLE.fullmatch(row[at]) and _CENTS.fullmatch(row[at + 1]) for row in rows)
    ]
    overlap = any(b - a == 1 for a, b in pairwise(found))
    return found if len(found) == extra and not overlap else []


def join_split_amounts(row: list[str], places: Sequence[int], width: int) -> None:
    """Join the two cells at each of these places; other rows than full ones stay as they are."""
    if len(row) != width + len(places):
        return
    for at in reversed(places):
        row[at : at + 2] = [f"{row[at].rstrip()},{row[at + 1].lstrip()}"]
