"""Read workbooks in the XML format of Excel 2002 and 2003, which many programs write."""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from penstock.formats.detection.encodings import Encoding
from penstock.formats.read_options import ReadOptions, ReadReport
from penstock.formats.records.xml_text import XmlText, xml_encoding
from penstock.formats.sheets.grid import (
    GridRow,
    SheetInfo,
    cell_error,
    choose_sheet,
    hidden_row,
    plan_grid,
    table_pieces,
)  # fmt: skip
from penstock.formats.sheets.numbers import GENERAL, kind_of_format, number_text
from penstock.formats.sheets.xlsx_book import local
from penstock.formats.sheets.xlsx_cells import cell_too_large, too_many_cells
from penstock.formats.source import Source
from penstock.formats.tables import Cursor, Piece, Problems
from penstock.model.errors import BadInput

# Named number formats.
_NAMED = {"percent": "0%", "general": "General", "yes/no": "General", "true/false": "General",
          "on/off": "General", "fixed": "0.00", "standard": "#,##0.00", "currency": "#,##0.00",
          "euro currency": "#,##0.00", "scientific": "0.00E+00"}  # fmt: skip
_MAX_INDEX = 2_000_000


def read_xml2003(
    source: Source, options: ReadOptions, limits: Mapping[str, int], cursor: Cursor
) -> Iterator[Piece]:
    report: ReadReport | None = None
    if cursor is None:
        encoding = xml_encoding(source, options.encoding)
        report = ReadReport("xml2003", encoding=encoding.name.removesuffix("-sig"))
        sheets = _Book(source, encoding, limits, None, Problems()).survey()
        chosen = choose_sheet(sheets, options.sheet, report)
        number = chosen.number - 1
        head = _Book(source, encoding, limits, number, Problems())
        plan = {
            "format": "xml2003", "encoding": encoding.name, "errors": encoding.errors,
            "sheet": number,
            **plan_grid(head.rows(), chosen, options, report, limits),
        }  # fmt: skip
    else:
        plan = dict(cursor["plan"])
    problems = Problems(by_row=True)
    encoding = Encoding(plan["encoding"], plan["errors"])
    rows = _Book(source, encoding, limits, plan["sheet"], problems).rows()
    done = cursor["rows"] if cursor else 0
    yield from table_pieces(plan, report, rows, limits, done, source.size, problems)


class _Book:
    """One pass over the file: over the rows of one sheet, or a survey of all sheets."""

    def __init__(
        self, source: Source, encoding: Encoding, limits: Mapping[str, int], wanted: int | None,
        problems: Problems,
    ) -> None:  # fmt: skip
        self._source = source
        self._encoding = encoding
        self._limits = limits
        self._wanted = wanted
        self._problems = problems
        self._sheets: list[SheetInfo] = []
        self._done: list[GridRow] = []
        self._styles: dict[str, str] = {}
        self._style = ""
        self._row: list[str] = []
        self._number = self._place = self._column = 0
        self._hidden = False
        self._repeat = 1
        self._cell: dict[str, str] = {}
        self._kind: str | None = None  # of the data that is being read
        self._text: list[str] = []
        self._size = 0

    def survey(self) -> list[SheetInfo]:
        for _ in self._pass():
            self._done.clear()
        return self._sheets

    def rows(self) -> Iterator[GridRow]:
        for _ in self._pass():
            yield from self._done
            self._done.clear()

    def _pass(self) -> Iterator[None]:
        text = XmlText(self._source, self._encoding, self._limits)
        text.handle(self._start, self._end, self._more)
        yield from text.read()

    def _start(self, name: str, attributes: dict[str, str]) -> None:
        given = {local(key): value for key, value in attributes.items()}
        match local(name):
            case "Style":
                self._style = given.get("ID", "")
            case "NumberFormat" if self._style:
                code = given.get("Format", "General")
                code = _NAMED.get(code.lower(), code)
                self._styles[self._style] = kind_of_format(code[:200])
            case "Worksheet":
                number = len(self._sheets) + 1
                self._sheets.append(SheetInfo(given.get("Name", f"Sheet{number}"), number))
                self._number = self._column = 0
            case "Visible" if self._sheets:
                self._kind, self._text = "Visible", []
            case "Column" if self._sheets:
                self._start_column(given)
            case "Row" if self._sheets:
                self._start_row(given)
            case "Cell" if self._sheets:
                self._start_cell(given)
            case "Data" if self._sheets:
                self._kind, self._text, self._size = given.get("Type", "String"), [], 0

    def _end(self, name: str) -> None:
        match local(name):
            case "Style":
                self._style = ""
            case "Visible" if self._kind == "Visible":
                self._sheets[-1].visible = "".join(self._text).strip() == "SheetVisible"
                self._kind = None
            case "Data" if self._kind is not None:
                self._end_data()
            case "Cell" if self._sheets:
                self._place += 1 + _count(self._cell.get("MergeAcross"), 0)
            case "Row" if self._sheets:
                self._end_row()

    def _start_column(self, given: Mapping[str, str]) -> None:
        first = _count(given.get("Index"), self._column + 1)
        self._column = first + _count(given.get("Span"), 0)
        if given.get("Hidden") == "1":
            last = min(self._column, first + self._limits["columns"])
            self._sheets[-1].hidden_columns += range(first, last + 1)

    def _start_row(self, given: Mapping[str, str]) -> None:
        self._number = max(_count(given.get("Index"), self._number + 1), self._number + 1)
        self._repeat = 1 + _count(given.get("Span"), 0)
        self._hidden = given.get("Hidden") == "1"
        self._row, self._place = [], 0

    def _start_cell(self, given: dict[str, str]) -> None:
        self._cell = given
        self._place = max(_count(given.get("Index"), self._place + 1) - 1, self._place)
        across, down = _count(given.get("MergeAcross"), 0), _count(given.get("MergeDown"), 0)
        merges = self._sheets[-1].merges
        if (across or down) and len(merges) < 5000:
            top = self._number - 1
            merges.append((top, self._place, top + down, self._place + across))

    def _more(self, data: str) -> None:
        if self._kind is None:
            return
        self._text.append(data)
        self._size += len(data)
        if self._size > self._limits["cell_bytes"]:
            raise cell_too_large(self._number, self._limits["cell_bytes"])

    def _end_data(self) -> None:
        text, kind = "".join(self._text), self._kind
        self._kind = None
        value = self._value(text, kind or "String")
        self._sheets[-1].cells += bool(value)
        if not value or not self._reads():
            return
        self._check_place()
        self._row += [""] * (self._place + 1 - len(self._row))
        self._row[self._place] = value

    def _value(self, text: str, kind: str) -> str:
        match kind:
            case "Number":
                style = self._styles.get(self._cell.get("StyleID", ""), GENERAL)
                return number_text(text.strip(), style, False)
            case "DateTime":
                date, _, clock = text.strip().partition("T")
                clock = clock.removesuffix(".000")
                if date == "1899-12-31":
                    return clock
                return date if clock in ("", "00:00:00") else f"{date}T{clock}"
            case "Boolean":
                return "TRUE" if text.strip() == "1" else "FALSE"
            case "Error" if self._reads():
                self._problems.add(cell_error(self._number, self._place + 1, text))
        return text.replace("\r\n", "\n")

    def _check_place(self) -> None:
        if self._number * (self._place + 1) > self._limits["cells"]:
            raise too_many_cells(self._limits["cells"])
        if self._place >= self._limits["columns"]:
            raise BadInput(
                "TOO_MANY_COLUMNS", f"Row {self._number:,} has too many cells", line=self._number
            )

    def _end_row(self) -> None:
        if self._hidden:
            self._sheets[-1].hidden_rows.append(self._number)
        if self._row and self._reads():
            if self._hidden:
                self._problems.note(hidden_row(self._number))
            self._done.append((self._number, self._row))
        self._row = []
        # A span repeats an empty row.
        self._number += self._repeat - 1

    def _reads(self) -> bool:
        return self._wanted is not None and len(self._sheets) - 1 == self._wanted


def _count(text: str | None, otherwise: int) -> int:
    return min(int(text), _MAX_INDEX) if text and text.isdecimal() else otherwise
