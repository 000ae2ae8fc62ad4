"""Rows below the names that are about the columns: sentences, `required`, units, numbers."""

from __future__ import annotations

import re
from collections.abc import Sequence

from penstock.formats.structure.table_words import ABOUT_COLUMNS, PAGES, UNITS

Row = Sequence[str]
_WORD = re.compile(r"[^\W\d_]+")
# A cell with more words is read as a sentence.
MAX_WORDS = 6
# Rows that count fewer columns could be data.
_MIN_COUNTED = 4
_MIN_LETTERED = 3
_PAGE = re.compile(
    r"[-–— ]*(\D{1,12}?) ?(\d{1,5})(?: ?(?:/|of|von|de|di|van|z|ze|из|af|av|/) ?\d{1,5})?[-–— ]*"
)


def explains(row: Row, names: Row) -> bool:
    """Whether the row explains the columns, below names that are shorter."""
    named = [
        cell.strip() for n, cell in enumerate(row)
        if cell.strip() and n < len(names) and names[n].strip()
    ]  # fmt: skip
    if len(named) < 2:
        return False
    sentences = sum(len(cell.split()) > 2 and cell[-1] in ".!?。" for cell in named)
    if sentences >= 0.6 * len(named):
        return not any(cell.strip().endswith(".") and len(cell.split()) > 2 for cell in names)
    return len(named) > 2 and sum(map(_is_about_column, named)) >= 0.6 * len(named)


def _is_about_column(cell: str) -> bool:
    said = _WORD.findall(cell.casefold())
    return 0 < len(said) <= MAX_WORDS and not ABOUT_COLUMNS.isdisjoint(said)


def counts_columns(row: Row, names: Row) -> bool:
    """Whether the row numbers the columns below it, as in forms: `1 | 2 | 3 | 4`, `A | B | C`."""
    cells = [cell.strip().strip("().[]") for cell in row]
    while cells and not cells[-1]:
        cells.pop()
    if len(cells) < sum(1 for name in names if name.strip()):
        return False
    if cells == [str(n) for n in range(1, len(cells) + 1)]:
        return len(cells) >= _MIN_COUNTED and not any(name.strip().isdecimal() for name in names)
    letters = [chr(ord("A") + n) for n in range(min(len(cells), 26))]
    return len(cells) >= _MIN_LETTERED and [cell.upper() for cell in cells] == letters


def names_units(row: Row, names: Row) -> bool:
    """Whether the row has units and currencies only, below some of the names but not the first."""
    cells = [(n, cell.strip()) for n, cell in enumerate(row) if cell.strip()]
    named = sum(1 for name in names if name.strip())
    if not cells or len(cells) > 0.7 * named or named < 3:
        return False
    return all(
        n > 0 and n < len(names) and names[n].strip() and cell.casefold().strip("[]()") in UNITS
        for n, cell in cells
    )


def is_page_line(row: Row) -> bool:
    """Whether the row is the line of a printed page: `Page 2`, `- Seite 3 von 9 -`."""
    cells = [cell.strip() for cell in row if cell.strip()]
    if len(cells) != 1 or len(cells[0]) > 24:
        return False
    found = _PAGE.fullmatch(cells[0])
    return found is not None and found[1].strip().casefold() in PAGES
