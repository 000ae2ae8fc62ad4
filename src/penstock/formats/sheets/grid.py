"""Find the table in a sheet's rows, for all kinds of workbooks."""

from __future__ import annotations

from collections import deque
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from itertools import islice
from typing import Any

from penstock.formats.read_options import MAX_SHOWN, Problem, ReadOptions, ReadReport, shown_line
from penstock.formats.sheets.single_column import find_delimiter, split_rows
from penstock.formats.structure.cell_kinds import is_blank, unique_names
from penstock.formats.structure.help_rows import is_page_line
from penstock.formats.structure.layout import Layout, Merge, cut_footer, find_layout
from penstock.formats.structure.table_words import SHEETS_WITHOUT_PRODUCTS, letters_of
from penstock.formats.tables import Chunks, Piece, Problems, TableEnd, TableHead, fit
from penstock.model.errors import BadInput

# (number of the row in the sheet, counted from 1, and its cells cut after the last one)
GridRow = tuple[int, list[str]]

HEAD_ROWS = 2000
TAIL_ROWS = 50
_AT_ONCE = 500
_MAX_LISTED = 1000
_TABLE_WIDTH = 3


@dataclass(slots=True)
class SheetInfo:
    """Information about a sheet before its rows are read. ``widest`` is the number of cells in its
    fullest row, as far as it is known."""

    name: str
    number: int
    visible: bool = True
    cells: int = 0
    merges: list[Merge] = field(default_factory=list)
    hidden_rows: list[int] = field(default_factory=list)
    hidden_columns: list[int] = field(default_factory=list)
    unsolved: int = 0
    widest: int = 0


def choose_sheet(
    sheets: Sequence[SheetInfo], wanted: str | int | None, report: ReadReport
) -> SheetInfo:
    """The sheet given, or else the first that is not much smaller than the largest."""
    report.sheets = [
        {"name": sheet.name, "cells": sheet.cells, "visible": sheet.visible} for sheet in sheets
    ]
    if wanted is not None:
        chosen = _find_sheet(sheets, wanted)
    else:
        shown = [sheet for sheet in sheets if sheet.visible and sheet.cells] or [
            sheet for sheet in sheets if sheet.cells
        ]
        if not shown:
            raise BadInput("EMPTY_FILE", "The workbook is empty: all sheets are empty.")
        # A long list of words in one column is not the data, if another sheet is a table.
        if any(sheet.widest >= _TABLE_WIDTH and sheet.cells > sheet.widest for sheet in shown):
            shown = [sheet for sheet in shown if sheet.widest != 1]
        shown = _with_products(shown)
        most = max(sheet.cells for sheet in shown)
        chosen = next(sheet for sheet in shown if sheet.cells >= most / 4)
        others = [s.name for s in shown if s is not chosen and s.cells >= most / 4]
        if others:
            report.doubt(f"other sheets contain tables too: {', '.join(others[:10])}", 0.7)
    report.sheet = chosen.name
    return chosen


def _with_products(sheets: list[SheetInfo]) -> list[SheetInfo]:
    """The sheets that are not named after instructions or lists of values, if one of them is a
    table."""
    named = [sheet for sheet in sheets if letters_of(sheet.name) not in SHEETS_WITHOUT_PRODUCTS]
    is_table = any(one.widest >= _TABLE_WIDTH and one.cells > 2 * one.widest for one in named)
    return named if is_table else sheets


def _find_sheet(sheets: Sequence[SheetInfo], wanted: str | int) -> SheetInfo:
    for sheet in sheets:
        if sheet.name == wanted:
            return sheet
    text = str(wanted).strip()
    for sheet in sheets:
        if sheet.name.strip().casefold() == text.casefold():
            return sheet
    if text.isdecimal() and 1 <= int(text) <= len(sheets):
        return sheets[int(text) - 1]
    names = ", ".join(sheet.name for sheet in sheets[:20])
    raise BadInput(
        "SHEET_NOT_FOUND", f"There is no sheet {wanted!r}; sheets are {names}", sheet=text
    )


def plan_grid(
    rows: Iterable[GridRow], sheet: SheetInfo, options: ReadOptions, report: ReadReport,
    limits: Mapping[str, int],
) -> dict[str, Any]:  # fmt: skip
    """The position of the table, from the first rows of the sheet."""
    skip = options.skip_rows or 0
    head = [row for row in islice(rows, HEAD_ROWS + 1) if row[0] > skip]
    whole = len(head) <= HEAD_ROWS
    delimiter = find_delimiter([row for _, row in head])
    if delimiter is not None:
        head = list(split_rows(head, delimiter))
    cells = _with_gaps(head[:HEAD_ROWS])
    first = head[0][0] if head else 1
    layout = _layout(cells, first, sheet, options)
    if not head or (layout.width == 0 and not layout.header.names):
        raise BadInput("EMPTY_FILE", f"The sheet {sheet.name!r} is empty.")
    if layout.width > limits["columns"]:
        raise BadInput("TOO_MANY_COLUMNS", f"The table has {layout.width:,} columns")
    header = layout.header.names or [""] * layout.width
    plan = {
        "header": header,
        "width": layout.width,
        "first_row": first + layout.start,
        "stop_row": first + layout.stop if whole else None,
        "repeats": layout.repeats,
        "page_lines": layout.page_lines,
        "delimiter": delimiter,
        "merged_down": _merged_down(sheet.merges, first + layout.start, layout.width),
    }
    if delimiter is not None:
        report.doubt(f"the cells of the only column were split at {delimiter!r}", 0.8)
    _add_to_report(report, layout, cells, first, sheet, header)
    return plan


def _merged_down(merges: Sequence[Merge], first: int, width: int) -> list[list[int]]:
    """Cells merged over several rows of the table: first row, last row and column."""
    found = [
        [top + 1, bottom + 1, left]
        for top, left, bottom, right in merges
        if bottom > top and left == right < width and top + 1 >= first
    ]
    return sorted(found)[:_MAX_LISTED]


def _with_gaps(rows: Sequence[GridRow]) -> list[list[str]]:
    """Rows by position: missing numbers become empty rows, up to a limit."""
    cells: list[list[str]] = []
    for number, row in rows:
        missing = number - rows[0][0] - len(cells)
        if missing > HEAD_ROWS:
            break
        cells += [[] for _ in range(missing)]
        cells.append(row)
    return cells


def _layout(cells: list[list[str]], first: int, sheet: SheetInfo, options: ReadOptions) -> Layout:
    merges = [
        (top - first + 1, left, bottom - first + 1, right)
        for top, left, bottom, right in sheet.merges
        if top - first + 1 >= 0
    ]
    if options.header_row:
        at = options.header_row - first
        if not 0 <= at < len(cells):
            raise BadInput(
                "INVALID_PARAMETERS",
                f"header_row {options.header_row}: that row of the sheet is empty",
                option="header_row",
            )
        return find_layout(cells, header_at=at)
    return find_layout(cells, merges=merges, no_header=options.header_row == 0, wide=True)


def _add_to_report(
    report: ReadReport, layout: Layout, cells: Sequence[Sequence[str]], first: int,
    sheet: SheetInfo, header: list[str],
) -> None:  # fmt: skip
    def shown(places: Sequence[int]) -> list[dict[str, Any]]:
        return [
            shown_line(first + n, " | ".join(cell for cell in cells[n] if cell))
            for n in places[:MAX_SHOWN]
        ]

    report.header = header
    report.header_rows = [first + n for n in layout.header.rows]
    report.preamble = shown(layout.preamble)
    report.footer = shown(layout.footer)
    report.other_tables = [{"from_line": first + a, "to_line": first + b - 1}
                           for a, b in layout.others]  # fmt: skip
    report.hidden_rows = sheet.hidden_rows[:_MAX_LISTED]
    report.hidden_columns = sheet.hidden_columns[:_MAX_LISTED]
    for said, confidence in layout.doubts:
        report.doubt(said, confidence)
    if sheet.unsolved:
        report.doubt(
            f"{sheet.unsolved:,} formulas have no stored result and read as empty: open the"
            " workbook in a spreadsheet and save it", 0.5,
        )  # fmt: skip
    if sheet.hidden_rows or sheet.hidden_columns:
        report.doubt("hidden rows or columns were read too", 0.9)


def report_number_formats(
    report: ReadReport, plan: Mapping[str, Any], words: Mapping[int, str]
) -> None:
    """Report the text that number formats add, such as `€`."""
    names = unique_names(plan["header"])
    report.shown_with = {names[n]: said for n, said in sorted(words.items()) if n < len(names)}


def table_pieces(
    plan: dict[str, Any], report: ReadReport | None, rows: Iterable[GridRow],
    limits: Mapping[str, int], done: int, size: int, problems: Problems,
) -> Iterator[Piece]:  # fmt: skip
    yield TableHead(plan, unique_names(plan["header"]), report.as_json() if report else {}, size)
    chunks = Chunks(limits, done)
    table = _Table(plan, problems)
    if plan.get("delimiter"):
        rows = split_rows(rows, plan["delimiter"])
    if plan.get("merged_down"):
        rows = _filled_down(rows, plan["merged_down"])
    for found in table.rows_of(rows):
        chunks.lines.add_each(table.numbers)
        yield from chunks.add(found, min(size, max(1, chunks.seen)), problems=table.placed())
    yield from chunks.rest(size)
    yield TableEnd(
        chunks.seen, table.footer, problems.shown(), problems.total, chunks.lines.runs
    )  # fmt: skip


def _filled_down(rows: Iterable[GridRow], merged: Sequence[Sequence[int]]) -> Iterator[GridRow]:
    """The rows with the value of a cell that is merged over several rows in each of them."""
    waiting = deque(merged)
    current: dict[int, tuple[int, str]] = {}
    for number, row in rows:
        while waiting and waiting[0][0] <= number:
            top, bottom, column = waiting.popleft()
            if top == number and column < len(row):
                current[column] = (bottom, row[column])
        for column, (bottom, text) in list(current.items()):
            if number > bottom:
                del current[column]
            elif not is_blank(row) and not (column < len(row) and row[column]):
                row += [""] * (column + 1 - len(row))
                row[column] = text
        yield number, row


class _Table:
    """The rows of the table among those of the sheet."""

    def __init__(self, plan: Mapping[str, Any], problems: Problems) -> None:
        self._first: int = plan["first_row"]
        self._stop: int | None = plan["stop_row"]
        self._width: int = plan["width"]
        self._names: list[str] | None = plan["header"] if plan.get("repeats") else None
        self._has_pages: bool = plan.get("page_lines", False)
        self._problems = problems
        self.numbers: list[int] = []  # of the rows given last
        self._waiting: list[Problem] = []
        self.footer: list[dict[str, Any]] = []

    def placed(self) -> list[Problem]:
        """Problems of the rows returned last."""
        places = {number: place for place, number in enumerate(self.numbers, start=1)}
        last = self.numbers[-1] if self.numbers else 0
        found = self._waiting + self._problems.taken()
        self._waiting = [one for one in found if one.line > last]
        self.numbers = []
        here = [replace(one, row=places[one.line]) for one in found if one.line in places]
        return sorted(here, key=lambda one: one.line)

    def rows_of(self, rows: Iterable[GridRow]) -> Iterator[list[list[str]]]:
        """The last rows are held back until notes among them are known."""
        held: deque[GridRow] = deque()
        ready: list[list[str]] = []
        for number, row in rows:
            if number < self._first or is_blank(row) or row == self._names:
                continue
            if self._stop is not None and number >= self._stop:
                break
            if self._has_pages and is_page_line(row):
                continue
            held.append((number, row))
            if len(held) > TAIL_ROWS:
                ready.append(self._fitted(*held.popleft()))
            if len(ready) >= _AT_ONCE:
                yield ready
                ready = []
        rest = list(held)
        if self._stop is None:
            cells = [row for _, row in rest]
            stop, footer = cut_footer(cells, 0, len(cells))
            self.footer = [shown_line(rest[n][0], " | ".join(rest[n][1])) for n in footer]
            rest = rest[:stop] if footer else rest
        yield [*ready, *(self._fitted(number, row) for number, row in rest)]

    def _fitted(self, number: int, row: list[str]) -> list[str]:
        if len(row) > self._width:
            self._problems.add(
                Problem(
                    "RAGGED_ROW", number,
                    f"Row {number:,} has {len(row)} cells, the header has {self._width}",
                )
            )  # fmt: skip
        fit(row, self._width)
        self.numbers.append(number)
        return row


def hidden_row(number: int) -> Problem:
    return Problem("HIDDEN_ROW", number, f"Row {number:,} is hidden in the sheet")


def cell_error(number: int, column: int, said: str) -> Problem:
    return Problem("CELL_ERROR", number, f"Row {number:,} holds the error {said}", column)
