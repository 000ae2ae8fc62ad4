"""Statistics of one column, collected while its cells are read, in bounded memory.

`3.350` alone can be three thousand or three; next to `12,50` in the same column it cannot. So the
decimal marks, date orders and currencies of all cells are counted, and `decide` reads the counts.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import zip_longest
from typing import Any, Literal
from zlib import crc32

from penstock.catalog.values.booleans import WORDS as BOOLEAN_WORDS
from penstock.catalog.values.currencies import TOKEN, currency_of
from penstock.catalog.values.numbers import DecimalStyle

MAX_SAMPLES = 50
MAX_WORDS = 16
# Number of smallest hashes kept to estimate distinct values, with an error of about 6 %.
SKETCH = 256
MAX_INSPECTED_LENGTH = 24
MAX_INSPECTED_CELLS = 5_000

_MARK = re.compile(
    r"(?<![0-9.,])([0-9]{1,15})"
    r"((?:[.,' \u00a0\u202f][0-9]{3})*)(?:([.,])([0-9]{1,9}))?(?![0-9]|[.,][0-9])"
)
_ORDER = re.compile(r"([0-9]{1,2})[./ -]([0-9]{1,2})[./ -](?:[0-9]{4}|[0-9]{2})(?![0-9])")

_LETTERS = re.compile(r"[^\W\d_]{1,20}")
_MAX_HASHED = 1_000
_COULD_NAME = re.compile(r"[^\W\d_]{1,4}|[^\w\s.,:;/+'()-]")

Evidence = Literal[
    "comma", "point", "comma?", "point?", "whole", "day_first", "month_first", "date?"
]


def number_evidence(text: str) -> Evidence | None:
    """The decimal mark that the first number of a cell shows; `?` if it could be either."""
    match = _MARK.search(text)
    if match is None:
        return None
    head, groups, mark, tail = match.groups()
    if not mark:
        if not groups:
            return "whole"
        if groups[0] not in ".,":
            return None
        if len(groups) > 4:
            return "point" if groups[0] == "," else "comma"
        if head[0] == "0" or len(head) > 3:
            return "comma" if groups[0] == "," else "point"
        return "comma?" if groups[0] == "," else "point?"
    if groups and groups[0] == mark:
        return None
    if not groups and len(tail) == 3 and len(head) <= 3 and head[0] != "0":
        return "comma?" if mark == "," else "point?"
    return "comma" if mark == "," else "point"


def _is_code(cell: str) -> bool:
    """`A-12.5` is a code: letters before a number are a currency or make it something else."""
    if not cell[0].isalpha():
        return False
    word = _LETTERS.match(cell)
    return word is not None and currency_of(word.group()) is None


def date_evidence(text: str) -> Evidence | None:
    match = _ORDER.match(text)
    if match is None:
        return None
    first, second = int(match[1]), int(match[2])
    if first > 12 >= second > 0:
        return "day_first"
    if second > 12 >= first > 0:
        return "month_first"
    return "date?" if 0 < first <= 12 and 0 < second <= 12 else None


def _hashes(cells: Iterable[str], longest: int) -> set[int]:
    """A hash per cell, equal in every process. Written for speed, since there are many cells."""
    if longest <= _MAX_HASHED:
        try:
            return set(map(crc32, map(str.encode, cells)))
        except UnicodeEncodeError:
            pass  # a lone surrogate
    return {crc32(cell[:_MAX_HASHED].encode("utf-8", "surrogatepass")) for cell in cells}


@dataclass(slots=True)
class ColumnStats:
    """Counts of one column. Two can be merged, in any order."""

    cells: int = 0
    filled: int = 0
    longest: int = 0
    samples: list[str] = field(default_factory=list)
    marks: Counter[str] = field(default_factory=Counter)
    currencies: Counter[str] = field(default_factory=Counter)
    booleans: Counter[str] = field(default_factory=Counter)
    hashes: set[int] = field(default_factory=set)
    # Hashes above this are not kept; 0: no limit.
    edge: int = 0
    # Set when no more cells follow and the hashes were dropped.
    counted: int | None = None

    def add(self, cells: Sequence[str]) -> None:
        """Add cells of the column; equal cells of a batch are inspected once."""
        distinct = dict.fromkeys(cells)
        blank = [cell for cell in distinct if not cell or cell.isspace()]
        self.cells += len(cells)
        self.filled += len(cells) - sum(map(cells.count, blank))
        for cell in blank:
            del distinct[cell]
        if not distinct:
            return
        longest = max(map(len, distinct))
        self.longest = max(self.longest, longest)
        if len(self.samples) < MAX_SAMPLES:
            known = set(self.samples)
            fresh = [cell[:200] for cell in list(distinct)[:MAX_SAMPLES] if cell[:200] not in known]
            self.samples += fresh[: MAX_SAMPLES - len(self.samples)]
        hashes = _hashes(distinct, longest)
        # Only the smallest hashes are kept; after many cells most new ones are dropped.
        self.hashes |= {one for one in hashes if one < self.edge} if self.edge else hashes
        if len(self.hashes) > SKETCH * 4:
            self._trim()
        # All of the first cells are inspected, then every eighth.
        looked_at = list(distinct)
        if self.filled > MAX_INSPECTED_CELLS:
            looked_at = looked_at[self.filled % 8 :: 8]
        self._look(looked_at)

    def _look(self, cells: Iterable[str]) -> None:
        marks, currencies = self.marks, self.currencies
        for cell in cells:
            if len(cell) > MAX_INSPECTED_LENGTH:
                continue
            if cell.isdecimal():
                marks["whole"] += 1
                continue
            evidence = None if _is_code(cell) else number_evidence(cell)
            if evidence is not None:
                marks[evidence] += 1
                if evidence != "whole" or cell[-1] in "mM" or not cell[-1].isalpha():
                    order = date_evidence(cell.lstrip())
                    if order is not None:
                        marks[order] += 1
                if len(cell) <= 20 and _COULD_NAME.search(cell):
                    token = TOKEN.search(cell)
                    if token is not None:
                        self._count(currencies, token.group().upper())
            if evidence is None and len(cell) < 12:
                word = cell.strip().casefold()
                if word in BOOLEAN_WORDS:
                    self._count(self.booleans, word)
                elif len(word) <= 4 and TOKEN.fullmatch(word):
                    self._count(currencies, word.upper())

    @staticmethod
    def _count(counter: Counter[str], word: str) -> None:
        if word in counter or len(counter) < MAX_WORDS:
            counter[word] += 1

    def _trim(self) -> None:
        smallest = sorted(self.hashes)[:SKETCH]
        self.hashes = set(smallest)
        if len(smallest) == SKETCH:
            self.edge = smallest[-1]

    def merge(self, other: ColumnStats) -> None:
        self.cells += other.cells
        self.filled += other.filled
        self.longest = max(self.longest, other.longest)
        self.samples = list(dict.fromkeys([*self.samples, *other.samples]))[:MAX_SAMPLES]
        self.marks.update(other.marks)
        for mine, theirs in ((self.currencies, other.currencies), (self.booleans, other.booleans)):
            mine.update(theirs)
            for word, _ in mine.most_common()[MAX_WORDS:]:
                del mine[word]
        self.hashes |= other.hashes
        self._trim()

    @property
    def fill(self) -> float:
        return self.filled / self.cells if self.cells else 0.0

    @property
    def distinct(self) -> int:
        """Estimated number of distinct values; exact while there are few."""
        if self.counted is not None:
            return self.counted
        if len(self.hashes) < SKETCH:
            return len(self.hashes)
        kth = sorted(self.hashes)[SKETCH - 1]
        return min(self.filled, int((SKETCH - 1) * 2**32 / (kth + 1)))

    def as_json(self) -> dict[str, Any]:
        """The final statistics, with the distinct count instead of the hashes."""
        return {
            "cells": self.cells,
            "filled": self.filled,
            "longest": self.longest,
            "samples": self.samples,
            "marks": dict(self.marks),
            "currencies": dict(self.currencies),
            "booleans": dict(self.booleans),
            "distinct": self.distinct,
        }

    @staticmethod
    def from_json(kept: Mapping[str, Any]) -> ColumnStats:
        return ColumnStats(
            kept["cells"],
            kept["filled"],
            kept["longest"],
            list(kept["samples"]),
            Counter(kept["marks"]),
            Counter(kept["currencies"]),
            Counter(kept["booleans"]),
            counted=kept["distinct"],
        )


def new_stats(width: int) -> list[ColumnStats]:
    return [ColumnStats() for _ in range(width)]


def add_rows(stats: Sequence[ColumnStats], rows: Sequence[Sequence[str]]) -> None:
    """Add a batch of rows of any length."""
    columns = list(zip_longest(*rows, fillvalue=""))[: len(stats)]
    for index, column in enumerate(stats):
        column.add(columns[index] if index < len(columns) else ("",) * len(rows))


def decimal_style(marks: Mapping[str, int]) -> tuple[DecimalStyle | None, str]:
    """The column's decimal mark, and how certain: clear, leaning, mixed, ambiguous or none."""
    comma, point = marks.get("comma", 0), marks.get("point", 0)
    if comma and point:
        # A few exceptions among thousands of cells do not change the decision.
        if comma >= 20 * point:
            return "comma", "leaning"
        return ("point", "leaning") if point >= 20 * comma else (None, "mixed")
    if comma or point:
        return ("comma", "clear") if comma else ("point", "clear")
    unsure_comma, unsure_point = marks.get("comma?", 0), marks.get("point?", 0)
    if unsure_comma and unsure_point:
        return None, "mixed"
    return (None, "ambiguous") if unsure_comma or unsure_point else (None, "none")
