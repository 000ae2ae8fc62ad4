"""Sheets whose only column holds lines of a text file."""

from __future__ import annotations

from pathlib import Path

import pytest
from openpyxl import Workbook
from tests.formats.support import read

LINES = [
    "Art.-Nr.;Bezeichnung;Preis",
    'A-1;"Hammer; groß";12,50',
    "A-2;Zange;9,99",
    "A-3;Säge;7,10",
]
TABLE = [
    ["Art.-Nr.", "Bezeichnung", "Preis"],
    ["A-1", "Hammer; groß", "12,50"],
    ["A-2", "Zange", "9,99"],
    ["A-3", "Säge", "7,10"],
]


@pytest.fixture
def file(tmp_path: Path) -> Path:
    return tmp_path / "list"


def one_column(file: Path, lines: list[str], left: int = 1) -> None:
    book = Workbook()
    sheet = book.active
    assert sheet is not None
    for number, line in enumerate(lines, start=1):
        sheet.cell(number, left, line)
    book.save(file.with_suffix(".xlsx"))
    file.write_bytes(file.with_suffix(".xlsx").read_bytes())


@pytest.mark.parametrize("delimiter", [";", "\t", "|"])
@pytest.mark.parametrize("left", [1, 3])
def test_lines_are_split(file: Path, delimiter: str, left: int) -> None:
    one_column(file, [line.replace(";", delimiter) for line in LINES], left)
    reading = read(file)
    expected = [[cell.replace(";", delimiter) for cell in row] for row in TABLE]
    assert reading.table == expected
    assert any("only column" in said for said in reading.found["ambiguities"])
    again = read(file, cursor={"rows": 2, "plan": reading.head.plan})
    assert again.rows == expected[3:]


@pytest.mark.parametrize(
    "lines",
    [
        ["Name", "Hammer, groß", "Zange", "Säge, klein"],
        ["Ort", "Bern, Schweiz", "Wien, Österreich", "Rom, Italien"],
        ["SKU", "A-1", "A-2", "A-3"],
        ["a;b", "c;d"],
    ],
)
def test_texts_are_not_split(file: Path, lines: list[str]) -> None:
    one_column(file, lines)
    assert read(file).table == [[line] for line in lines]
