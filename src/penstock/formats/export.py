"""Rows to CSV that is safe to open in a spreadsheet. The same bytes for the API and the CLI."""

from __future__ import annotations

import csv
import io
import re
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

import orjson

# A spreadsheet takes a cell that begins so for a formula; the wide forms count in Asian versions.
_STARTS_FORMULA = frozenset("=+-@\t\r\n\0＝＋－＠")
_NUMBER = re.compile(r"[+-]?\d+(?:[.,]\d+)*")


def cell(value: Any) -> str:
    """A value as text that no spreadsheet runs. Plain numbers stay numbers, signed ones too."""
    match value:
        case str():
            text = value
        case None:
            return ""
        case bool():
            return "true" if value else "false"
        case int() | float():
            return str(value)
        case _:
            text = orjson.dumps(value).decode()
    if text[:1] in _STARTS_FORMULA and text and not _NUMBER.fullmatch(text):
        return f"'{text}"
    return text


class CsvPages:
    """A CSV in pieces: the header, then page by page, each small enough to hold."""

    def __init__(self, columns: Sequence[str]) -> None:
        self._columns = columns

    def head(self) -> bytes:
        return self._encoded([self._columns])

    def page(self, rows: Iterable[Mapping[str, Any]]) -> bytes:
        return self._encoded([row.get(column) for column in self._columns] for row in rows)

    def _encoded(self, rows: Iterable[Sequence[Any]]) -> bytes:
        text = io.StringIO()
        csv.writer(text, lineterminator="\n").writerows(map(cell, row) for row in rows)
        return text.getvalue().encode("utf-8", "replace")
