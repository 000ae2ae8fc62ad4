"""Write rows as CSV, JSON and NDJSON, in pieces. CSV is safe to open in spreadsheets."""

from __future__ import annotations

import csv
import io
import re
from collections.abc import Iterable, Sequence
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
    match value:
        case None:
            return ""
        case str():
            text = value
        case _:
            text = orjson.dumps(value).decode()
    text = _INNER_START.sub(r"\1'", text)
    if text[:1] in _FORMULA_STARTS and not _NUMBER.fullmatch(text):
        return f"'{text}"
    return text


def _safe_cells(cells: Sequence[Any]) -> list[str]:
    return [
        cell
        if type(cell) is str and cell[:1] not in _FORMULA_STARTS and not _INNER_START.search(cell)
        else safe_cell(cell)
        for cell in cells
    ]


class CsvWriter:
    media_type = "text/csv; charset=utf-8"
    extension = "csv"
    marks = False

    def __init__(self, columns: Sequence[str]) -> None:
        self._columns = columns

    def head(self) -> bytes:
        return _encoded([self._columns])

    def page(self, rows: Iterable[ExportRow]) -> bytes:
        return _encoded(row.cells for row in rows)

    def end(self) -> bytes:
        return b""


def _encoded(rows: Iterable[Sequence[Any]]) -> bytes:
    safe = [_safe_cells(row) for row in rows]
    file = io.StringIO(newline="")
    csv.writer(file, lineterminator="\r\n").writerows(safe)
    text = file.getvalue()
    if not _FOREIGN_DELIMITERS.isdisjoint(text):
        text = "".join(map(_quoted_line, safe))
    return text.encode()


def _quoted_line(cells: Sequence[str]) -> str:
    """Like `csv`, but quotes cells with any common delimiter, not only with a comma."""
    quoted = [
        f'"{cell.replace(chr(34), chr(34) * 2)}"' if _QUOTED.search(cell) else cell
        for cell in cells
    ]
    return (",".join(quoted) or ('""' if cells else "")) + "\r\n"


class NdjsonWriter:
    """One object per line; values unchanged, since spreadsheets do not open this."""

    media_type = "application/x-ndjson"
    extension = "ndjson"
    marks = False

    def __init__(self, columns: Sequence[str]) -> None:
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

    def __init__(self, columns: Sequence[str]) -> None:
        super().__init__(columns)
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
