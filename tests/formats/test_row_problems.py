"""What is wrong with a row goes with the row: its number, a code, and the place in the file."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path

import pytest
import xlsxwriter
from tests.formats.support import LIMITS, read
from tests.formats.test_sheets import ods, ods_cell

from penstock.formats.read_table import read_table
from penstock.formats.tables import JsonChunk, TableChunk, as_json_rows


@pytest.fixture
def file(tmp_path: Path) -> Path:
    return tmp_path / "file"


def problems(file: Path, after: int = 0) -> list[tuple[int | None, str, int, int | None]]:
    cursor = {"rows": after, "plan": read(file).head.plan} if after else None
    chunks = [p for p in read_table(str(file), {}, LIMITS, cursor) if isinstance(p, TableChunk)]
    return [(one.row, one.code, one.line, one.column) for c in chunks for one in c.problems]


def test_text_files(file: Path) -> None:
    lines = ["Price list", "", "a,b,c", "1,x,3", "4,x", '6,"two', 'lines",7', "8,x,10,11",
             '12,"open,13', "14,x,16", "17,\0,18"]  # fmt: skip
    file.write_text("\n".join(lines))
    assert problems(file) == [
        (2, "RAGGED_ROW", 5, None),
        (4, "RAGGED_ROW", 8, None),
        (5, "UNBALANCED_QUOTE", 9, None),
        (7, "TEXT_UNREADABLE", 11, None),
    ]
    assert problems(file, after=4) == problems(file)[2:]


def test_bytes_of_another_encoding(file: Path) -> None:
    good = "Ärmel;Öl;Müller\n".encode()
    file.write_bytes(b"a;b;c\n" + good * 20 + b"x;\xe4;z\n" + good + b'x;"two\nl\xeenes";z\n')
    reading = read(file)
    assert reading.rows[20] == ["x", "ä", "z"]
    assert reading.rows[22] == ["x", "two\nlînes", "z"]
    assert problems(file) == [(21, "ENCODING_MIXED", 22, None), (23, "ENCODING_MIXED", 25, None)]


def test_notes_below_the_table_have_no_row(file: Path) -> None:
    body = "".join(f"{n};some longer text here;{n}.50\n" for n in range(100_000))
    file.write_text(f"id;text;price\n7;8\n{body}\nTotal;;99\nSource: \0\n")
    assert problems(file) == [(1, "RAGGED_ROW", 2, None)]


def test_far_down_and_across_chunks(file: Path) -> None:
    body = [f"{n};text {n};1,50" for n in range(30_000)]
    for at in (0, 4_999, 5_000, 29_999):
        body[at] += ";more"
    file.write_text("id;text;price\n" + "\n".join(body))
    assert [row for row, *_ in problems(file)] == [1, 5_000, 5_001, 30_000]
    for piece in read_table(str(file), {}, LIMITS):
        if isinstance(piece, TableChunk) and piece.problems:
            assert all(one.message.endswith("has 4 cells, the header has 3")
                       for one in piece.problems)  # fmt: skip


def xlsx(path: Path) -> None:
    with xlsxwriter.Workbook(str(path)) as made:
        sheet = made.add_worksheet()
        sheet.write_row(0, 0, ["Price list"])
        sheet.write_row(2, 0, ["sku", "price"])
        for line in range(3, 9):
            sheet.write_row(line, 0, [f"A{line}", line])
        sheet.write_formula(4, 1, "=1/0", None, "#DIV/0!")
        sheet.set_row(6, None, None, {"hidden": True})


def ods_file(path: Path) -> None:
    cells = [
        ("sku", "price"), ("A3", "3"), ("A4", "#DIV/0!"), ("A5", "5"), ("A6", "6"), ("A7", "7"),
    ]  # fmt: skip
    rows = [f"{ods_cell(sku)}{ods_cell(price)}" for sku, price in cells]
    marked = ["<table:table-row>"] * 6
    marked[4] = '<table:table-row table:visibility="filter">'
    blank = "<table:table-row/>"
    made = "".join(f"{mark}{row}</table:table-row>" for mark, row in zip(marked, rows, strict=True))
    ods(path, f"<table:table-row>{ods_cell('Price list')}</table:table-row>{blank}{made}")


@pytest.mark.parametrize("make", [xlsx, ods_file])
def test_workbooks(file: Path, make: Callable[[Path], None]) -> None:
    make(file)
    found = problems(file)
    assert found == [(2, "CELL_ERROR", 5, 2), (4, "HIDDEN_ROW", 7, None)]
    assert problems(file, after=2) == found[1:]
    # What is hidden is no fault of the file.
    assert [one["code"] for one in read(file).end.problems] == ["CELL_ERROR"]


def test_lists_of_lists(file: Path) -> None:
    rows = [["sku", "price"], *([f"A{n}", str(n)] for n in range(700))]
    rows[601].append("more")
    file.write_text(json.dumps(rows))
    assert problems(file) == [(601, "RAGGED_ROW", 601, None)]


def test_rows_as_they_are_stored_bring_them_too(file: Path) -> None:
    file.write_text("a,b,c\n1,2,3\n4,5\n")
    stored = map(as_json_rows, read_table(str(file), {}, LIMITS))
    [chunk] = [piece for piece in stored if isinstance(piece, JsonChunk)]
    assert [(one.row, one.code) for one in chunk.problems] == [(2, "RAGGED_ROW")]
