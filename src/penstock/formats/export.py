"""Rows to CSV that is safe to open in a spreadsheet: the same bytes for the API and the CLI."""

from __future__ import annotations

import csv
import io
import re
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

import orjson

# What a spreadsheet takes for a formula, the full-width signs among it.
_FORMULA_STARTS = tuple("=+-@\t\r\n\0\uff1d\uff0b\uff0d\uff20")
_NUMBER = re.compile(r"[+-]([0-9]+([.,][0-9]+)*|[.,][0-9]+)([eE][+-]?[0-9]+)?")


def safe_cell(value: Any) -> str:
    """A value as text that no spreadsheet runs; plain numbers stay numbers."""
    match value:
        case None:
            return ""
        case str():
            text = value
        case _:
            text = orjson.dumps(value).decode()
    if text.startswith(_FORMULA_STARTS) and not _NUMBER.fullmatch(text):
        return f"'{text}"
    return text


class CsvPages:
    """A CSV in pieces: the header, then page by page, each small enough to hold."""

    def __init__(self, columns: Sequence[str]) -> None:
        self._columns = columns

    def head(self) -> bytes:
        return _encoded([self._columns])

    def page(self, rows: Iterable[Mapping[str, Any]]) -> bytes:
        return _encoded([row.get(column) for column in self._columns] for row in rows)


def _encoded(rows: Iterable[Sequence[Any]]) -> bytes:
    text = io.StringIO(newline="")
    csv.writer(text, lineterminator="\r\n").writerows(map(safe_cell, row) for row in rows)
    return text.getvalue().encode()
