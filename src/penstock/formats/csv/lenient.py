"""Repair a record with broken quoting.

A quote closes a cell only if a delimiter or the end of the line follows. A cell whose quote is
never closed is taken literally, with the quote.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

from penstock.formats.csv.dialect import Dialect

# A quoted cell that is not closed within these limits has a stray quote.
MAX_LINES = 2000
MAX_CHARS = 256 * 1024
# Failed searches over several lines per file, so that a file of stray quotes takes linear time.
MAX_SEARCHES = 100
# A line with more quotes is not searched for the stray one.
MAX_QUOTES = 64


class SearchBudget:
    """The number of failed searches that a file has left."""

    def __init__(self) -> None:
        self.left = MAX_SEARCHES


class RepairedRecord(NamedTuple):
    cells: list[str]
    lines: int
    stray: bool  # a quote was taken literally


def repair_record(
    lines: Sequence[str], at: int, dialect: Dialect, width: int | None, budget: SearchBudget
) -> RepairedRecord:
    """The record that starts at ``lines[at]``: on one line if possible, else over several."""
    line = lines[at].rstrip("\r\n")
    tries = [_parse(line, dialect), _parse(line, dialect, doubled_closes=True)]
    for cells, open_at in tries:
        if open_at is None and width in (None, len(cells)):
            return RepairedRecord(cells, 1, False)
    if line.count(dialect.quote) % 2 == 0:
        # The quotes are balanced, so no cell continues on the next line.
        for cells, _ in tries:
            if len(cells) == width:
                return RepairedRecord(cells, 1, False)
    if budget.left > 0:
        several = _over_lines(lines, at, dialect, width)
        if several is not None:
            return several
        budget.left -= 1
    if (literal := _without_one_quote(line, dialect, width)) is not None:
        return RepairedRecord(literal, 1, True)
    closed = [cells for cells, open_at in tries if open_at is None]
    if closed:
        return RepairedRecord(closed[0], 1, False)
    return RepairedRecord(_best(tries, width), 1, True)


def _without_one_quote(line: str, dialect: Dialect, width: int | None) -> list[str] | None:
    """`1,"4.20,"Bolt, M6",ok`: the cells without the one quote that keeps the line from having the
    right number of them; None if there is no such quote or more than one."""
    quote = dialect.quote
    if width is None or width < 3 or not quote or not 1 < line.count(quote) <= MAX_QUOTES:
        return None
    found = []
    for at in (n for n, character in enumerate(line) if character == quote):
        before = line[:at].rstrip(" ")
        if before and not before.endswith(dialect.delimiter):
            continue
        cells, open_at = _parse(line[:at] + line[at + 1 :], dialect)
        if open_at is None and len(cells) == width:
            found.append(cells)
    # Better without quotes in cells, which escaped ones leave there as well.
    plain = [cells for cells in found if not any(quote in cell for cell in cells)]
    best = plain or found
    return best[0] if len(best) == 1 else None


def joins_records(lines: Sequence[str], dialect: Dialect, width: int | None) -> bool:
    """Whether a record over several lines is really many records joined by a stray quote."""
    inner = lines[1:-1]
    if width is None or width < 3 or not inner:
        return False
    return all(line.count(dialect.delimiter) == width - 1 for line in inner)


def _stands_alone(line: str, dialect: Dialect, width: int) -> bool:
    """Whether a line is a complete record."""
    cells, open_at = _parse(line.rstrip("\r\n"), dialect)
    return open_at is None and len(cells) == width and width > 1


def _best(tries: list[tuple[list[str], int | None]], width: int | None) -> list[str]:
    return next((cells for cells, _ in tries if len(cells) == width), tries[0][0])


def _over_lines(
    lines: Sequence[str], at: int, dialect: Dialect, width: int | None
) -> RepairedRecord | None:
    """Try the next lines that could close the cell, up to the limit."""
    text, chars, tried = lines[at], len(lines[at]), 0
    parts = [text]
    for count, line in enumerate(lines[at + 1 : at + MAX_LINES], start=2):
        parts.append(line)
        chars += len(line)
        if chars > MAX_CHARS or tried >= 8:
            return None
        if dialect.quote not in line:
            continue
        tried += 1
        cells, open_at = _parse("".join(parts).rstrip("\r\n"), dialect)
        if open_at is None and (width is None or len(cells) == width):
            if width is not None and all(_stands_alone(part, dialect, width) for part in parts[1:]):
                return None
            return RepairedRecord(cells, count, False)
    return None


def _parse(
    text: str, dialect: Dialect, *, doubled_closes: bool = False
) -> tuple[list[str], int | None]:
    """The cells, and the index of one that was left open, if any."""
    delimiter, quote = dialect.delimiter, dialect.quote
    cells: list[str] = []
    open_at: int | None = None
    at, end = 0, len(text)
    while True:
        start = at
        while start < end and text[start] == " " and delimiter != " ":
            start += 1
        closed = None
        # If nothing closed one cell, nothing closes a later one either.
        if start < end and text[start] == quote and open_at is None:
            closed = _quoted(text, start + 1, dialect, doubled_closes)
            if closed is None:
                open_at = len(cells)
        if closed is not None:
            cell, at = closed
        else:
            stop = text.find(delimiter, at)
            stop = end if stop < 0 else stop
            cell, at = text[at:stop], stop
        cells.append(cell)
        if at >= end:
            return cells, open_at
        at += len(delimiter)


def _quoted(text: str, at: int, dialect: Dialect, doubled_closes: bool) -> tuple[str, int] | None:
    """The cell after its opening quote and its end; None if nothing closes it."""
    quote, escape, delimiter = dialect.quote, dialect.escape, dialect.delimiter
    kept: list[str] = []
    from_ = at
    while True:
        found = text.find(quote, at)
        if found < 0:
            return None
        if escape and found > from_ and text[found - 1] == escape:
            kept += (text[from_ : found - 1], quote)
            at = from_ = found + 1
            continue
        if text.startswith(quote, found + 1):
            after = found + 2
            closes = doubled_closes and _ends(text, after, delimiter) is not None
            kept += (text[from_:found], quote)
            at = from_ = after
            if closes:
                stop = _ends(text, after, delimiter)
                assert stop is not None
                return "".join(kept), stop
            continue
        stop = _ends(text, found + 1, delimiter)
        if stop is not None:
            kept.append(text[from_:found])
            return "".join(kept), stop
        at = found + 1


def _ends(text: str, at: int, delimiter: str) -> int | None:
    """The position of the next delimiter or the end, if only spaces come before it."""
    end = len(text)
    while at < end and text[at] == " " and delimiter != " ":
        at += 1
    return at if at >= end or text.startswith(delimiter, at) else None
