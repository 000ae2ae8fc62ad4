"""Read the largest table of an HTML file, such as those saved as .xls."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field

from penstock.formats.detection.content_type import refused
from penstock.formats.detection.encodings import MIXED, Encoding, as_cp1252, find_encoding, fits
from penstock.formats.markup import Tag, tags_and_texts
from penstock.formats.read_options import ReadOptions, ReadReport
from penstock.formats.sheets.grid import (
    GridRow,
    SheetInfo,
    choose_sheet,
    plan_grid,
    table_pieces,
)  # fmt: skip
from penstock.formats.sheets.numbers import plain_number
from penstock.formats.sheets.xlsx_cells import cell_too_large, too_many_cells
from penstock.formats.source import Source
from penstock.formats.tables import Cursor, Piece, Problems
from penstock.model.errors import BadInput

_DECLARED = re.compile(rb"""charset\s*=\s*["']?([\w.:-]{2,40})""", re.IGNORECASE)
_SPACE = re.compile(r"[ \t\r\n\f]+")
_AROUND_BREAKS = re.compile(r"(?:(?<! ) ++)?\n *+")
_BREAKS = frozenset({"br", "p", "div", "li", "tr"})
# A table saved as HTML makes up most of the page's text.
_MIN_SHARE = 0.5
_MAX_TABLES = 10_000
_MAX_SPAN = 1000


def read_html(
    source: Source, options: ReadOptions, limits: Mapping[str, int], cursor: Cursor
) -> Iterator[Piece]:
    report: ReadReport | None = None
    if cursor is None:
        encoding = Encoding(options.encoding, "replace") if options.encoding else _encoding(source)
        report = ReadReport("html", encoding=encoding.name)
        page = _Page(source, encoding, limits, None)
        tables = page.survey()
        if not tables:
            raise refused("an HTML page without a table")
        chosen = choose_sheet(tables, _largest(tables, options), report)
        asked = options.format is not None or options.sheet is not None
        if not asked and page.share(chosen.number - 1) < _MIN_SHARE:
            raise refused("an HTML page with much other text; name the table as `sheet`")
        number = chosen.number - 1
        head = _Page(source, encoding, limits, number)
        plan = {
            "format": "html", "encoding": encoding.name, "errors": encoding.errors, "sheet": number,
            **plan_grid(head.rows(), chosen, options, report, limits),
        }  # fmt: skip
    else:
        plan = dict(cursor["plan"])
    encoding = Encoding(plan["encoding"], plan["errors"])
    rows = _Page(source, encoding, limits, plan["sheet"]).rows()
    done = cursor["rows"] if cursor else 0
    yield from table_pieces(plan, report, rows, limits, done, source.size, Problems(by_row=True))


def _encoding(source: Source) -> Encoding:
    declared = _DECLARED.search(source.head(16 * 1024))
    name = declared[1].decode("ascii") if declared else "utf-8"
    return Encoding(name) if fits(source, name) else find_encoding(source)


def _largest(tables: list[SheetInfo], options: ReadOptions) -> str | int | None:
    """The table with the most cells; others may be used for layout."""
    if options.sheet is not None:
        return options.sheet
    return max(tables, key=lambda table: table.cells).number


@dataclass(slots=True)
class _Table:
    """An open table. Cells that span rows are kept in ``below`` for the following rows."""

    number: int
    row: list[str] = field(default_factory=list)
    line: int = 0
    cell: list[str] | None = None
    size: int = 0
    raw: str | None = None
    span: tuple[int, int] = (1, 1)
    below: dict[int, int] = field(default_factory=dict)


class _Page:
    """One pass over a page: over the rows of one table, or a survey of all tables."""

    def __init__(
        self, source: Source, encoding: Encoding, limits: Mapping[str, int], wanted: int | None
    ) -> None:
        self._source = source
        self._encoding = encoding
        self._limits = limits
        self._wanted = wanted
        self._open: list[_Table] = []
        self._done: list[GridRow] = []
        self._tables: list[SheetInfo] = []
        self._shown = 0  # characters on the whole page, and in each table
        self._shown_in: list[int] = []

    def survey(self) -> list[SheetInfo]:
        for _ in self._walk():
            self._done.clear()
        return self._tables

    def share(self, table: int) -> float:
        """The share of the page's text in one table."""
        return self._shown_in[table] / max(1, self._shown)

    def rows(self) -> Iterator[GridRow]:
        for _ in self._walk():
            yield from self._done
            self._done.clear()

    def _walk(self) -> Iterator[None]:
        name, errors = self._encoding.name, self._encoding.errors
        with self._source.text(name, errors) as file:
            for count, piece in enumerate(tags_and_texts(file)):
                if isinstance(piece, str):
                    self._text(as_cp1252(piece) if errors == MIXED else piece)
                elif piece.closes:
                    self._end(piece.name)
                else:
                    self._start(piece)
                if count % 1000 == 0:
                    yield
        while self._open:
            self._end("table")
        yield

    def _start(self, tag: Tag) -> None:
        table = self._open[-1] if self._open else None
        match tag.name:
            case "table":
                self._begin_table(tag)
            case "tr" if table is not None:
                self._end_row(table)
            case "td" | "th" if table is not None:
                self._end_cell(table)
                self._begin_cell(table, tag)
            case name if table is not None and table.cell and name in _BREAKS:
                table.cell.append("\n")

    def _end(self, name: str) -> None:
        table = self._open[-1] if self._open else None
        if table is None:
            return
        match name:
            case "table":
                self._end_row(table)
                self._open.pop()
            case "tr":
                self._end_row(table)
            case "td" | "th":
                self._end_cell(table)
            case "p" | "div" | "li" if table.cell:
                table.cell.append("\n")

    def _begin_table(self, tag: Tag) -> None:
        number = len(self._tables)
        if number >= _MAX_TABLES:
            raise BadInput("TOO_MANY_CELLS", f"The page has more than {_MAX_TABLES:,} tables")
        name = tag.attributes().get("id") or f"Table {number + 1}"
        self._tables.append(SheetInfo(name, number + 1))
        self._shown_in.append(0)
        self._open.append(_Table(number))
        if len(self._open) > self._limits["nesting"]:
            raise BadInput("TOO_MANY_CELLS", "The tables of the page are nested too deeply")

    def _begin_cell(self, table: _Table, tag: Tag) -> None:
        given = tag.attributes()
        while table.below.get(len(table.row), 0) > 0:
            table.below[len(table.row)] -= 1
            table.row.append("")
        table.cell, table.size = [], 0
        table.raw = given.get("x:num") or given.get("sdval")
        table.span = (_count(given.get("colspan")), _count(given.get("rowspan")))

    def _text(self, text: str) -> None:
        table = self._open[-1] if self._open else None
        size = 0 if text.isspace() else len(text) - text.count(" ") - text.count("\n")
        self._shown += size
        if table is None or table.cell is None:
            return
        self._shown_in[table.number] += size
        table.cell.append(_SPACE.sub(" ", text))
        table.size += len(text)
        if table.size > self._limits["cell_bytes"]:
            raise cell_too_large(table.line + 1, self._limits["cell_bytes"])

    def _end_cell(self, table: _Table) -> None:
        if table.cell is None:
            return
        text = _AROUND_BREAKS.sub("\n", _SPACE_RUNS.sub(" ", "".join(table.cell)))
        text = text.strip(" \n\u00a0").replace("\u00a0", " ").replace("\0", "\ufffd")
        if table.raw and text:
            text = plain_number(table.raw)
        if 4 * len(text) > self._limits["cell_bytes"] < len(text.encode("utf-8", "replace")):
            raise cell_too_large(table.line + 1, self._limits["cell_bytes"])
        across, down = table.span
        info = self._tables[table.number]
        left = len(table.row)
        if (across > 1 or down > 1) and len(info.merges) < 5000:
            info.merges.append((table.line, left, table.line + down - 1, left + across - 1))
        table.row += [text] + [""] * (across - 1)
        if down > 1:
            table.below.update(dict.fromkeys(range(left, left + across), down - 1))
        info.cells += bool(text)
        table.cell = table.raw = None
        self._check(table)

    def _check(self, table: _Table) -> None:
        width = len(table.row)
        if (table.line + 1) * width > self._limits["cells"]:
            raise too_many_cells(self._limits["cells"])
        if width > self._limits["columns"]:
            raise BadInput(
                "TOO_MANY_COLUMNS", f"Row {table.line + 1:,} has more than "
                f"{self._limits['columns']:,} cells", line=table.line + 1,
            )  # fmt: skip

    def _end_row(self, table: _Table) -> None:
        self._end_cell(table)
        if not table.row:
            return
        row, table.row = table.row, []
        table.line += 1
        for column, left in list(table.below.items()):
            if column >= len(row):
                table.below[column] = left - 1
            if table.below[column] <= 0:
                del table.below[column]
        while row and not row[-1]:
            row.pop()
        if row and table.number == self._wanted:
            self._done.append((table.line, row))


_SPACE_RUNS = re.compile(r" {2,}")


def _count(text: str | None) -> int:
    return max(1, min(int(text), _MAX_SPAN)) if text and text.isdecimal() else 1
