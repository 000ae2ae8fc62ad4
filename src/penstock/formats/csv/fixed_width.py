"""Fixed-width columns: find the blanks that all lines share, and split lines there."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Collection, Sequence
from itertools import pairwise
from typing import NamedTuple

from penstock.formats.csv.fixed_width_dense import find_dense_gaps
from penstock.formats.read_options import wrong_option
from penstock.formats.structure.cell_kinds import CODE, EMPTY, TYPED, kind_of

# Start and end of the blank between two columns.
Gap = tuple[int, int]

_MIN_LINES = 3
_MAX_LINE_LENGTH = 4_000
_MAX_WIDTHS = 500
_MIN_RECORD_LENGTH = 20
# A line that underlines the header: each run of dashes is a column.
_UNDERLINE = re.compile(r"\s*[-=]{2,}(?:\s+[-=]{1,})+\s*")


class Positions(NamedTuple):
    """``sure``: the header is underlined, or the caller gave the positions."""

    gaps: tuple[Gap, ...]
    sure: bool


def is_underline(line: str) -> bool:
    return _UNDERLINE.fullmatch(line) is not None


def cut(line: str, gaps: Sequence[Gap]) -> list[str]:
    """The cells of a line, stripped. A value longer than its column ends at the next blank."""
    if "\t" in line:
        line = line.expandtabs()
    cells, start = [], 0
    for begin, end in gaps:
        at = end
        if begin < end and not line[begin:end].isspace() and len(line) > begin:
            blank = line.find(" ", begin, end)
            at = blank if blank >= 0 else end
        elif begin == end and line[begin - 1 : begin + 1].isalpha():
            # A name in the header that begins a little before its values.
            at = max(line.rfind(" ", start, begin) + 1, start) or end
        cells.append(line[start:at].strip())
        start = at
    cells.append(line[start:].strip())
    return cells


def gaps_of_widths(text: str) -> tuple[Gap, ...]:
    """Gaps for widths such as `10,25,3`; the rest of the line is a further column."""
    try:
        widths = [int(width) for width in text.split(",")]
    except ValueError:
        widths = []
    if not widths or min(widths) < 1 or len(widths) > _MAX_WIDTHS:
        raise wrong_option("widths", text, "write the widths of the columns, as in 10,25,3")
    ends = [sum(widths[: n + 1]) for n in range(len(widths))]
    return tuple((end, end) for end in ends[:-1])


def find_positions(lines: Sequence[str]) -> Positions | None:
    """The positions of aligned columns; None if the lines have none."""
    plain = [line.rstrip("\r\n").expandtabs() for line in lines]
    for line in plain:
        if is_underline(line):
            runs = [match.span() for match in re.finditer(r"[-=]+", line)]
            return Positions(tuple((a[1], b[0]) for a, b in pairwise(runs)), sure=True)
    body = _body([line for line in plain if line.strip()])
    if len(body) < _MIN_LINES or max(map(len, body)) > _MAX_LINE_LENGTH:
        return None
    blanks = _shared_blanks(body)
    gaps = _real_gaps(blanks, body)
    wide = [gap for gap in gaps if gap[1] - gap[0] > 1]
    if not wide and not _are_equally_long(body) and not _are_equally_long(body[1:]):
        return None
    if not _is_delimited(body):
        found = set(find_dense_gaps(body, wide)) - set(wide)
        if found:
            apart = [b for b in blanks if not any(a[0] <= b[0] < max(a) for a in found)]
            gaps = _real_gaps(sorted({*apart, *found}), body, found)
    return Positions(tuple(gaps), sure=False) if gaps else None


def _body(lines: Sequence[str]) -> list[str]:
    """The lines of the table, without titles and notes."""
    if _are_equally_long(lines):
        return list(lines)
    gapped = [n for n, line in enumerate(lines) if "  " in line.strip()]
    if len(gapped) < _MIN_LINES:
        return []
    inside = list(lines[gapped[0] : gapped[-1] + 1])
    return inside if len(gapped) >= 0.7 * len(inside) else []


def _are_equally_long(lines: Sequence[str]) -> bool:
    """Whether all lines have the same length and are too long for one value."""
    filled = [len(line) for line in lines if line.strip()]
    return len(filled) >= _MIN_LINES and len(set(filled)) == 1 and filled[0] >= _MIN_RECORD_LENGTH


def _is_delimited(lines: Sequence[str]) -> bool:
    """Whether a delimiter separates the cells of every line."""
    return any(all(mark in line for line in lines) for mark in ";\t|") or all(
        line.count(",") > 1 for line in lines
    )


def _shared_blanks(lines: Sequence[str]) -> list[Gap]:
    width = max(map(len, lines))
    filled = [False] * width
    for line in lines:
        for at, character in enumerate(line):
            if character != " ":
                filled[at] = True
    gaps: list[Gap] = []
    start: int | None = None
    for at, full in enumerate(filled):
        if full:
            if start is not None and start > 0:
                gaps.append((start, at))
            start = None
        elif start is None:
            start = at
    return [gap for gap in gaps if any(filled[: gap[0]])]


def _real_gaps(gaps: Sequence[Gap], lines: Sequence[str], sure: Collection[Gap] = ()) -> list[Gap]:
    """Remove gaps that are accidental: single blanks between words. A column without a name and
    without values belongs to the text before it."""
    kept: list[Gap] = []
    for gap in gaps:
        before = kept[-1][1] if kept else 0
        after = min((other[0] for other in gaps if other[0] > gap[0]), default=None)
        left = [line[before : gap[0]].strip() for line in lines]
        right = [line[gap[1] : after].strip() for line in lines]
        named = bool(left[0]) and bool(right[0])
        values = _are_values(right[1:]) or _are_values(left[1:])
        # A wide gap between names separates the columns below.
        parted = named and "  " in lines[0][max(0, gap[0] - 1) : gap[1] + 1]
        enough = values or parted if gap[1] - gap[0] == 1 else named or values
        if gap[1] - gap[0] == 1 and 2 * sum(map(bool, right)) < len(right):
            enough = named = False
        if gap in sure or enough or (gap[1] - gap[0] == 1 and named and len(lines) >= 20):
            kept.append(gap)
    return kept


def _are_values(cells: Sequence[str]) -> bool:
    kinds = Counter(map(kind_of, cells))
    kinds.pop(EMPTY, None)
    total = sum(kinds.values())
    return total > 0 and sum(kinds[kind] for kind in (*TYPED, CODE)) >= 0.8 * total
