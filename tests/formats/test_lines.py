"""Which line of the file each row is: titles, blank lines, long cells and notes do not mislead."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import openpyxl
import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.formats.support import LIMITS

from penstock.formats.read_table import read_table
from penstock.formats.tables import LineRuns, TableChunk, TableEnd
from penstock.model.rows.lines import line_of


def lines_by_sku(file: Path, **options: Any) -> dict[str, int | None]:
    """The line of each row, by its first cell."""
    rows: list[list[str]] = []
    found = None
    for piece in read_table(str(file), options, LIMITS):
        if isinstance(piece, TableChunk):
            rows += piece.rows
            # Known with the chunk already, for previews.
            assert line_of(piece.lines, len(rows)) is not None
        elif isinstance(piece, TableEnd):
            found = piece.lines
    assert found is not None
    return {row[0]: line_of(found, number) for number, row in enumerate(rows, 1)}


MESSY = """Preisliste Herbst;;
gültig ab 1.9.;;
Art.-Nr.;Bezeichnung;Preis
A-1;Hammer;1,00
A-2;"Zange
mit Griff
rot";2,00
A-3;Säge;3,00


A-4;Feile;4,00
A-5;Bohrer
A-6;Nagel;6,00
"""


@pytest.mark.parametrize("end", ["\n", "\r\n"])
def test_lines_of_a_text_file(tmp_path: Path, end: str) -> None:
    file = tmp_path / "list.csv"
    file.write_bytes(MESSY.replace("\n", end).encode())
    expected = {"A-1": 4, "A-2": 5, "A-3": 8, "A-4": 11, "A-5": 12, "A-6": 13}
    assert lines_by_sku(file) == expected


def test_rows_of_a_sheet(tmp_path: Path) -> None:
    book = openpyxl.Workbook()
    sheet = book.active
    assert sheet is not None
    rows = {
        1: "Cennik 2026", 3: "Indeks|Nazwa|Cena", 4: "B-1|Młotek|1.5", 7: "B-2|Piła|2.5",
        8: "B-3|Śruba|3.5",
    }  # fmt: skip
    for place, row in rows.items():
        for column, value in enumerate(row.split("|"), 1):
            sheet.cell(place, column, value)
    book.save(tmp_path / "list.xlsx")
    assert lines_by_sku(tmp_path / "list.xlsx") == {"B-1": 4, "B-2": 7, "B-3": 8}


def test_lines_across_blocks(tmp_path: Path) -> None:
    """In a file of several blocks, with cells of two lines here and there."""
    file, expected, line = tmp_path / "long.csv", {}, 2
    with file.open("w") as out:
        out.write("sku,title,price\n")
        for n in range(60_000):
            long = n % 777 == 0
            expected[f"S{n}"] = line
            out.write(f'S{n},"Thing{chr(10) if long else " "}{n}",{n}.50\n')
            line += 2 if long else 1
    assert lines_by_sku(file) == expected


def test_records_have_no_lines(tmp_path: Path) -> None:
    file = tmp_path / "list.json"
    file.write_text('[{"sku": "1", "title": "Pen"}, {"sku": "2", "title": "Cup"}]')
    *_, end = read_table(str(file), {}, LIMITS)
    assert isinstance(end, TableEnd)
    assert line_of(end.lines, 1) is None


@given(st.lists(st.integers(1, 3), max_size=80))
def test_runs_tell_every_line(gaps: list[int]) -> None:
    lines, line = [], 5
    for gap in gaps:
        line += gap
        lines.append(line)
    by_one, at_once = LineRuns(), LineRuns()
    for one in lines:
        by_one.add(one)
    at_once.add_each(lines)
    assert [line_of(by_one.runs, row) for row in range(1, len(lines) + 1)] == lines
    assert at_once.runs == by_one.runs


def test_after_many_runs_lines_are_unknown() -> None:
    found = LineRuns()
    found.add_each([2 * n for n in range(1, 3001)])
    found.add(9000, 10)
    assert len(found.runs) == LineRuns.MOST + 1
    assert line_of(found.runs, LineRuns.MOST) == 2 * LineRuns.MOST
    assert line_of(found.runs, LineRuns.MOST + 1) is None
    assert line_of(found.runs, 3005) is None
