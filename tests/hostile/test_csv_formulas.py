"""Exports opened in a spreadsheet that splits at other characters than commas: nothing is run."""

from __future__ import annotations

import csv
import io

import pytest

from penstock.formats.writing.text_formats import CsvWriter, safe_cell
from penstock.model.export import ExportRow

COMMAND = "=cmd|' /C calc'!A0"
STARTS = ("=", "@", "+", "-", "＝")


def exported(*cells: str) -> str:
    return CsvWriter(["a"] * len(cells)).page([ExportRow(list(cells))]).decode()


@pytest.mark.parametrize("delimiter", [";", "\t", "|", "\n", "\r\n", ';"', ";''"])
@pytest.mark.parametrize("start", STARTS)
def test_no_part_of_a_cell_is_a_formula(delimiter: str, start: str) -> None:
    cell = f"harmless{delimiter}{start}cmd|' /C calc'!A0"
    for line in (exported(cell), exported("first", cell), exported("first", cell, "last")):
        for split_at in ";\t|,":
            # As a program reads it that knows no quotes, or only those a field begins with.
            rough = [part for row in line.splitlines() for part in row.split(split_at)]
            read = [
                part for row in csv.reader(io.StringIO(line), delimiter=split_at) for part in row
            ]
            for part in (*rough, *read):
                assert part.lstrip('"')[:1] not in STARTS, (line, split_at, part)


@pytest.mark.parametrize("cell", ["a;b", "a\tb", "a|b", 'a;"b"', "a;-1", "a,b", 'say "x"'])
def test_cells_with_any_delimiter_are_quoted_and_unchanged(cell: str) -> None:
    assert exported("x", cell).startswith('x,"')
    assert next(csv.reader(io.StringIO(exported("x", cell)))) == ["x", cell]


@pytest.mark.parametrize(
    "text",
    ["1;-2;+3,5", "first\n- second\n- third", "5 cm; -20 °C", "a; b = c", "x\n-y", "1|-2|-3", "-5"],
)
def test_numbers_and_prose_stay_as_they_are(text: str) -> None:
    assert safe_cell(text) == text


def test_lines_are_as_csv_writes_them() -> None:
    rows = [["a;b", ""], ["", ""], ["plain", 'q"q'], ["x\ny", "z"]]
    pages = CsvWriter(["a", "b"]).page(list(map(ExportRow, rows))).decode()
    assert list(csv.reader(io.StringIO(pages, newline=""))) == rows
    assert CsvWriter(["a;"]).head() == b'"a;"\r\n'
