"""A file of the gold set: its bytes, and the products that a person reads in it."""

from __future__ import annotations

import io
from collections.abc import Sequence
from typing import NamedTuple

Truth = list[dict[str, str]]


class GoldCase(NamedTuple):
    """``kind`` groups the files in the report. An empty cell of the truth says that the product
    must not have the field; fields that the truth does not name are not judged."""

    name: str
    kind: str
    content: bytes
    truth: Truth


def truth(table: str) -> Truth:
    """Products from lines of cells between `|`; the first line names the fields."""
    lines = [line.strip() for line in table.strip().splitlines() if line.strip()]
    names, *rows = [[cell.strip() for cell in line.split("|")] for line in lines]
    for row in rows:
        if len(row) != len(names):
            raise ValueError(f"{len(row)} cells, not {len(names)}: {row}")
    return [dict(zip(names, row, strict=True)) for row in rows]


def case(name: str, kind: str, content: str, table: str, encoding: str = "utf-8") -> GoldCase:
    return GoldCase(name, kind, content.lstrip("\n").encode(encoding), truth(table))


def book(
    name: str, kind: str, sheets: dict[str, Sequence[Sequence[object]]], table: str
) -> GoldCase:
    """A workbook; the cells keep their types."""
    from openpyxl import Workbook

    workbook = Workbook()
    del workbook[workbook.sheetnames[0]]
    for title, rows in sheets.items():
        sheet = workbook.create_sheet(title)
        for row in rows:
            sheet.append(list(row))
    made = io.BytesIO()
    workbook.save(made)
    return GoldCase(name, kind, made.getvalue(), truth(table))
