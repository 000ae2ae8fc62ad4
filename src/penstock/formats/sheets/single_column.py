"""Sheets whose only column holds lines of text, as an import without a delimiter leaves them."""

from __future__ import annotations

import csv
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence

# Commas and bars are part of texts, so they must make more columns than the others.
_LEAST_COLUMNS = {"\t": 2, ";": 2, "|": 3, ",": 3}
_MIN_ROWS = 3
_LOOKED_AT = 500
_MIN_EQUAL = 0.95


def find_delimiter(rows: Sequence[Sequence[str]]) -> str | None:
    """The delimiter that splits the cells of the only used column into equal numbers of values."""
    filled = [[cell for cell in row if cell.strip()] for row in rows[:_LOOKED_AT]]
    lines = [row[0] for row in filled if row]
    if len(lines) < _MIN_ROWS or any(len(row) > 1 for row in filled):
        return None
    for delimiter, least in _LEAST_COLUMNS.items():
        widths = Counter(len(_split(line, delimiter)) for line in lines)
        width, count = widths.most_common(1)[0]
        if width >= least and count >= _MIN_EQUAL * len(lines):
            return delimiter
    return None


def split_rows(
    rows: Iterable[tuple[int, list[str]]], delimiter: str
) -> Iterator[tuple[int, list[str]]]:
    for number, row in rows:
        line = next((cell for cell in row if cell.strip()), "")
        yield number, _split(line, delimiter)


def _split(line: str, delimiter: str) -> list[str]:
    cells = next(csv.reader([line.replace("\n", " ").replace("\r", " ")], delimiter=delimiter), [])
    while cells and not cells[-1]:
        cells.pop()
    return cells
