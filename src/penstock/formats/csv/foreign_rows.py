"""Rows that were written with another delimiter or quote than the rest of the file."""

from __future__ import annotations

import csv
from collections.abc import Sequence

from penstock.formats.csv.dialect import Dialect

_DELIMITERS = (",", ";", "\t", "|")
_QUOTES = ('"', "'")
# A narrow table has too many rows that another delimiter cuts into the right number by chance.
MIN_WIDTH = 3


def split_again(row: Sequence[str], width: int, dialect: Dialect) -> tuple[list[str], str] | None:
    """The cells of a row with the wrong number of them, and the mark that cuts it into the right
    number; None if none does, or several do."""
    if width < MIN_WIDTH or len(dialect.delimiter) != 1:
        return None
    line = dialect.delimiter.join(row)
    if "\n" in line or "\r" in line:
        return None
    found = []
    if len(row) < width:
        for delimiter in _DELIMITERS:
            if delimiter != dialect.delimiter and line.count(delimiter) >= width - 1:
                found.append((_cells(line, delimiter, dialect.quote or '"'), delimiter))
    else:
        for quote in _QUOTES:
            if quote != dialect.quote and any(cell.startswith(quote) for cell in row):
                found.append((_cells(line, dialect.delimiter, quote), quote))
    fitting = [(cells, mark) for cells, mark in found if len(cells) == width]
    return fitting[0] if len(fitting) == 1 else None


def _cells(line: str, delimiter: str, quote: str) -> list[str]:
    try:
        rows = list(csv.reader([line], delimiter=delimiter, quotechar=quote, strict=True))
    except csv.Error:
        return []
    return rows[0] if len(rows) == 1 else []
