"""Lists made for people: settings above the header, rows that count columns, lines of pages."""

from __future__ import annotations

import io
from collections.abc import Sequence
from pathlib import Path

import pytest
from openpyxl import Workbook
from tests.formats.support import read

NAMES = ["SKU", "Name", "Price", "Stock"]
ROWS = [
    ["A-1", "Hammer", "12.50", "3"],
    ["A-2", "Pliers", "9.99", "14"],
    ["A-3", "Saw", "7.10", "0"],
]
TABLE = [NAMES, *ROWS]


@pytest.fixture
def file(tmp_path: Path) -> Path:
    return tmp_path / "list"


def text_of(*rows: Sequence[str], delimiter: str = ";") -> str:
    return "".join(delimiter.join(row) + "\n" for row in rows)


@pytest.mark.parametrize(
    "above",
    [
        "Price list;;;\nCustomer no.;10023;;\nValid from;01.01.2026;;\nCurrency;EUR;;\n;;;\n",
        "Customer no.;10023;;\nValid from;01.01.2026;;\nCurrency;EUR;;\n",
        "Ceník;;;\nZákazník;Novák s.r.o.;;\nMěna;CZK;;\n;;;\n",
        "HDR;20260101;PRICES\n",
        "H;4711;2026-01-01\n",
    ],
)
def test_settings_above_the_header(file: Path, above: str) -> None:
    file.write_text(above + text_of(*TABLE), "utf-8")
    assert read(file).table == TABLE


@pytest.mark.parametrize(
    "between", ["1;2;3;4", "(1);(2);(3);(4)", "A;B;C;D", "string;string;decimal;integer"]
)
def test_rows_that_count_or_explain_the_columns(file: Path, between: str) -> None:
    file.write_text(text_of(NAMES) + between + "\n" + text_of(*ROWS), "utf-8")
    reading = read(file)
    assert reading.table == TABLE
    assert any("explains the columns" in said for said in reading.found["ambiguities"])


def test_units_below_the_names_belong_to_them(file: Path) -> None:
    file.write_text(text_of(NAMES, ["", "", "EUR", ""], *ROWS), "utf-8")
    assert read(file).table == [["SKU", "Name", "Price EUR", "Stock"], *ROWS]


def test_a_first_row_that_only_resembles_a_count_is_data(file: Path) -> None:
    rows = [["1", "2", "3"], ["2", "5", "6"], ["3", "8", "9"]]
    file.write_text(text_of(["id", "min", "max"], *rows), "utf-8")
    assert read(file).rows == rows


@pytest.mark.parametrize(
    "line", ["Page 2", "Seite 2 von 9;;;", "- Side 2 -", "Strona 2/9", "стр. 2"]
)
def test_lines_of_pages(file: Path, line: str) -> None:
    file.write_text(text_of(*TABLE[:3]) + line + "\n" + text_of(*ROWS[2:]), "utf-8")
    assert read(file).table == TABLE


@pytest.mark.parametrize("mark", ["\x0c", "\ufeff"])
def test_files_put_together(file: Path, mark: str) -> None:
    file.write_text(text_of(*TABLE[:3]) + mark + text_of(NAMES, *ROWS[2:]), "utf-8")
    assert read(file).table == TABLE


def test_lines_in_quotes_below_a_header_without(file: Path) -> None:
    rows = ['"A-1,""Hammer, big"",12.50,3"', '"A-2,Pliers,9.99,14"', '"A-3,Saw,7.10,0"']
    file.write_text("SKU,Name,Price,Stock\n" + "\n".join(rows) + "\n", "utf-8")
    assert read(file).table == [NAMES, ["A-1", "Hammer, big", "12.50", "3"], *ROWS[1:]]


def test_a_delimiter_in_the_first_record_is_no_header(file: Path) -> None:
    file.write_text("sku;html;price\nA;<p a: b; c: 0>;1.00\nB;<b>y</b>;2.00\nC;z;3.00\n", "utf-8")
    reading = read(file)
    assert reading.header == ["sku", "html", "price"]
    assert [row[0] for row in reading.rows] == ["A", "B", "C"]


def book(file: Path, rows: Sequence[Sequence[object]], *merges: str) -> None:
    workbook = Workbook()
    sheet = workbook.active
    assert sheet is not None
    for row in rows:
        sheet.append(list(row))
    for merged in merges:
        sheet.merge_cells(merged)
    made = io.BytesIO()
    workbook.save(made)
    file.write_bytes(made.getvalue())


def test_the_next_section_has_a_title_and_the_same_header(file: Path) -> None:
    below = [["B-1", "Drill", "99", "1"], ["B-2", "Router", "120", "2"]]
    book(file, [*TABLE, [], [], ["Power tools"], NAMES, *below])
    reading = read(file)
    assert [row[0] for row in reading.rows] == ["A-1", "A-2", "A-3", "Power tools", "B-1", "B-2"]
    assert reading.found["other_tables"] == []


def test_cells_merged_over_rows_count_for_each(file: Path) -> None:
    rows: list[list[object]] = [
        ["Tools", "A-1", "1.50"],
        [None, "A-2", "2.50"],
        ["Garden", "A-3", "3"],
        [None, "A-4", "4"],
    ]
    book(file, [["Category", "SKU", "Price"], *rows], "A2:A3", "A4:A5")
    reading = read(file)
    assert [row[0] for row in reading.rows] == ["Tools", "Tools", "Garden", "Garden"]
    again = read(file, cursor={"rows": 3, "plan": reading.head.plan})
    assert again.rows == [["Garden", "A-4", "4"]]


def test_blank_lines_between_all_rows_end_no_table(file: Path) -> None:
    short = ["A-4", "Rail", "", ""]
    file.write_text(text_of(*TABLE, short).replace("\n", "\n\n"))
    found = read(file)
    assert (found.header, found.rows) == (NAMES, [*ROWS, short])


@pytest.mark.parametrize("mark", "^~:")
def test_rare_delimiters_of_all_lines_win_over_decimal_commas(file: Path, mark: str) -> None:
    rows = [[cell.replace(".", ",") for cell in row] for row in ROWS]
    file.write_text(text_of(NAMES, *rows, ["A-4", "Rail", "1,95", "8"], delimiter=mark))
    found = read(file)
    assert (found.header, found.rows[:3]) == (NAMES, rows)


def test_empty_columns_between_all_columns_are_no_doubled_delimiter(file: Path) -> None:
    spaced = [f"{one[0]};;{one[1]};;{one[2]};;{one[3]};;;\n" for one in TABLE]
    file.write_text("".join([";PRICE LIST;;;;;;;;\n", *spaced]))
    found = read(file)
    assert [name for name in found.header if name in NAMES] == NAMES
    assert [[cell for cell in row if cell] for row in found.rows] == ROWS


def test_row_with_few_cells_below_a_blank_line_belongs_to_the_table(file: Path) -> None:
    sparse = ["A-4", "", "3.00", ""]
    file.write_text(text_of(*TABLE, ["", "", "", ""], sparse))
    found = read(file)
    assert (found.header, found.rows) == (NAMES, [*ROWS, sparse])


@pytest.mark.parametrize("last", [["", "", "29.59", ""], ["Ukupno", "", "29.59", ""]])
def test_sum_below_a_blank_line_is_no_row(file: Path, last: list[str]) -> None:
    file.write_text(text_of(*TABLE, ["", "", "", ""], last))
    assert read(file).rows == ROWS


def test_title_above_a_column_without_a_name_is_no_group(file: Path) -> None:
    rows = [[*row[:2], "", *row[2:]] for row in TABLE]
    file.write_text(text_of(["", "", "Price list", "", ""], *rows))
    found = read(file)
    assert found.header[:2] == NAMES[:2]
    assert found.header[3:] == NAMES[2:]


@pytest.mark.parametrize("rows", [ROWS, ROWS[:2]])
def test_header_again_as_the_last_row_stays_the_header(file: Path, rows: list[list[str]]) -> None:
    file.write_text(text_of(*TABLE[: len(rows) + 1], NAMES))
    found = read(file)
    assert (found.header, found.rows) == (NAMES, rows)
