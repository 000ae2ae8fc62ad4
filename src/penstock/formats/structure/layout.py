"""Find the table among rows: title lines, header, body, notes, other tables.

Works on rows of text from any format. A row is a list of cells, cut after its last one.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from itertools import pairwise
from statistics import median

from penstock.formats.structure.cell_kinds import EMPTY, NUMBER, TEXT, filled, is_blank, kind_of
from penstock.formats.structure.headers import Header, find_header
from penstock.formats.structure.help_rows import is_page_line

Row = Sequence[str]
# (first row, first column, last row, last column), counted from 0.
Merge = tuple[int, int, int, int]

# Fewer rows with blank rows between them may be several tables.
MIN_DOUBLE_SPACED = 4

_TOTAL = re.compile(
    r"(grand\s?|sub|sous[ -]|zwischen|gesamt|net|rechnungs)?[ -]?"
    r"(total|totals|totale|totaal|sum|summe|gesamt|somme|suma|soma|итого|betrag|"
    r"összesen|celkem|razem|合計|合计|总计|小计|小計|\*{1,3}|übertrag|"
    r"trailer|trl|tlr|footer|ftr|eof)"
    r"(\s*[:=(].{0,30}|\s+(net|gross|netto|brutto|amount|price|value|general|général|general|ht|ttc|"
    r"incl|excl|eur|usd|gbp|chf|of|rows|items|qty)\b.{0,30})?",
    re.IGNORECASE,
)
# Additions to a total: taxes, shipping.
_ADDED = re.compile(
    r"(plus|zzgl\.?|inkl\.?|incl\.?|excl\.?|\+)?\s?\(?(\d{1,2}([.,]\d{1,2})?\s?%)?\s?"
    r"(mwst|ust|vat|tva|iva|btw|dph|moms|gst|sales tax|tax|mehrwertsteuer|versand|versandkosten|"
    r"shipping|freight|porto|fracht|rabatt|discount|skonto|rundung)\.?"
    r"\s?(\d{1,2}([.,]\d{1,2})?\s?%)?\)?\s?:?",
    re.IGNORECASE,
)
# Cells beside a total: its currency, its unit.
_UNIT = re.compile(r"\s*(?:[A-Z]{3}|[€$£]|ST|kg)\s*")
_NOTE = re.compile(
    r"(source|quelle|fuente|fonte|bron|note|notes|hinweis|anmerkung|remarque|nota|fußnote|stand|"
    r"remarks?|bemerkung(en)?|terms|payment|conditions|"
    r"generated|exported|created|printed|erstellt|page|seite|end of|ende|eof|copyright|©|"
    r"\*{1,3}\s?\w|"
    r"\(?\d+ (rows?|records?|items?|zeilen|datensätze|lignes|products?|artikel)|-{3,}|={3,}|\*{3,}|"
    r"total|records|#)",
    re.IGNORECASE,
)


@dataclass(slots=True)
class Layout:
    """Indices into the given rows; ``stop`` is the first row after the table."""

    start: int
    stop: int
    header: Header
    width: int
    # Whether the header is repeated between rows, as on every printed page.
    repeats: bool = False
    # Whether lines of printed pages, such as `Page 2`, are between rows.
    page_lines: bool = False
    preamble: list[int] = field(default_factory=list)
    footer: list[int] = field(default_factory=list)
    others: list[tuple[int, int]] = field(default_factory=list)
    doubts: list[tuple[str, float]] = field(default_factory=list)


def find_layout(
    rows: Sequence[Row], *, merges: Sequence[Merge] = (), header_at: int | None = None,
    no_header: bool = False, wide: bool = False,
) -> Layout:  # fmt: skip
    """The largest table. ``header_at`` is the header row given by the caller. ``wide``: cells
    beyond the header are columns without a name, not irregular rows."""
    if header_at is not None:
        return _with_given_header(rows, header_at)
    original, rows = rows, _spread(rows, merges)
    tables = _tables(rows)
    if not tables:
        return Layout(0, 0, Header([], []), 0)
    best = max(tables, key=lambda table: (_size(rows, table), -table[0]))
    start, stop = best
    stop, footer = cut_footer(rows, start, stop)
    width = usual_width(rows[start:stop])
    header = Header([], []) if no_header else find_header(rows, start, stop, width, merges)
    body = header.rows[-1] + 1 if header.rows else _first_row(rows, start, stop, width)
    if header.names:
        width = _width_below(header, rows[body:stop], wide)
    layout = Layout(body, stop, header, width)
    top = header.rows[0] if header.rows else body
    layout.preamble = [n for n in range(top) if not is_blank(rows[n])]
    layout.footer = [*footer]
    if merges:
        _unname_empty(original, layout)
    _assign_remaining_rows(rows, layout, tables, best)
    _drop_empty_tail(rows, layout)
    layout.repeats = _repeats(rows, layout)
    layout.page_lines = any(map(is_page_line, rows[layout.start : layout.stop]))
    layout.doubts += header.doubts
    _doubt_columns(layout)
    return layout


def _repeats(rows: Sequence[Row], layout: Layout) -> bool:
    if len(layout.header.rows) != 1 or filled(layout.header.names) < 2:
        return False
    names = list(rows[layout.header.rows[0]])
    return any(list(row) == names for row in rows[layout.start : layout.stop])


def _doubt_columns(layout: Layout) -> None:
    """Report two tables side by side: repeated names after an empty column."""
    names = [name.strip() for name in layout.header.names]
    for at, name in enumerate(names):
        left, right = names[:at], names[at + 1 :]
        if not name and len(left) > 1 and right[: len(left)] == left:
            said = f"another table stands beside this one, from column {at + 2} on"
            layout.doubts.append((said, 0.5))
            return


def _spread(rows: Sequence[Row], merges: Sequence[Merge]) -> Sequence[Row]:
    """The rows with merged cells filled in, as displayed. Titles merged over the whole table stay
    single cells."""
    if not merges:
        return rows
    filled_rows = [list(row) for row in rows]
    width = max(map(len, rows), default=0)
    for top, left, bottom, right in merges:
        whole = right > left and right - left + 1 >= width
        if whole or top >= min(len(rows), 100) or bottom - top > 50 or right - left > 200:
            continue
        text = rows[top][left] if left < len(rows[top]) else ""
        for number in range(top, min(bottom + 1, len(rows))) if text.strip() else ():
            row = filled_rows[number]
            row += [""] * (right + 1 - len(row))
            row[left : right + 1] = [text] * (right + 1 - left)
    return filled_rows


def _unname_empty(rows: Sequence[Row], layout: Layout) -> None:
    """Remove merged names over columns that are empty."""
    names = layout.header.names
    body = rows[layout.start : layout.stop]
    for column in range(len(names)):
        named = any(column < len(rows[n]) and rows[n][column].strip() for n in layout.header.rows)
        if not named and not any(column < len(row) and row[column].strip() for row in body):
            names[column] = ""


def usual_width(rows: Sequence[Row]) -> int:
    """The usual number of cells of a row, ignoring a few longer ones."""
    widths = sorted((len(row) for row in rows if not is_blank(row)), reverse=True)
    return widths[len(widths) // 10] if widths else 0


def _width_below(header: Header, body: Sequence[Row], wide: bool) -> int:
    """The number of names, unless most rows are wider."""
    names = len(header.names)
    longer = [len(row) for row in body if len(row) > names and not is_blank(row)]
    full = sum(1 for row in body if not is_blank(row))
    if wide and longer:
        return max(longer)
    if 2 * len(longer) <= full:
        return names
    return Counter(longer).most_common(1)[0][0]


def cut_footer(rows: Sequence[Row], start: int, stop: int) -> tuple[int, list[int]]:
    """Cut totals and notes off the end of a table."""
    while stop > start and is_blank(rows[stop - 1]):
        stop -= 1
    end = stop
    body = [row for row in rows[start:stop] if not is_blank(row)]
    if len(body) < 3:
        return stop, []
    width = usual_width(body)
    usual_fill = median(filled(row) for row in body)
    lead = _first_column(body)
    while stop - start > 2 and _is_footer(
        rows[stop - 1][lead:], width - lead, usual_fill, apart=is_blank(rows[stop - 2])
    ):
        stop -= 1
        while stop > start and is_blank(rows[stop - 1]):
            stop -= 1
    return stop, [n for n in range(stop, end) if not is_blank(rows[n])]


def _first_column(body: Sequence[Row]) -> int:
    """The number of empty columns on the left."""
    return min(next(n for n, cell in enumerate(row) if cell.strip()) for row in body)


def _is_footer(row: Row, width: int, usual_fill: float, *, apart: bool) -> bool:
    if is_blank(row):
        return True
    full = filled(row)
    if width < 2 or full >= usual_fill:
        return False
    first = next(cell.strip() for cell in row if cell.strip())
    if is_sum(row):
        return True
    if full > 1 or usual_fill < 2:
        return False
    if _NOTE.match(first):
        return True
    # A single text in the first cell of a row that should have several cells. A number or code
    # could be an incomplete row, and so could a word or two without a gap before them.
    text = kind_of(first) == TEXT and (apart or len(first.split()) > 2)
    alone = len(row) == 1 and width >= 3 and text
    return row[0].strip() == first and usual_fill >= 3 and (alone or len(first) > 25)


def is_sum(row: Row) -> bool:
    """A label such as `Zwischensumme` or `zzgl. 19 % MwSt.`, with only amounts beside it."""
    cells = [cell.strip() for cell in row if cell.strip()]
    rest = [one for one in cells if not (_TOTAL.fullmatch(one) or _ADDED.fullmatch(one))]
    return len(rest) < len(cells) and all(
        kind_of(cell) == NUMBER or _UNIT.fullmatch(cell) for cell in rest
    )


def _with_given_header(rows: Sequence[Row], header_at: int) -> Layout:
    at = min(header_at, len(rows))
    names = list(rows[at]) if at < len(rows) else []
    stop, footer = cut_footer(rows, min(at + 1, len(rows)), len(rows))
    width = max(usual_width(rows[at + 1 : stop]), len(names))
    layout = Layout(at + 1, stop, Header([at], names), width, footer=footer)
    layout.preamble = [n for n in range(at) if not is_blank(rows[n])]
    return layout


def _size(rows: Sequence[Row], table: tuple[int, int]) -> float:
    """The number of filled cells; single-column tables weigh less."""
    cells = sum(filled(row) for row in rows[table[0] : table[1]])
    wide = usual_width(rows[table[0] : table[1]])
    return cells * (0.5 if wide < 2 else 1.0)


def _tables(rows: Sequence[Row]) -> list[tuple[int, int]]:
    """Runs of rows that belong together, in order."""
    runs = [run for found in _between_blanks(rows) for run in _by_width(rows, found)]
    if not runs:
        return []
    if max(usual_width(rows[a:b]) for a, b in runs) <= 1:
        return [(runs[0][0], runs[-1][1])]
    joined = [runs[0]]
    for run in runs[1:]:
        if _continues_table(rows, joined[-1], run):
            joined[-1] = (joined[-1][0], run[1])
        elif len(joined) > 1 and _is_next_section(rows, joined[-2], joined[-1], run):
            joined[-2:] = [(joined[-2][0], run[1])]
        else:
            joined.append(run)
    return joined


def _is_next_section(
    rows: Sequence[Row], table: tuple[int, int], between: tuple[int, int], run: tuple[int, int]
) -> bool:
    """Whether a title and the header of the table again begin its next section."""
    is_title = between[1] - between[0] == 1 and filled(rows[between[0]]) == 1
    names = list(rows[run[0]])
    return is_title and filled(names) > 1 and names == list(rows[table[0]])


def _between_blanks(rows: Sequence[Row]) -> list[tuple[int, int]]:
    runs: list[tuple[int, int]] = []
    start: int | None = None
    for index, row in enumerate(rows):
        if is_blank(row):
            if start is not None:
                runs.append((start, index))
            start = None
        elif start is None:
            start = index
    if start is not None:
        runs.append((start, len(rows)))
    return [(runs[0][0], runs[-1][1])] if _are_double_spaced(runs) else runs


def _are_double_spaced(runs: Sequence[tuple[int, int]]) -> bool:
    """Whether nearly every row has one blank row below it, which then separates nothing."""
    single = sum(stop - start == 1 for start, stop in runs)
    apart = sum(after[0] - before[1] == 1 for before, after in pairwise(runs))
    few = len(runs) < MIN_DOUBLE_SPACED
    return not few and single >= 0.9 * len(runs) and apart >= 0.9 * (len(runs) - 1)


def _by_width(rows: Sequence[Row], run: tuple[int, int]) -> list[tuple[int, int]]:
    """Split a run where the width of rows changes permanently."""
    start, stop = run
    cuts = [start]
    at = start + 2
    while at + 2 < stop:
        before, here = len(rows[at - 1]), len(rows[at])
        steady = len(rows[at - 2]) == before and all(
            len(rows[n]) == here for n in range(at, min(at + 3, stop))
        )
        if here != before and steady and before > 1 and here > 1 and _new_header(rows, at, stop):
            cuts.append(at)
            at += 2
        at += 1
    return list(zip(cuts, [*cuts[1:], stop], strict=True))


def _new_header(rows: Sequence[Row], at: int, stop: int) -> bool:
    """Whether the row could be the header of the following rows."""
    found = find_header(rows, at, min(stop, at + 30), len(rows[at]), ())
    return bool(found.rows) and found.sure


def _continues_table(rows: Sequence[Row], table: tuple[int, int], run: tuple[int, int]) -> bool:
    """Whether a run after blank lines continues the same table."""
    above = [row for row in rows[table[0] : table[1]] if not is_blank(row)]
    below = rows[run[0] : run[1]]
    width, other = usual_width(above), usual_width(below)
    if width < 2 or _has_own_title(above, below):
        return False
    if _repeats_header(above, below):
        return True
    if len(above) == 1:
        # A header separated from its rows by a blank line.
        return width == other and filled(above[0]) >= max(2, 0.6 * width)
    fill = median(filled(row) for row in above)
    if max(filled(row) for row in below) < min(2, fill):
        return False
    if len(below) == 1 and other > width and filled(below[0]) >= fill:
        # A table of its own would have more than one row.
        return True
    if other != width and not (other < width and median(filled(r) for r in below) >= 0.7 * fill):
        return False
    kinds = column_kinds(above[1:], width)
    if len(below) == 1:
        # A table of its own would have more than one row.
        return filled(below[0]) >= 0.7 * fill or _is_sparse_row(below[0], kinds)
    if any(cell for cell in below[0]) and list(below[0]) == list(above[0]):
        # The same header again continues the table.
        return True
    matching = sum(
        kinds.get(column) in (None, kind)
        for row in below[:5]
        for column, kind in enumerate(map(kind_of, row))
        if kind != EMPTY
    )
    cells = sum(1 for row in below[:5] for kind in map(kind_of, row) if kind != EMPTY)
    return cells > 0 and matching >= 0.6 * cells and not _differs(kinds, below[0])


def _is_sparse_row(row: Row, kinds: Mapping[int, str]) -> bool:
    """Whether the row lacks some cells, but begins as the others do, and has the kinds of their
    columns; sums do not."""
    found = [(column, kind_of(cell)) for column, cell in enumerate(row) if cell.strip()]
    if not found or found[0][0] != 0 or is_sum(row):
        return False
    enough = 3 if kinds.get(0) in (None, TEXT) else 2
    typed = any(kind == NUMBER and column > 0 for column, kind in found)
    return len(found) >= enough and typed and all(kinds.get(n) in (None, k) for n, k in found)


def _has_own_title(above: Sequence[Row], below: Sequence[Row]) -> bool:
    """Whether both runs begin with a title and a header, and the headers have some names in common
    but are not the same: two tables of one kind."""
    if len(above) < 3 or len(below) < 2 or filled(above[0]) != 1 or filled(below[0]) != 1:
        return False
    names, others = ({cell.strip() for cell in rows[1] if cell.strip()} for rows in (above, below))
    return names != others and len(names & others) > 1 and 2 * len(names & others) >= len(names)


def _repeats_header(above: Sequence[Row], below: Sequence[Row]) -> bool:
    """Whether a title and the same header begin the next section of the table."""
    if len(below) < 3 or filled(below[0]) != 1 or filled(below[1]) < 2:
        return False
    return any(list(row) == list(below[1]) for row in above[:10])


def _differs(kinds: Mapping[int, str], row: Row) -> bool:
    """Whether the row is a header: text wherever the columns contain typed values."""
    typed = [column for column, kind in kinds.items() if kind in "ndbu" and column < len(row)]
    return len(typed) > 0 and all(kind_of(row[column]) in "tc" for column in typed)


def column_kinds(rows: Sequence[Row], width: int) -> dict[int, str]:
    """The dominant kind of each column; mixed columns are left out."""
    found: dict[int, str] = {}
    for column in range(width):
        kinds = Counter(kind_of(row[column]) for row in rows if column < len(row))
        kinds.pop(EMPTY, None)
        if kinds:
            kind, count = kinds.most_common(1)[0]
            if count >= 0.7 * sum(kinds.values()):
                found[column] = kind
    return found


def _first_row(rows: Sequence[Row], start: int, stop: int, width: int) -> int:
    """The first row that is as wide as the table, for tables without a header."""
    for index in range(start, stop):
        if filled(rows[index]) >= max(1, 0.5 * width):
            return index
    return start


def _assign_remaining_rows(
    rows: Sequence[Row], layout: Layout, tables: Sequence[tuple[int, int]], best: tuple[int, int]
) -> None:
    size = _size(rows, best)
    for table in tables:
        if table == best:
            continue
        inside = rows[table[0] : table[1]]
        is_table = usual_width(inside) >= 2 and len(inside) >= 2 and max(map(filled, inside)) >= 2
        is_table = is_table and not _are_keys(inside)
        if is_table and _size(rows, table) >= 0.05 * size:
            layout.others.append(table)
            layout.preamble = [n for n in layout.preamble if not table[0] <= n < table[1]]
            if _size(rows, table) > 0.7 * size:
                said = f"rows {table[0] + 1} to {table[1]} hold another table of about this size"
                layout.doubts.append((said, 0.6))
        elif table[0] >= layout.stop:
            layout.footer += [n for n in range(*table) if not is_blank(rows[n])]


def _are_keys(rows: Sequence[Row]) -> bool:
    """Whether the rows are settings like `Currency:` beside `EUR`, not a table."""
    keys = sum(bool(row) and row[0].rstrip().endswith(":") for row in rows)
    return max(map(filled, rows)) == 2 and 2 * keys >= len(rows)


def _drop_empty_tail(rows: Sequence[Row], layout: Layout) -> None:
    """Drop the empty column that a delimiter at the end of every line makes."""
    names = layout.header.names
    names += [""] * (layout.width - len(names)) if names else []
    if not names:
        return
    body = rows[layout.start : layout.stop]
    while len(names) > 1 and not names[-1].strip():
        last = len(names) - 1
        if any(len(row) > last and row[last].strip() for row in body):
            break
        names.pop()
    layout.width = len(names)
