"""Workbooks of every kind: made here by writers of others, or by hand where none can."""

from __future__ import annotations

import datetime as dt
import io
import time
import zipfile
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import psutil
import pytest
import xlsxwriter
from openpyxl import Workbook
from tests.formats.support import read, refusal

from penstock.formats.sheets import xlsx_cells, xlsx_strings
from penstock.formats.sheets.numbers import kind_of_format, number_text
from penstock.formats.sheets.xlsx_fast import NotPlain

MAIN = 'xmlns="http://schemas.openxmlformats.org/spreadsheetml/2006/main"'


@pytest.fixture
def book(tmp_path: Path) -> Path:
    return tmp_path / "book.xlsx"


def write(path: Path, sheets: Mapping[str, list[list[Any]]], **formats: str) -> None:
    """``formats`` are number formats by column letter."""
    with xlsxwriter.Workbook(str(path), {"strings_to_formulas": False}) as made:
        styles = {name: made.add_format({"num_format": code}) for name, code in formats.items()}
        for name, rows in sheets.items():
            sheet = made.add_worksheet(name)
            for line, row in enumerate(rows):
                for column, value in enumerate(row):
                    style = styles.get(chr(65 + column)) if line else None
                    if isinstance(value, dt.date):
                        sheet.write_datetime(line, column, value, style)
                    elif value is not None:
                        sheet.write(line, column, value, style)


def test_cells_keep_what_they_mean(book: Path) -> None:
    moment = dt.datetime(2024, 2, 29, 14, 30)
    write(
        book,
        {"List": [
            ["gtin", "zip", "price", "day", "vat", "text", "ok", "at"],
            [4006381333931, 1067, 90.75, dt.date(2024, 2, 29), 0.19, "007", True, moment],
            [12345678901234, 99, 0.1 + 0.2, dt.date(1999, 12, 31), 0.075, "=1+1", False, moment],
        ]},
        B="00000", D="dd.mm.yyyy", E="0.0%", H="yyyy-mm-dd hh:mm",
    )  # fmt: skip
    assert read(book).table == [
        ["gtin", "zip", "price", "day", "vat", "text", "ok", "at"],
        ["4006381333931", "01067", "90.75", "2024-02-29", "19%", "007", "TRUE",
         "2024-02-29T14:30:00"],
        ["12345678901234", "00099", "0.3", "1999-12-31", "7.5%", "=1+1", "FALSE",
         "2024-02-29T14:30:00"],
    ]  # fmt: skip


@pytest.mark.parametrize(
    ("text", "code", "shown"),
    [
        ("5", "General", "5"),
        ("5.0", "0.00", "5"),
        ("1234567.891", "#,##0.00", "1234567.891"),
        ("42", "0000000000000", "0000000000042"),
        ("1234567", "000-0000", "123-4567"),
        ("44197", "m/d/yy", "2021-01-01"),
        ("44197.5", 'd. mmmm yyyy" um "h:mm', "2021-01-01T12:00:00"),
        ("0.75", "h:mm AM/PM", "18:00:00"),
        ("1.5", "[h]:mm", "36:00:00"),
        ("1", "yyyy-mm-dd", "1900-01-01"),
        ("60", "[Red]0", "60"),
        ("61", "yyyy-mm-dd", "1900-03-01"),
        ("-5", "yyyy-mm-dd", "-5"),
        ("1e99", "yyyy-mm-dd", "1e+99"),
        ("4.27335427525861E-07", "General", "4.27335427525861e-07"),
        ("0.00012", "General", "0.00012"),
        ("1E+20", "General", "100000000000000000000"),
        ("12.5", '0.00 "Stück"', "12.5"),
        ("7", '"Nr. "00', "Nr. 07"),
    ],
)
def test_number_formats(text: str, code: str, shown: str) -> None:
    assert number_text(text, kind_of_format(code), False) == shown


def test_dates_of_1904(book: Path) -> None:
    with xlsxwriter.Workbook(str(book), {"date_1904": True}) as made:
        sheet = made.add_worksheet()
        sheet.write_row(0, 0, ["day", "n"])
        sheet.write_datetime(1, 0, dt.datetime(2021, 1, 1), made.add_format({"num_format": 14}))
        sheet.write(1, 1, 5)
    assert read(book).rows == [["2021-01-01", "5"]]


def test_sheets_are_chosen_and_named(book: Path) -> None:
    products: list[list[Any]] = [["sku", "price"], *([f"A{n}", n] for n in range(40))]
    cover = [["ACME price list"], ["valid from 2024"]]
    write(book, {"Cover": cover, "Products": products, "Empty": [], "Units": products[:30]})
    reading = read(book)
    assert reading.found["sheet"] == "Products"
    assert len(reading.rows) == 40
    assert [sheet["name"] for sheet in reading.found["sheets"]] == [
        "Cover", "Products", "Empty", "Units",
    ]  # fmt: skip
    assert any("Units" in said for said in reading.found["ambiguities"])
    for wanted in ("Units", "units", 4, "4"):
        assert len(read(book, {"sheet": wanted}).rows) == 29
    assert refusal(book, {"sheet": "Nope"}).code == "SHEET_NOT_FOUND"
    assert refusal(book, {"sheet": 9}).code == "SHEET_NOT_FOUND"
    assert refusal(book, {"sheet": "Empty"}).code == "EMPTY_FILE"


def test_titles_groups_and_notes(book: Path) -> None:
    with xlsxwriter.Workbook(str(book)) as made:
        sheet = made.add_worksheet()
        sheet.merge_range("A1:E1", "ACME price list")
        sheet.merge_range("A3:A4", "SKU")
        sheet.merge_range("B3:C3", "Price")
        sheet.merge_range("D3:E3", "Size")
        sheet.write_row("B4", ["net", "gross", "L", "W"])
        for line in range(4, 9):
            sheet.write_row(line, 0, [f"A{line}", line, line * 1.19, 10, 20])
        sheet.write("A10", "Total")
        sheet.write("B10", 30)
        sheet.write("A12", "All prices in EUR, without VAT")
    reading = read(book)
    assert reading.header == ["SKU", "Price net", "Price gross", "Size L", "Size W"]
    assert len(reading.rows) == 5
    assert reading.found["header_rows"] == [3, 4]
    assert [line["line"] for line in reading.found["preamble"]] == [1]
    assert [line["line"] for line in reading.found["footer"]] == [10, 12]


def test_hidden_error_and_formula_cells(book: Path) -> None:
    with xlsxwriter.Workbook(str(book)) as made:
        sheet = made.add_worksheet()
        sheet.write_row(0, 0, ["sku", "price", "cost"])
        for line in range(1, 6):
            sheet.write_row(line, 0, [f"A{line}", line])
            sheet.write_formula(line, 2, f"=B{line + 1}*2", None, line * 2)
        sheet.write_formula(3, 2, "=1/0", None, "#DIV/0!")
        sheet.set_row(2, None, None, {"hidden": True})
        sheet.set_column(1, 1, None, None, {"hidden": True})
    reading = read(book)
    assert [row[2] for row in reading.rows] == ["2", "4", "#DIV/0!", "8", "10"]
    assert reading.found["hidden_rows"] == [3]
    assert reading.found["hidden_columns"] == [2]
    assert reading.end.problems == [
        {"code": "CELL_ERROR", "line": 4, "message": "Row 4 holds the error #DIV/0!"}
    ]


def test_patterns_and_events_read_the_same(book: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    rows = [["sku", "text", "n"]] + [
        [f"A{n}", f'<{n} & "more"> _x000D_ ü', n / 7 if n % 2 else None] for n in range(300)
    ]
    write(book, {"List": rows})
    fast = read(book)

    def not_plain(file: object) -> object:
        raise NotPlain

    monkeypatch.setattr(xlsx_cells, "plain_rows", not_plain)
    monkeypatch.setattr("penstock.formats.sheets.xlsx_strings.plain_strings", not_plain)
    assert read(book).table == fast.table
    assert fast.rows[1][1] == '<1 & "more"> _x000D_ ü'


def test_resuming_gives_exactly_the_other_rows(book: Path) -> None:
    write(book, {"List": [["sku", "n"], *([f"A{n}", n] for n in range(2500))]})
    whole = read(book)
    assert len(whole.rows) == 2500
    for done in (0, 1, 1000, 2500):
        again = read(book, cursor={"rows": done, "plan": whole.head.plan})
        assert again.rows == whole.rows[done:]
        assert again.head.names == whole.head.names


def made_by_hand(path: Path, sheet: str, strings: str = "", **more: str) -> None:
    """The smallest workbook that is one."""
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as archive:
        related = "http://schemas.openxmlformats.org/officeDocument/2006/relationships"
        package = "http://schemas.openxmlformats.org/package/2006/relationships"
        archive.writestr(
            "xl/workbook.xml",
            f'<workbook {MAIN} xmlns:r="{related}"><sheets>'
            '<sheet name="S" sheetId="1" r:id="r1"/></sheets></workbook>',
        )
        archive.writestr(
            "xl/_rels/workbook.xml.rels",
            f'<Relationships xmlns="{package}">'
            f'<Relationship Id="r1" Type="{related}/worksheet" Target="worksheets/sheet1.xml"/>'
            f'<Relationship Id="r2" Type="{related}/sharedStrings" Target="sharedStrings.xml"/>'
            "</Relationships>",
        )
        archive.writestr("xl/worksheets/sheet1.xml", sheet)
        archive.writestr("xl/sharedStrings.xml", strings or f"<sst {MAIN}></sst>")
        for name, content in more.items():
            archive.writestr(name, content)


def sheet_xml(rows: str) -> str:
    return f"<worksheet {MAIN}><sheetData>{rows}</sheetData></worksheet>"


def test_two_far_cells_are_no_table(book: Path) -> None:
    made_by_hand(
        book,
        sheet_xml(
            '<row r="1"><c r="A1"><v>1</v></c></row>'
            '<row r="1048576"><c r="XFD1048576"><v>2</v></c></row>'
        ),
    )
    start = time.process_time()
    assert refusal(book).code == "TOO_MANY_CELLS"
    assert time.process_time() - start < 2


def test_strings_that_inflate_are_a_bomb(book: Path) -> None:
    strings = f"<sst {MAIN}>" + "<si><t>aaaaaaaaaa</t></si>" * 3_000_000 + "</sst>"
    made_by_hand(book, sheet_xml('<row r="1"><c r="A1" t="s"><v>0</v></c></row>'), strings)
    assert book.stat().st_size < 1_000_000
    assert refusal(book).code == "ARCHIVE_BOMB"


def test_one_giant_cell_is_refused(book: Path) -> None:
    cell = "x" * 3_000_000
    made_by_hand(
        book, sheet_xml(f'<row r="1"><c r="A1" t="inlineStr"><is><t>{cell}</t></is></c></row>')
    )
    assert refusal(book).code == "CELL_TOO_LARGE"


LAUGHS = (
    '<!DOCTYPE sst [<!ENTITY a "ha"><!ENTITY b "&a;&a;&a;&a;"><!ENTITY c "&b;&b;&b;&b;">]>'
    f"<sst {MAIN}><si><t>&c;</t></si></sst>"
)
OUTSIDE = (
    '<!DOCTYPE sst [<!ENTITY x SYSTEM "file:///etc/hostname">]>'
    f"<sst {MAIN}><si><t>&x;</t></si></sst>"
)


@pytest.mark.parametrize("strings", [LAUGHS, OUTSIDE])
def test_entities_are_forbidden(book: Path, strings: str) -> None:
    made_by_hand(book, sheet_xml('<row r="1"><c r="A1" t="s"><v>0</v></c></row>'), strings)
    assert refusal(book).code == "XML_FORBIDDEN"


def test_damaged_workbooks_are_named(book: Path) -> None:
    write(book, {"List": [["a", "b"], [1, 2]]})
    whole = book.read_bytes()
    book.write_bytes(whole[: len(whole) // 2])
    assert refusal(book).code == "FILE_CORRUPT"
    made_by_hand(book, "<worksheet><sheetData><row r='1'><c r='A1'><v>1</v>")
    assert refusal(book).code == "FILE_CORRUPT"


ODS_NAMES = (
    'xmlns:office="urn:oasis:names:tc:opendocument:xmlns:office:1.0" '
    'xmlns:table="urn:oasis:names:tc:opendocument:xmlns:table:1.0" '
    'xmlns:text="urn:oasis:names:tc:opendocument:xmlns:text:1.0"'
)


def ods(path: Path, rows: str, manifest: str = "<m/>") -> None:
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as archive:
        archive.writestr("mimetype", "application/vnd.oasis.opendocument.spreadsheet")
        archive.writestr("META-INF/manifest.xml", manifest)
        archive.writestr(
            "content.xml",
            f"<office:document-content {ODS_NAMES}><office:body><office:spreadsheet>"
            f'<table:table table:name="Liste">{rows}</table:table>'
            "</office:spreadsheet></office:body></office:document-content>",
        )


def ods_cell(text: str, kind: str = "string", value: str = "", more: str = "") -> str:
    said = {"float": "value", "date": "date-value", "percentage": "value"}.get(kind)
    given = f' office:{said}="{value}"' if said else ""
    return (
        f'<table:table-cell office:value-type="{kind}"{given}{more}><text:p>{text}</text:p>'
        "</table:table-cell>"
    )


def test_ods(tmp_path: Path) -> None:
    path = tmp_path / "any.bin"
    filler = '<table:table-cell table:number-columns-repeated="16000"/>'
    names = "".join(map(ods_cell, ["sku", "gtin", "plz", "day", "vat"]))
    row = (
        ods_cell("A &amp; B")
        + ods_cell("4,00638E+12", "float", "4006381333931")
        + ods_cell("01067", "float", "1067")
        + ods_cell("29.02.24", "date", "2024-02-29")
        + ods_cell("19%", "percentage", "0.19")
        + filler
    )
    ods(
        path,
        f"<table:table-row>{names}{filler}</table:table-row>"
        f'<table:table-row table:number-rows-repeated="2">{row}</table:table-row>'
        f'<table:table-row table:number-rows-repeated="1048000">{filler}</table:table-row>',
    )
    reading = read(path)
    assert reading.found["format"] == "ods"
    assert reading.header == ["sku", "gtin", "plz", "day", "vat"]
    assert reading.rows == [["A & B", "4006381333931", "01067", "2024-02-29", "19%"]] * 2


def test_ods_that_repeats_too_much(tmp_path: Path) -> None:
    path = tmp_path / "bomb.ods"
    cell = ods_cell("x", more=' table:number-columns-repeated="1000"')
    ods(path, f'<table:table-row table:number-rows-repeated="1000000">{cell}</table:table-row>')
    assert refusal(path).code == "TOO_MANY_CELLS"


def test_ods_with_a_password(tmp_path: Path) -> None:
    path = tmp_path / "secret.ods"
    ods(path, "", "<m:manifest xmlns:m='x'><m:encryption-data/></m:manifest>")
    assert refusal(path).code == "FILE_PASSWORD_PROTECTED"


def test_a_workbook_in_a_zip(tmp_path: Path, book: Path) -> None:
    write(book, {"List": [["a", "b"], [1, 2]]})
    packed = io.BytesIO()
    with zipfile.ZipFile(packed, "w") as archive:
        archive.writestr("book.xlsx", book.read_bytes())
    path = tmp_path / "packed.zip"
    path.write_bytes(packed.getvalue())
    reading = read(path)
    assert reading.table == [["a", "b"], ["1", "2"]]
    assert reading.found["container"] == "zip: book.xlsx"


def test_names_that_come_again_and_formulas_without_a_result(tmp_path: Path) -> None:
    file = tmp_path / "list.xlsx"
    book = Workbook()
    sheet = book.create_sheet("List", 0)
    for part in ("Bosch", "Makita"):
        sheet.append([part])
        sheet.append(["SKU", "Name", "Price"])
        for n in range(4):
            sheet.append([f"{part[0]}{n}", f"Drill {n}", 10 + n if part == "Bosch" else "=1+1"])
        sheet.append([])
    book.save(file)
    found = read(file)
    assert [row[0] for row in found.rows] == [
        "B0",
        "B1",
        "B2",
        "B3",
        "Makita",
        *(f"M{n}" for n in range(4)),
    ]
    assert "4 formulas have no stored result" in " ".join(found.found["ambiguities"])


def test_names_over_three_rows(tmp_path: Path) -> None:
    file = tmp_path / "list.xlsx"
    book = Workbook()
    sheet = book.create_sheet("List", 0)
    sheet.append(["Artikel", None, "Preise (EUR)", None, None])
    sheet.append(["Nr.", "Text", "EK", None, "UVP"])
    sheet.append([None, None, "netto", "brutto", None])
    for n in range(6):
        sheet.append([f"A-{n}", f"Hahn DN{n}", 10.5 + n, 12.5 + n, 19.9])
    for area in ("A1:B1", "C1:E1", "C2:D2", "A2:A3", "B2:B3", "E2:E3"):
        sheet.merge_cells(area)
    book.save(file)
    found = read(file)
    assert found.header == [
        "Artikel Nr.", "Artikel Text", "Preise (EUR) EK netto", "Preise (EUR) EK brutto",
        "Preise (EUR) UVP",
    ]  # fmt: skip
    assert len(found.rows) == 6


def test_what_a_list_says_of_itself_is_no_table(tmp_path: Path) -> None:
    file = tmp_path / "list.xlsx"
    book = Workbook()
    sheet = book.create_sheet("List", 0)
    for row in (["Items:", 3], ["Currency:", "EUR"], [], ["SKU", "Name", "Price"]):
        sheet.append(row)
    for n in range(3):
        sheet.append([f"A{n}", f"Bolt {n}", n])
    book.save(file)
    found = read(file).found
    assert [line["text"] for line in found["preamble"]] == ["Items: | 3", "Currency: | EUR"]
    assert found["other_tables"] == []


def test_many_strings_are_read_back_without_holding_them(monkeypatch: pytest.MonkeyPatch) -> None:
    """Beyond a size they are in a file; the pages that were read do not stay in memory."""
    monkeypatch.setattr(xlsx_strings, "_HELD_BYTES", 1_000_000)
    strings, count = xlsx_strings.SharedStrings(), 400_000
    for n in range(count):
        strings.add(f"{n:0200}")
    strings.done()
    assert not strings.held
    before = psutil.Process().memory_info().rss
    most = 0
    for n in range(count):
        assert strings.at(str(n))[-6:] == f"{n:06}"
        if n % 50_000 == 0:
            most = max(most, psutil.Process().memory_info().rss - before)
    assert most < 40_000_000
    assert (strings.at(str(count)), strings.at("-1")) == ("", "")
