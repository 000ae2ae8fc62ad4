"""Write rows as CSV, JSON and NDJSON, in pieces. CSV is safe to open in spreadsheets."""

from __future__ import annotations

import re
from collections.abc import Collection, Iterable, Sequence
from typing import Any

import orjson

from penstock.model.export import ExportRow

# Characters that start a formula in spreadsheets, including full-width ones.
_FORMULA_STARTS = frozenset("=+-@\t\r\n\0\uff1d\uff0b\uff0d\uff20")
_NUMBER = re.compile(r"[+-]([0-9]++([.,][0-9]++)*+|[.,][0-9]++)([eE][+-]?[0-9]++)?")
# Spreadsheets of other locales split at these and then misread quotes of later cells.
_FOREIGN_DELIMITERS = frozenset(";\t|")
_INNER_START = re.compile(
    r"""([;\t|\r\n]["']*+)(?=[=@\uff1d\uff20]|[+\-\uff0b\uff0d][^;\t\r\n(!]{0,200}+[(!])"""
)
_QUOTED = re.compile(r'[",;\t|\r\n]')


def safe_cell(value: Any) -> str:
    """A value as text that spreadsheets do not run as a formula; plain numbers stay numbers."""
    text = _text(value)
    text = _INNER_START.sub(r"\1'", text)
    if text[:1] in _FORMULA_STARTS and not _NUMBER.fullmatch(text):
        return f"'{text}"
    return text


def _text(value: Any) -> str:
    match value:
        case None:
            return ""
        case str():
            return value
        case _:
            return orjson.dumps(value).decode()


class CsvWriter:
    media_type = "text/csv; charset=utf-8"
    extension = "csv"
    marks = False

    def __init__(self, columns: Sequence[str], amounts: Collection[str] = ()) -> None:
        self._columns = columns

    def head(self) -> bytes:
        return _encoded([self._columns])

    def page(self, rows: Iterable[ExportRow]) -> bytes:
        return _encoded(row.cells for row in rows)

    def end(self) -> bytes:
        return b""


def _encoded(rows: Iterable[Sequence[Any]]) -> bytes:
    """Lines of CSV. Cells are encoded column by column: most columns of a page have no cell that
    needs anything, which a few searches through all of its cells show."""
    cells = list(rows)
    if not cells:
        return b""
    columns = map(_column, zip(*cells, strict=True))
    lines = list(map(",".join, zip(*columns, strict=True)))
    if len(cells[0]) < 2:
        # A row of one empty cell must not be an empty line, which is no row.
        lines = [line or '""' for line in lines] if cells[0] else [""] * len(cells)
    return ("\r\n".join(lines) + "\r\n").encode()


def _column(cells: Sequence[Any]) -> Sequence[str]:
    """The cells of one column as they are written."""
    try:
        text = "\n".join(cells)
    except TypeError:
        cells = [cell if type(cell) is str else _text(cell) for cell in cells]
        text = "\n".join(cells)
    starts = {cell[:1] for cell in cells}
    has_inner_lines = text.count("\n") >= len(cells)
    if has_inner_lines or not _FORMULA_STARTS.isdisjoint(starts):
        return list(map(_cell, cells))
    if any(mark in text for mark in _FOREIGN_DELIMITERS) or "\r" in text:
        return list(map(_cell, cells))
    if "," in text or '"' in text:
        return [_quoted(cell) if "," in cell or '"' in cell else cell for cell in cells]
    return cells


def _cell(text: str) -> str:
    """A cell as it is written, quoted if it contains any common delimiter, not only a comma."""
    cell = safe_cell(text)
    return _quoted(cell) if _QUOTED.search(cell) else cell


def _quoted(cell: str) -> str:
    return f'"{cell.replace(chr(34), chr(34) * 2)}"'


class NdjsonWriter:
    """One object per line; values unchanged, since spreadsheets do not open this."""

    media_type = "application/x-ndjson"
    extension = "ndjson"
    marks = False

    def __init__(self, columns: Sequence[str], amounts: Collection[str] = ()) -> None:
        self._columns = columns

    def head(self) -> bytes:
        return b""

    def page(self, rows: Iterable[ExportRow]) -> bytes:
        return b"".join(
            orjson.dumps(self._object(row), option=orjson.OPT_APPEND_NEWLINE) for row in rows
        )

    def _object(self, row: ExportRow) -> dict[str, Any]:
        return dict(zip(self._columns, row.cells, strict=True))

    def end(self) -> bytes:
        return b""


class JsonWriter(NdjsonWriter):
    """One array of objects."""

    media_type = "application/json"
    extension = "json"

    def __init__(self, columns: Sequence[str], amounts: Collection[str] = ()) -> None:
        super().__init__(columns, amounts)
        self._lead = b""

    def head(self) -> bytes:
        return b"["

    def page(self, rows: Iterable[ExportRow]) -> bytes:
        pieces = []
        for row in rows:
            pieces.append(self._lead + orjson.dumps(self._object(row)))
            self._lead = b",\n"
        return b"".join(pieces)

    def end(self) -> bytes:
        return b"]\n"
