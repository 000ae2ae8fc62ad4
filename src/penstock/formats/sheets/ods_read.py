"""Read ods, the workbooks of OpenDocument, as a stream; repeated cells are expanded within
limits."""

from __future__ import annotations

import re
import zipfile
import zlib
from collections import Counter
from collections.abc import Callable, Iterator, Mapping

from penstock.formats.read_options import ReadOptions, ReadReport
from penstock.formats.sheets.grid import (
    GridRow,
    SheetInfo,
    cell_error,
    choose_sheet,
    hidden_row,
    plan_grid,
    report_number_formats,
    table_pieces,
)
from penstock.formats.sheets.numbers import plain_number, words_beside
from penstock.formats.sheets.xlsx_book import local, parse
from penstock.formats.sheets.xlsx_cells import too_many_cells
from penstock.formats.source import Source, check_zip, corrupt, open_zip, protected
from penstock.formats.tables import Cursor, Piece, Problems
from penstock.model.errors import BadInput

_CONTENT = "content.xml"
_MAX_COUNTED = 2000
_ERROR = re.compile(r"#[A-Z/0!?]+|Err:\d+")
_TIME = re.compile(r"PT(\d+)H(\d+)M(\d+)(?:[.,]\d+)?S")
_PADDED_ZERO = re.compile(r"0\d+")


def read_ods(
    source: Source, options: ReadOptions, limits: Mapping[str, int], cursor: Cursor
) -> Iterator[Piece]:
    with source.seekable(limits) as file, open_zip(file) as archive:
        check_zip(archive, source.size, limits)
        _check_protection(archive)
        report: ReadReport | None = None
        if cursor is None:
            report = ReadReport("ods")
            sheets = _Reader(archive, limits, None, Problems()).survey()
            chosen = choose_sheet(sheets, options.sheet, report)
            number = chosen.number - 1
            head = _Reader(archive, limits, number, Problems())
            plan = {
                "format": "ods", "sheet": number,
                **plan_grid(head.rows(), chosen, options, report, limits),
            }  # fmt: skip
            report_number_formats(report, plan, words_beside(head.currencies))
        else:
            plan = dict(cursor["plan"])
        problems = Problems(by_row=True)
        rows = _Reader(archive, limits, plan["sheet"], problems).rows()
        done = cursor["rows"] if cursor else 0
        yield from table_pieces(plan, report, rows, limits, done, source.size, problems)


def _check_protection(archive: zipfile.ZipFile) -> None:
    manifest = "META-INF/manifest.xml"
    if manifest in archive.namelist():
        try:
            with archive.open(manifest) as file:
                if b"encryption-data" in file.read(1024 * 1024):
                    raise protected("The workbook")
        except (zipfile.BadZipFile, zlib.error, EOFError, NotImplementedError) as error:
            raise corrupt("workbook", error) from error


class _Reader:
    """One pass over the content: over the rows of one sheet, or a survey of all sheets."""

    def __init__(
        self, archive: zipfile.ZipFile, limits: Mapping[str, int], sheet: int | None,
        problems: Problems,
    ) -> None:  # fmt: skip
        self._archive = archive
        self._limits = limits
        self._wanted = sheet
        self._problems = problems
        self._done: list[GridRow] = []
        self._sheets: list[SheetInfo] = []
        self._row: list[str] = []
        self._place = 0  # column of the next cell
        self._widest = 0
        self._columns = 0
        self._hidden = False
        self._number = 0
        self._repeat_row = 1
        self._cell: dict[str, str] | None = None
        self._text: list[str] = []
        self._size = 0
        self._paragraphs = 0
        self._in_text = 0
        self._depth = 0  # tables inside of cells are part of the cell
        self._note = 0
        self.currencies: dict[int, Counter[str]] = {}

    def survey(self) -> list[SheetInfo]:
        for _ in self._pass():
            self._done.clear()
        return self._sheets

    def rows(self) -> Iterator[GridRow]:
        for _ in self._pass():
            yield from self._done
            self._done.clear()

    def _pass(self) -> Iterator[None]:
        try:
            file = self._archive.open(_CONTENT)
        except (KeyError, zipfile.BadZipFile, NotImplementedError, RuntimeError) as error:
            raise corrupt("workbook", error) from error
        starts = self._starts()
        ends = self._ends()

        def start(name: str, attributes: dict[str, str]) -> None:
            handler = starts.get(local(name))
            if handler is not None:
                handler({local(key): value for key, value in attributes.items()})

        def end(name: str) -> None:
            handler = ends.get(local(name))
            if handler is not None:
                handler()

        with file:
            yield from parse(file, start, end, self._more_text)

    def _starts(self) -> dict[str, Callable[[dict[str, str]], None]]:
        return {
            "table": self._start_table,
            "table-row": self._start_row,
            "table-column": self._start_column,
            "table-cell": self._start_cell,
            "covered-table-cell": self._start_cell,
            "p": self._start_paragraph,
            "s": lambda given: self._more_text(" " * _count(given.get("c", "1"))),
            "tab": lambda given: self._more_text("\t"),
            "line-break": lambda given: self._more_text("\n"),
            "annotation": lambda given: self._annotate(1),
        }

    def _ends(self) -> dict[str, Callable[[], None]]:
        return {
            "table": self._end_table,
            "table-row": self._end_row,
            "table-cell": self._end_cell,
            "covered-table-cell": self._end_cell,
            "p": self._end_paragraph,
            "annotation": lambda: self._annotate(-1),
        }

    def _annotate(self, step: int) -> None:
        self._note += step

    def _start_table(self, given: dict[str, str]) -> None:
        self._depth += 1
        if self._depth == 1:
            number = len(self._sheets) + 1
            self._sheets.append(SheetInfo(given.get("name", f"Sheet{number}"), number))
            self._number = self._widest = self._columns = 0

    def _end_table(self) -> None:
        self._depth -= 1

    def _start_column(self, given: dict[str, str]) -> None:
        sheet = self._sheets[-1] if self._sheets else None
        if sheet is None or self._depth != 1:
            return
        first, self._columns = (
            self._columns,
            self._columns + _count(given.get("number-columns-repeated", "1")),
        )
        if given.get("visibility") in ("collapse", "filter"):
            last = min(self._columns, first + self._limits["columns"])
            sheet.hidden_columns += range(first + 1, last + 1)

    def _start_row(self, given: dict[str, str]) -> None:
        if self._depth != 1:
            return
        self._row, self._place = [], 0
        self._repeat_row = _count(given.get("number-rows-repeated", "1"))
        self._hidden = given.get("visibility") in ("collapse", "filter")
        if self._hidden:
            self._sheets[-1].hidden_rows.append(self._number + 1)

    def _end_row(self) -> None:
        if self._depth != 1:
            return
        row = self._row
        full = sum(map(bool, row))
        self._sheets[-1].cells += full * min(self._repeat_row, 10_000)
        self._sheets[-1].widest = max(self._sheets[-1].widest, full)
        if row and self._reads():
            self._widest = max(self._widest, len(row))
            last = self._number + self._repeat_row
            if last * self._widest > self._limits["cells"] or last > self._limits["rows"]:
                raise too_many_cells(self._limits["cells"])
            for number in range(self._number + 1, last + 1):
                self._done.append((number, list(row)))
                if self._hidden:
                    self._problems.note(hidden_row(number))
        self._number += self._repeat_row

    def _reads(self) -> bool:
        return self._wanted is not None and len(self._sheets) - 1 == self._wanted

    def _start_cell(self, given: dict[str, str]) -> None:
        if self._depth == 1:
            self._cell = given
            self._text, self._size, self._paragraphs = [], 0, 0
            self._merge(given)

    def _merge(self, given: dict[str, str]) -> None:
        across = _count(given.get("number-columns-spanned", "1"))
        down = _count(given.get("number-rows-spanned", "1"))
        if (across > 1 or down > 1) and len(self._sheets[-1].merges) < 5000:
            top, left = self._number, self._place
            self._sheets[-1].merges.append((top, left, top + down - 1, left + across - 1))

    def _end_cell(self) -> None:
        if self._depth != 1 or self._cell is None:
            return
        given, self._cell = self._cell, None
        repeat = _count(given.get("number-columns-repeated", "1"))
        text = self._value(given, "".join(self._text))
        if text:
            if self._place + repeat > self._limits["columns"]:
                if (self._number + 1) * (self._place + repeat) > self._limits["cells"]:
                    raise too_many_cells(self._limits["cells"])
                raise BadInput(
                    "TOO_MANY_COLUMNS", f"Row {self._number + 1:,} has too many cells",
                    line=self._number + 1,
                )  # fmt: skip
            self._row += [""] * (self._place - len(self._row)) + [text] * repeat
        self._place += repeat

    def _value(self, given: dict[str, str], shown: str) -> str:
        match given.get("value-type"):
            case "float" | "percentage" | "currency":
                value = plain_number(given.get("value", shown))
                if self._number < _MAX_COUNTED and self._reads():
                    counted = self.currencies.setdefault(self._place, Counter())
                    counted[given.get("currency", "")] += 1
                # Leading zeros and percentages come from the displayed text, digits from the value.
                padded = _PADDED_ZERO.fullmatch(shown.strip())
                if given["value-type"] == "percentage":
                    return shown.strip() or value
                return shown.strip() if padded and shown.strip().lstrip("0") == value else value
            case "date":
                date = given.get("date-value", shown)
                return date.removesuffix("T00:00:00")
            case "time":
                found = _TIME.fullmatch(given.get("time-value", ""))
                return ":".join(part.zfill(2) for part in found.groups()) if found else shown
            case "boolean":
                return "TRUE" if given.get("boolean-value") == "true" else "FALSE"
        if self._reads() and _ERROR.fullmatch(shown):
            self._problems.add(cell_error(self._number + 1, self._place + 1, shown))
        return shown

    def _start_paragraph(self, given: dict[str, str]) -> None:
        self._in_text += 1
        if self._cell is not None and not self._note:
            self._paragraphs += 1
            if self._paragraphs > 1:
                self._text.append("\n")

    def _end_paragraph(self) -> None:
        self._in_text -= 1

    def _more_text(self, data: str) -> None:
        if self._in_text and self._cell is not None and not self._note:
            self._text.append(data)
            self._size += len(data)
            if self._size > self._limits["cell_bytes"]:
                raise BadInput(
                    "CELL_TOO_LARGE", f"A cell of row {self._number + 1:,} is too large",
                    line=self._number + 1,
                )  # fmt: skip


def _count(text: str) -> int:
    return min(int(text), 2_000_000) if text.isdecimal() else 1
