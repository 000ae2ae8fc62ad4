"""Fixed-width columns without blanks between them: split where digits and words meet.

A split must apply to all lines; one that applies to most is chance. Nothing here knows what a
column means, only that a code ends, a number begins or a currency is at one position.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Sequence
from datetime import date
from itertools import pairwise

Gap = tuple[int, int]

_MIN_CODE_LENGTH = 4
_MIN_NUMBER_LENGTH = 4
_MAX_NUMBER_LENGTH = 14
_MIN_LINES = 3
_MARKS = frozenset({
    "EUR", "USD", "GBP", "CHF", "JPY", "CNY", "PLN", "CZK", "HUF", "SEK", "NOK", "DKK", "RUB",
    "TRY", "AUD", "CAD", "INR", "BRL", "MXN", "ZAR", "ST", "STK", "PCE", "PCS", "PC", "EA", "KG",
    "MTR", "LTR", "SET", "PAA", "PA", "KAR", "ROL", "CT", "BX", "PK", "VE",
})  # fmt: skip
_MORE = re.compile(r"[^\W\d_]|\d{4}")
# A number at the end of a text, reversed.
_NUMBER_BACKWARDS = re.compile(r"[\d.,]*\d")


def find_dense_gaps(lines: Sequence[str], gaps: Sequence[Gap]) -> list[Gap]:
    """The gaps, with further splits between characters. The first line may be a header."""
    width = max(map(len, lines))
    edges = [(0, 0), *gaps, (width, width)]
    found: list[Gap] = list(gaps)
    for (_, begin), (end, _) in pairwise(edges):
        for rows in (lines, lines[1:]):
            if len(rows) < _MIN_LINES:
                continue
            cells = [line.ljust(width)[begin:end] for line in rows]
            cuts = list(_cut(cells))
            if cuts:
                found += [(begin + a, begin + b) for a, b in cuts]
                break
    return sorted(set(found))


def _cut(cells: Sequence[str]) -> Iterator[Gap]:
    """All splits of one part, recursively."""
    for way in (_after_gtin, _at_marks, _after_decimals, _before_number, _after_code, _in_digits):
        gaps = way(cells)
        if not gaps:
            continue
        start = 0
        for begin, end in [*gaps, (len(cells[0]), len(cells[0]))]:
            if begin < len(cells[0]):
                yield begin, end
            inner = [cell[start:begin] for cell in cells]
            yield from ((start + a, start + b) for a, b in _cut(inner))
            # Long numbers may begin inside a gap.
            start = begin
        return


def _at(cells: Sequence[str], place: int, test: Callable[[str], bool]) -> bool:
    return all(place < len(cell) and test(cell[place]) for cell in cells)


def _after_gtin(cells: Sequence[str]) -> list[Gap]:
    """`4006381333931AB-1234`: GTINs in every line, then a code that begins with a letter."""
    whole = all(cell[:13].isdigit() and _is_gtin(cell[:13]) for cell in cells)
    return [(13, 13)] if whole and _at(cells, 13, str.isalpha) else []


def _at_marks(cells: Sequence[str]) -> list[Gap]:
    """`0000123450EUR20261115`: a currency or unit at one position, between numbers."""
    for size in (3, 2):
        for place in range(len(cells[0]) - size + 1):
            after = place + size
            if not all(cell[place:after] in _MARKS for cell in cells):
                continue
            begins = place > 0 and _at(cells, place - 1, str.isdigit)
            goes_on = _at(cells, after, str.isdigit)
            alone = place == 0 or _at(cells, place - 1, lambda c: not c.isalpha())
            ends = after >= len(cells[0]) or _at(cells, after, lambda c: not c.isalpha())
            if alone and ends and (begins or goes_on):
                gaps = [(place, place)] if place and begins else []
                return [*gaps, (after, after)] if goes_on else gaps
    return []


def _after_decimals(cells: Sequence[str]) -> list[Gap]:
    """`000012,5020260115`: two decimals at one position in every line, followed by more."""
    for place in range(1, len(cells[0]) - 3):
        mark = _at(cells, place, lambda c: c in ".,")
        if mark and _at(cells, place - 1, str.isdigit):
            decimals = all(cell[place + 1 : place + 3].isdigit() for cell in cells)
            # One to three further digits are decimals too.
            more = all(_MORE.match(cell, place + 3) for cell in cells)
            if decimals and more:
                return [(place + 3, place + 3)]
    return []


def _number_start(cell: str) -> int:
    """The start of the number at the end of the cell, including its sign."""
    found = _NUMBER_BACKWARDS.match(cell[::-1])
    start = len(cell) - (0 if found is None else found.end())
    signed = start > 0 and cell[start - 1] in "+-" and (start == 1 or cell[start - 2].isspace())
    return start - 1 if signed else start


def _before_number(cells: Sequence[str]) -> list[Gap]:
    """`Widget extra large 22000`, `DIN 900000099`: right-aligned numbers after a text, with a blank
    before each or with leading zeros in all."""
    bare = [cell.rstrip() for cell in cells]
    if len({len(cell) for cell in bare}) != 1 or not all(cell[-1:].isdigit() for cell in bare):
        return []
    starts = [_number_start(cell) for cell in bare]
    if not any(starts):
        return []
    texts = [cell[:start].strip() for cell, start in zip(bare, starts, strict=True)]
    if sum(any(map(str.isalpha, text)) for text in texts) < 0.8 * len(texts):
        return []
    first = max(starts)
    padded = len(bare[0]) - first >= _MIN_NUMBER_LENGTH and all(cell[first] == "0" for cell in bare)
    if padded and any(cell[first - 1] == " " for cell in bare):
        return [(first, first)]
    if all(start and cell[start - 1] == " " for cell, start in zip(bare, starts, strict=True)):
        return [(min(starts) - 1, first)]
    return []


def _after_code(cells: Sequence[str]) -> list[Gap]:
    """`AB-1234Widget small`: a code of equal length in every line, then words."""
    for place in range(_MIN_CODE_LENGTH, len(cells[0]) - 1):
        if any(" " in cell[:place] for cell in cells):
            return []
        meets = _at(cells, place - 1, str.isdigit) and _at(cells, place, str.isalpha)
        if meets and _are_words([cell[place:].rstrip() for cell in cells]):
            return [(place, place)]
    return []


def _are_words(texts: Sequence[str]) -> bool:
    wordy = sum(" " in text or any(map(str.islower, text)) for text in texts)
    return len(set(map(len, texts))) > 1 and 2 * wordy >= len(texts)


def _in_digits(cells: Sequence[str]) -> list[Gap]:
    """Only digits: GTINs with a valid check digit, or dates, at one position in all lines."""
    size = len(cells[0])
    if size < 9 or not all(cell.isdigit() for cell in cells):
        return []
    for place in range(size - 12):
        if size > 13 and all(_is_gtin(cell[place : place + 13]) for cell in cells):
            return [(at, at) for at in (place, place + 13) if 0 < at < size]
    for place in (0, size - 8):
        if all(_is_day(cell[place : place + 8]) for cell in cells):
            at = 8 if place == 0 else place
            return [(at, at)]
    return []


def _is_gtin(digits: str) -> bool:
    total = sum(int(digit) * (3 if n % 2 else 1) for n, digit in enumerate(digits))
    return total % 10 == 0 and not digits.startswith("000")


def _is_day(digits: str) -> bool:
    try:
        day = date.fromisoformat(digits)
    except ValueError:
        return False
    return 1990 <= day.year < 2050


def has_glued_digits(rows: Sequence[Sequence[str]]) -> bool:
    """Whether a column contains digits of equal length that are too many for a number."""
    for column in zip(*rows, strict=False):
        sizes = {len(cell) for cell in column}
        long = len(sizes) == 1 and max(sizes) > _MAX_NUMBER_LENGTH and len(column) >= _MIN_LINES
        if long and all(cell.isdigit() for cell in column):
            return True
    return False


def has_padded_numbers(rows: Sequence[Sequence[str]]) -> bool:
    """Whether a column after the first contains integers of equal length with leading zeros."""
    for column in list(zip(*rows, strict=False))[1:]:
        sizes = {len(cell) for cell in column}
        even = len(sizes) == 1 and max(sizes) >= _MIN_NUMBER_LENGTH and len(column) >= _MIN_LINES
        if even and all(cell.isdigit() and cell[0] == "0" for cell in column):
            return True
    return False
