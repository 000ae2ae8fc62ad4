"""Find the header: no row, one row, or a group row with the names below."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, field
from itertools import pairwise

from penstock.formats.structure.cell_kinds import (
    BOOL,
    CODE,
    DATE,
    EMPTY,
    LINK,
    NUMBER,
    TEXT,
    TYPED,
    filled,
    is_blank,
    kind_of,
)  # fmt: skip
from penstock.formats.structure.help_rows import counts_columns, explains, names_units

Row = Sequence[str]
Merge = tuple[int, int, int, int]
_MAX_HEADER_ROWS = 6
_LOOK_DOWN = 200
# What recurs more often than a header on every page is a row.
_HEADERS_SHARE = 0.15
# Rows of settings above a header.
_MAX_ABOVE = 30
_IDENTIFIER = re.compile(r"[a-z][a-z0-9_.-]{0,80}")
_YEAR = re.compile(r"(?<!\d)(?:19|20)\d\d(?!\d)")
# Settings of a template above its header: `Version=2014.1119`.
_SETTING = re.compile(r"\s*\w[\w .-]{0,40}=\S")


@dataclass(slots=True)
class Header:
    """``rows`` are the indices of the header rows, ``names`` the column names; empty without a
    header."""

    rows: list[int]
    names: list[str]
    sure: bool = True
    doubts: list[tuple[str, float]] = field(default_factory=list)


def find_header(
    rows: Sequence[Row], start: int, stop: int, width: int, merges: Sequence[Merge]
) -> Header:
    at = _main_row(rows, start, stop, width)
    if at is None:
        return Header([], [])
    last = _merged_down(at, merges, stop)
    body = [row for row in rows[last + 1 : min(stop, last + 1 + _LOOK_DOWN)] if not is_blank(row)]
    # A header printed on every page says nothing about the cells below it.
    cells = [row for row in body if list(row) != list(rows[at])]
    repeats = len(body) - len(cells)
    body = cells if cells and repeats <= max(1, _HEADERS_SHARE * len(body)) else body
    vote = _vote(rows[at], body, width)
    if vote < 0 and last == at:
        return Header([], [], doubts=_doubt_of_none(vote))
    first = _group_row(rows, start, at, width, merges)
    last = _below_rule(rows, _down_to(rows, at, last, stop, width), stop)
    chosen = [n for n in range(first, last + 1) if not is_blank(rows[n])]
    # Technical names below display names repeat the header.
    named = chosen[-1:] if len(chosen) > 1 and _are_identifiers(rows[chosen[-1]]) else chosen
    help_rows = [n for n in named if n > at and _is_help(rows[n], rows[at])]
    named = [n for n in named if n not in help_rows and not _is_rule(rows[n])]
    names = _joined(rows, named, width, merges)
    header = Header(chosen, names, sure=vote >= 0.5)
    header.doubts += [(f"row {n + 1} explains the columns and was skipped", 0.9) for n in help_rows]
    if body and 0 <= vote < 0.25 * max(1, filled(rows[at])):
        header.doubts.append(
            (f"row {at + 1} was taken for the header, but could be the first row of data", 0.6)
        )
    return header


def _is_help(row: Row, names: Row) -> bool:
    return explains(row, names) or counts_columns(row, names)


def _is_rule(row: Row) -> bool:
    """`---;-----;----`: a line drawn below the names."""
    cells = [cell.strip() for cell in row if cell.strip()]
    return len(cells) > 1 and all(len(cell) > 1 and set(cell) <= {"-", "=", "_"} for cell in cells)


def _below_rule(rows: Sequence[Row], last: int, stop: int) -> int:
    return last + 1 if last + 2 < stop and _is_rule(rows[last + 1]) else last


def _are_identifiers(row: Row) -> bool:
    cells = [cell.strip() for cell in row if cell.strip()]
    joined = sum("_" in cell for cell in cells)
    return 3 * joined >= len(cells) and all(map(_IDENTIFIER.fullmatch, cells))


def _doubt_of_none(vote: float) -> list[tuple[str, float]]:
    if vote > -1:
        return [("no header was found, but the first row could be one", 0.6)]
    return []


def _main_row(rows: Sequence[Row], start: int, stop: int, width: int) -> int | None:
    """The first row that is filled about as wide as the table."""
    fills = [
        filled(row) for row in rows[start : min(stop, start + _LOOK_DOWN)] if not is_blank(row)
    ]
    if not fills:
        return None
    usual = sorted(fills)[len(fills) // 2]
    enough = max(min(2, width), 0.5 * min(width, max(usual, 1)))
    for index in range(start, min(stop, start + 60)):
        row = rows[index]
        full = filled(row)
        if full >= enough and not _is_comment(rows, index, stop, width):
            if full < 0.6 * usual and index + 1 < stop and filled(rows[index + 1]) > 1.5 * full:
                continue
            if full < 0.6 * usual and _has_header_below(rows, index, stop, width, usual):
                continue
            if index + 2 < stop and _is_settings(row, rows[index + 1]):
                continue
            if index + 2 < stop and _is_record_above(rows, index, stop, width):
                continue
            if index + 2 < stop and _is_wider(rows, index, stop):
                continue
            return index
    return None


def _has_header_below(rows: Sequence[Row], index: int, stop: int, width: int, usual: float) -> bool:
    """Whether a narrow row is above the header, like `Customer no. | 10023` among the settings of a
    list: the first full row below is a header by its own cells."""
    for at in range(index + 1, min(stop - 1, index + 1 + _MAX_ABOVE)):
        if filled(rows[at]) >= max(3, 0.9 * usual):
            return _is_header_by_itself(rows, at, stop, width)
    return False


def _is_record_above(rows: Sequence[Row], index: int, stop: int, width: int) -> bool:
    """Whether the row is a record about the file above its header: `HDR | 20260101 | PRICES`."""
    row, below = rows[index], rows[index + 1]
    if filled(row) >= filled(below) or not any(kind_of(c) in (NUMBER, DATE) for c in row):
        return False
    return _is_header_by_itself(rows, index + 1, stop, width)


def _is_header_by_itself(rows: Sequence[Row], at: int, stop: int, width: int) -> bool:
    cells = [cell for cell in rows[at] if cell.strip()]
    if any(kind_of(cell) in TYPED for cell in cells):
        return False
    body = [row for row in rows[at + 1 : min(stop, at + 1 + _LOOK_DOWN)] if not is_blank(row)]
    return bool(body) and _vote(rows[at], body, width) >= 1


def _is_wider(rows: Sequence[Row], index: int, stop: int) -> bool:
    """Whether the row is a sentence with commas above the header: it has more cells than any row
    of the table, and names follow."""
    full, below = filled(rows[index]), rows[index + 1]
    body = [filled(row) for row in rows[index + 2 : min(stop, index + 2 + _LOOK_DOWN)]]
    if filled(below) < 2 or len(body) < 2 or max(body) >= full or max(body) != filled(below):
        return False
    named = all(kind_of(cell) in (TEXT, CODE) for cell in below if cell.strip())
    spoken = any(len(cell.split()) > 2 for cell in rows[index])
    return named and spoken


def _is_settings(row: Row, below: Row) -> bool:
    """Whether the row contains settings of a template."""
    says = any(map(_SETTING.match, row)) and not any(map(_SETTING.match, below))
    return says and filled(below) >= filled(row)


def _is_comment(rows: Sequence[Row], index: int, stop: int, width: int) -> bool:
    """A line that starts with a comment mark, above a possible header."""
    first = rows[index][0].lstrip() if rows[index] else ""
    if not first.startswith(("# ", "//", "-- ", "% ")) or index + 2 >= stop:
        return False
    below = [kind_of(cell) for cell in rows[index + 1][:width]]
    return bool(below) and all(kind in (TEXT, CODE) for kind in below)


def _merged_down(at: int, merges: Sequence[Merge], stop: int) -> int:
    """The last row that a merged cell of the header covers."""
    bottoms = [bottom for top, _, bottom, _ in merges if top == at and bottom - at < 10]
    return min(max([at, *bottoms]), stop - 1)


def _vote(row: Row, body: Sequence[Row], width: int) -> float:
    """Positive if the row is a header, negative if it is data."""
    if not body:
        typed = sum(kind_of(cell) in TYPED for cell in row)
        return -1.0 if typed and typed >= 0.5 * filled(row) else 1.0
    years = _is_series(row) or _are_steps(row, body)
    votes = 0.0
    for column in range(min(width, len(row))):
        cell = row[column].strip()
        below = [other[column].strip() for other in body if column < len(other)]
        votes += _cell_vote(cell, below, years)
    names = [cell.strip().casefold() for cell in row if cell.strip()]
    if len(set(names)) < len(names):
        votes -= 0.15
    return votes


def _cell_vote(cell: str, below: Sequence[str], years: bool) -> float:
    kind = kind_of(cell)
    kinds = Counter(map(kind_of, below))
    kinds.pop(EMPTY, None)
    if kind == EMPTY:
        return -0.3 if kinds and cell else -0.05
    if not kinds:
        return 0.3 if kind in (TEXT, CODE) else 0.0
    usual, count = kinds.most_common(1)[0]
    clear = count >= 0.7 * sum(kinds.values())
    if kind == NUMBER and years:
        return 0.6
    if usual in TYPED and clear:
        if kind == usual:
            # `2XL` is a column name if the cells below are bare numbers.
            named = kind == NUMBER and _lettered(cell) and not any(map(_lettered, below))
            return 0.5 if named else -1.0
        return 1.0 if kind in (TEXT, CODE) else 0.5
    if kind in TYPED and kind != BOOL:
        return -0.6
    if cell in below and len(below) > 2 and below.count(cell) < 0.5 * len(below):
        return -0.3
    return 0.2 + _code_vote(kind, usual, cell, below)


def _lettered(cell: str) -> bool:
    return any(map(str.isalpha, cell))


def _code_vote(kind: str, usual: str, cell: str, below: Sequence[str]) -> float:
    """Codes with digits below a name without digits."""
    if usual == CODE and kind == TEXT:
        return 0.3
    if usual == CODE and kind == CODE and clear_pattern(cell) in map(clear_pattern, below[:5]):
        return -0.6
    if usual == TEXT and kind == CODE:
        return -0.1
    return 0.0


def clear_pattern(cell: str) -> str:
    """The shape of a code: letters and digits as classes, punctuation literally."""
    return "".join("9" if c.isdigit() else "a" if c.isalpha() else c for c in cell)


def _is_series(row: Row) -> bool:
    """Whether the row is a series of increasing years or quantities, used as column names."""
    numbers = [cell.strip() for cell in row if kind_of(cell) == NUMBER]
    if not numbers or not all(number.isdecimal() for number in numbers):
        return False
    values = [int(number[:18]) for number in numbers]
    return all(1800 <= value <= 2100 for value in values) and all(
        a < b for a, b in pairwise(values)
    )


def _are_steps(row: Row, body: Sequence[Row]) -> bool:
    """Increasing whole numbers over cells that do not increase like that: quantities of price
    breaks."""
    places = [n for n, cell in enumerate(row) if cell.strip().isdecimal() and len(cell.strip()) < 8]
    if len(places) < 3 or not _grow(row, places):
        return False
    first, second = (int(row[n]) for n in places[:2])
    if first != 1 or second == 2:
        return False
    return sum(_grow(other, places) for other in body[:50]) <= 0.2 * len(body[:50])


def _grow(row: Row, places: Sequence[int]) -> bool:
    cells = [row[n].strip() if n < len(row) else "" for n in places]
    return all(map(str.isdecimal, cells)) and all(int(a) < int(b) for a, b in pairwise(cells))


def _group_row(
    rows: Sequence[Row], start: int, at: int, width: int, merges: Sequence[Merge]
) -> int:
    """Rows directly above the main one that name groups of columns."""
    first = at
    while first > start and at - first < _MAX_HEADER_ROWS:
        row = rows[first - 1]
        spans = [m for m in merges if m[0] <= first - 1 <= m[2] and m[3] > m[1]]
        whole = any(right - left + 1 >= width for _, left, _, right in spans)
        texts = [cell for cell in row if cell.strip()]
        if is_blank(row) or whole or any(kind_of(cell) in TYPED for cell in texts):
            break
        if any(map(_SETTING.match, texts)) or len(texts) > filled(rows[at]):
            break
        if len(texts) == 1 and not spans and (_is_title(texts[0]) or not _named(row, rows[at])):
            break
        if not spans and width > 3 and _is_setting(row) and _is_setting(rows[max(first - 2, 0)]):
            break
        later = any(cell.strip() for cell in row[1:])
        if not later or (len(texts) < 2 and not spans and len(row) < width):
            break
        if len(row) < width and not spans and len(texts) < 0.3 * width:
            break
        first -= 1
    return first


def _is_setting(row: Row) -> bool:
    """Whether only the first two cells are filled: a name and its value."""
    return [n for n, cell in enumerate(row) if cell.strip()] == [0, 1]


def _named(row: Row, names: Row) -> bool:
    """Whether a name stands below a text of the row; else the text is no group."""
    below = [names[n] for n, cell in enumerate(row) if cell.strip() and n < len(names)]
    return any(name.strip() for name in below)


def _is_title(text: str) -> bool:
    """Whether a single text above the header is a title, not the name of a group of columns."""
    return "\n" in text.strip() or len(text.split()) > 3 or _YEAR.search(text) is not None


def _down_to(rows: Sequence[Row], at: int, last: int, stop: int, width: int) -> int:
    """Rows below the main one that belong to the header: they contain no numbers, the rows below
    them do."""
    while last + 2 < stop and last - at < _MAX_HEADER_ROWS:
        row = rows[last + 1]
        body = [other for other in rows[last + 2 : min(stop, last + 2 + _LOOK_DOWN)]
                if not is_blank(other)]  # fmt: skip
        # The first row may be a header too, so the others decide if there are enough.
        body = body[2:] if len(body) > 4 else body
        # A blank row below shows that the row belongs to the header, even with a number.
        gap = is_blank(rows[last + 2])
        if len(row) > len(rows[at]) and all(len(other) <= len(rows[at]) for other in body):
            # The only row that is wider than the names is a record with a delimiter in its text.
            break
        if counts_columns(row, rows[at]) or names_units(row, rows[at]):
            last += 1
            continue
        if is_blank(row) or not _continues(row, rows[at], body, width, 1 if gap else 0):
            break
        last += 1
    return last


def _are_years_of_groups(row: Row, main: Row, body: Sequence[Row]) -> bool:
    """Years below names that stand over several columns each, and not below the first one."""
    years = [n for n, cell in enumerate(row) if cell.strip()]
    if len(years) < 2 or 0 in years or len(body) < 2 or not _fills_gaps(row, main):
        return False
    if not all(map(_is_year, (row[n] for n in years))):
        return False
    return not all(_is_year(other[n]) for other in body for n in years if n < len(other))


def _is_year(cell: str) -> bool:
    text = cell.strip()
    return len(text) == 4 and _YEAR.fullmatch(text) is not None


def _continues(row: Row, main: Row, body: Sequence[Row], width: int, most_typed: int) -> bool:
    if _are_years_of_groups(row, main, body):
        return True
    gaps = sum(1 for n in range(width) if n >= len(main) or not main[n].strip())
    typed = mismatches = 0
    for column in range(min(width, len(row))):
        kind = kind_of(row[column])
        kinds = Counter(kind_of(other[column]) for other in body if column < len(other))
        kinds.pop(EMPTY, None)
        total = sum(kinds.values())
        if not total or not any(kinds[k] >= 0.9 * total for k in (NUMBER, DATE, LINK)):
            continue
        typed += 1
        if kind in TYPED:
            most_typed -= 1
            if most_typed < 0:
                return False
        mismatches += kind in (TEXT, CODE)
    if len(body) < 2 or typed == 0:
        return False
    fills_gaps = gaps > 0 and _fills_gaps(row, main)
    return mismatches >= 2 or (mismatches >= 1 and fills_gaps)


def _fills_gaps(row: Row, main: Row) -> bool:
    return any(
        cell.strip() and (n >= len(main) or not main[n].strip()) for n, cell in enumerate(row)
    )


def _joined(
    rows: Sequence[Row], chosen: Sequence[int], width: int, merges: Sequence[Merge]
) -> list[str]:
    """One name per column: its cells in all header rows, with merged cells and group names
    spread."""
    width = max(len(rows[n]) for n in chosen)
    columns: list[list[str]] = [[] for _ in range(width)]
    for place, number in enumerate(chosen):
        row = rows[number]
        carried = ""
        is_group = place < len(chosen) - 1
        for column in range(width):
            cell = row[column] if column < len(row) else ""
            if not merges and is_group:
                # A group's name stands over its first column only; a name without names
                # below it is not a group.
                below = _name_below(rows, chosen[place + 1 :], column)
                if cell.strip():
                    carried = cell if below else ""
                cell = carried if below else cell
            if len(chosen) == 1:
                columns[column].append(cell)
            elif cell.strip() and cell.strip() not in columns[column]:
                columns[column].append(cell.strip())
    return [" ".join(parts) for parts in columns]


def _name_below(rows: Sequence[Row], below: Sequence[int], column: int) -> bool:
    return any(column < len(rows[n]) and rows[n][column].strip() for n in below)
