"""Rows that are headings between the products."""

from __future__ import annotations

import re
from collections.abc import Sequence

MAX_LENGTH = 80
MIN_LETTERS = 3
# `4.2 Bolts`: the number of a section.
_NUMBERED = re.compile(r"[0-9]{1,2}(?:\.[0-9]{1,2}){0,3}[.)]?\s+")
# `Schrauben DIN 933` is a heading; `AB-100` and `M8 x 40` are not.
_WORDED = re.compile(r"[^\W\d_]{3,}(?: |$)")


def count_filled(row: Sequence[str]) -> int:
    return sum(1 for cell in row if cell and not cell.isspace())


def heading_of(row: Sequence[str]) -> str | None:
    """The text of a row that is a heading: its only cell, in words. A single code is an incomplete
    product."""
    if len(row) - row.count("") > 2 or count_filled(row) != 1:
        return None
    text = next(cell for cell in row if cell and not cell.isspace()).strip()
    if len(text) > MAX_LENGTH:
        return None
    words = _NUMBERED.sub("", text, count=1)
    letters, digits = sum(map(str.isalpha, words)), sum(map(str.isdigit, words))
    if letters < MIN_LETTERS or (digits and (letters < 2 * digits or not _WORDED.match(words))):
        return None
    return text
