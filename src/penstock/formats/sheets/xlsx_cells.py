"""The cells of one sheet of an xlsx workbook as text, row by row."""

from __future__ import annotations

import re
import zipfile
import zlib
from collections import Counter
from collections.abc import Iterator, Mapping
from contextlib import suppress

from penstock.formats.sheets.grid import GridRow, cell_error, hidden_row
from penstock.formats.sheets.numbers import (
    GENERAL,
    ROWS_LOOKED_AT,
    number_text,
    plain_number,
    words_beside,
)
from penstock.formats.sheets.xlsx_book import Book, column_of, local, parse, unescaped
from penstock.formats.sheets.xlsx_fast import NotPlain, plain_rows, rich_text, unescape
from penstock.formats.sheets.xlsx_strings import SharedStrings
from penstock.formats.source import corrupt
from penstock.formats.tables import Problems
from penstock.model.errors import BadInput

_ATTRIBUTE = re.compile(r'(?<!\w)(\w++)="([^"]*+)"')


class SheetCells:
    def __init__(
        self, book: Book, sheet: int, strings: SharedStrings, limits: Mapping[str, int],
        problems: Problems,
    ) -> None:  # fmt: skip
        self._book = book
        self._path = book.paths[sheet]
        self._strings = strings
        self._limits = limits
        self._problems = problems
        self._columns: dict[str, int] = {}
        self._kinds: dict[str, tuple[str, str]] = {}
        self._widest = 0

    def rows(self) -> Iterator[GridRow]:
        """With patterns as far as possible, the rest with parser events."""
        done = 0
        try:
            with self._book.part(self._path) as file:
                for number, cells, hidden in plain_rows(file):
                    row = self._plain_row(number, cells)
                    if row and hidden:
                        self.hide(number)
                    if row:
                        yield number, row
                    done = number
                return
        except NotPlain:
            pass
        except (zipfile.BadZipFile, zlib.error, EOFError) as error:
            raise corrupt("workbook", error) from error
        for number, row in _Events(self, self._book, self._path, self._limits).rows():
            if number > done:
                yield number, row

    def words_beside(self, first: int) -> dict[int, str]:
        """The text shown with numbers by column, from row ``first`` on."""
        columns: dict[int, Counter[str]] = {}
        with self._book.part(self._path) as file, suppress(NotPlain):
            for number, cells, _ in plain_rows(file):
                if number >= first + ROWS_LOOKED_AT:
                    break
                for letters, attributes, value, _ in cells if number >= first else ():
                    kind, words = self._words(attributes)
                    if value and kind == "n":
                        columns.setdefault(column_of(letters), Counter())[words] += 1
        return words_beside(columns)

    def _words(self, attributes: str) -> tuple[str, str]:
        given = dict(_ATTRIBUTE.findall(attributes))
        style = given.get("s", "")
        known = style.isdecimal() and int(style) < len(self._book.words)
        return given.get("t", "n"), self._book.words[int(style)] if known else ""

    def _plain_row(self, number: int, cells: list[tuple[str, str, str, str]]) -> list[str]:
        columns, held = self._columns, self._strings.held
        row: list[str] = []
        for letters, attributes, value, inline in cells:
            if not value and not inline:
                continue
            kind, style = self._kinds.get(attributes) or self._kind(attributes)
            column = columns.get(letters)
            if column is None:
                column = columns[letters] = column_of(letters)
            if inline:
                text = unescaped(rich_text(inline))
            elif kind == "s":
                # Shared strings in memory are read without a call, since they are most of the
                # cells.
                if value.isdecimal() and int(value) < len(held):
                    text = held[int(value)]
                else:
                    text = self._strings.at(value)
            elif kind == "n" and style == GENERAL and "." not in value:
                text = plain_number(value)
            else:
                text = self.value(unescape(value), kind, style, (number, column))
            if not text:
                continue
            gap = column - len(row)
            if gap == 0:
                row.append(text)
            elif gap > 0:
                self.check_place(number, column)
                row.extend([""] * gap)
                row.append(text)
            else:
                row[column] = text
        self.check_row(number, row)
        return row

    def _kind(self, attributes: str) -> tuple[str, str]:
        """Type and number format, cached by the attributes' text."""
        given = dict(
            part.split("=", 1) for part in attributes.replace('"', "").split() if "=" in part
        )
        kind = given.get("t", "n"), self.format(given.get("s"))
        if len(self._kinds) < 10_000:
            self._kinds[attributes] = kind
        return kind

    def check_place(self, number: int, column: int) -> None:
        if column < self._limits["columns"]:
            return
        if number * (column + 1) > self._limits["cells"]:
            raise too_many_cells(self._limits["cells"])
        raise BadInput(
            "TOO_MANY_COLUMNS",
            f"Row {number:,} has a cell in column {column + 1:,}; at most "
            f"{self._limits['columns']:,} columns are allowed",
            line=number,
        )

    def check_row(self, number: int, row: list[str]) -> None:
        if len(row) > self._widest:
            self._widest = len(row)
            self.check_place(number, len(row) - 1)
        if number * self._widest > self._limits["cells"]:
            raise too_many_cells(self._limits["cells"])
        most = self._limits["cell_bytes"]
        if row and 4 * max(map(len, row)) > most and any(len(c.encode()) > most for c in row):
            raise cell_too_large(number, most)

    def hide(self, number: int) -> None:
        self._problems.note(hidden_row(number))

    def value(self, text: str, kind: str, style: str, place: tuple[int, int]) -> str:
        match kind:
            case "n":
                text = text.strip()
                if style == GENERAL:
                    return plain_number(text)
                return number_text(text, style, self._book.date_1904)
            case "s":
                return self._strings.at(text)
            case "b":
                return "TRUE" if text.strip() == "1" else "FALSE"
            case "e":
                self._problems.add(cell_error(place[0], place[1] + 1, text))
                return text
        return unescaped(text)

    def format(self, style: str | None) -> str:
        if style is None or not style.isdecimal() or int(style) >= len(self._book.formats):
            return GENERAL
        return self._book.formats[int(style)]


class _Events:
    """The same cells from a parser of any XML."""

    def __init__(self, cells: SheetCells, book: Book, path: str, limits: Mapping[str, int]) -> None:
        self._cells = cells
        self._book = book
        self._path = path
        self._most_cell = limits["cell_bytes"]
        self._done: list[GridRow] = []
        self._row: list[str] = []
        self._parts: list[str] = []
        self._size = 0
        self._attributes: dict[str, str] = {}
        self._number = 0
        self._column = -1
        self._capture = False
        self._phonetic = False
        self._hidden = False

    def rows(self) -> Iterator[GridRow]:
        with self._book.part(self._path) as file:
            for _ in parse(file, self._start, self._end, self._text):
                yield from self._done
                self._done.clear()

    def _start(self, name: str, given: dict[str, str]) -> None:
        match local(name):
            case "c":
                self._attributes = given
                letters = given.get("r", "").rstrip("0123456789")[:4]
                self._column = column_of(letters) if letters.isalpha() else self._column + 1
                self._parts.clear()
                self._size = 0
            case "v" | "t":
                self._capture = not self._phonetic
            case "row":
                told = given.get("r", "")
                self._number = int(told[:8]) if told.isdecimal() else self._number + 1
                self._column = -1
                self._row = []
                self._hidden = given.get("hidden") in ("1", "true")
            case "rPh":
                self._phonetic = True

    def _end(self, name: str) -> None:
        match local(name):
            case "v" | "t":
                self._capture = False
            case "rPh":
                self._phonetic = False
            case "c" if self._parts:
                self._end_cell()
            case "row" if self._row:
                self._cells.check_row(self._number, self._row)
                if self._hidden:
                    self._cells.hide(self._number)
                self._done.append((self._number, self._row))
                self._row = []

    def _end_cell(self) -> None:
        given, column, row = self._attributes, self._column, self._row
        style = self._cells.format(given.get("s"))
        place = (self._number, column)
        text = self._cells.value("".join(self._parts), given.get("t", "n"), style, place)
        if text and column >= 0:
            self._cells.check_place(self._number, column)
            row += [""] * (column + 1 - len(row))
            row[column] = text

    def _text(self, data: str) -> None:
        if self._capture:
            self._parts.append(data)
            self._size += len(data)
            if self._size > self._most_cell:
                raise cell_too_large(self._number, self._most_cell)


def too_many_cells(most: int) -> BadInput:
    return BadInput("TOO_MANY_CELLS", f"The sheet spans more than {most:,} cells", limit=most)


def cell_too_large(number: int, most: int) -> BadInput:
    return BadInput(
        "CELL_TOO_LARGE", f"A cell of row {number:,} is larger than {most:,} bytes", line=number
    )
