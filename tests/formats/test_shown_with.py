"""What number formats write beside numbers: not in the cells, but told."""

from __future__ import annotations

import zipfile
from pathlib import Path

import pytest
from openpyxl import Workbook
from tests.formats.support import read

from penstock.formats.sheets.numbers import words_of_format


@pytest.mark.parametrize(
    ("code", "words"),
    [
        ("#,##0.00 [$€-407]", "€"),
        ('"$"#,##0.00', "$"),
        ('_-* #,##0.00\\ "CHF"_-;-* #,##0.00\\ "CHF"_-', "CHF"),
        ("[$USD] #,##0.00", "USD"),
        ('0.0" kg"', "kg"),
        ("#,##0.00\\ _€", ""),
        ("0.00%", ""),
        ("yyyy-mm-dd", ""),
        ("[Red]0.00E+00", ""),
    ],
)
def test_words_of_a_format(code: str, words: str) -> None:
    assert words_of_format(code) == words


def test_a_workbook_tells_what_its_numbers_are_shown_with(tmp_path: Path) -> None:
    file = tmp_path / "list.xlsx"
    book = Workbook()
    sheet = book.create_sheet("List", 0)
    sheet.append(["Liste", None, None])
    sheet.append(["SKU", "Preis", "Gewicht", "Menge"])
    for n in range(5):
        sheet.append([f"A{n}", 1200.5 + n, 2.5, n])
        sheet.cell(n + 3, 2).number_format = "#,##0.00 [$€-407]"
        sheet.cell(n + 3, 3).number_format = '0.0" kg"'
    sheet.cell(6, 2).number_format = "0.00"
    book.save(file)
    found = read(file)
    assert found.found["shown_with"] == {"Preis": "€", "Gewicht": "kg"}
    assert found.rows[0] == ["A0", "1200.5", "2.5", "0"]


def test_a_currency_in_an_opendocument_sheet(tmp_path: Path) -> None:
    file = tmp_path / "list.ods"
    cell = (
        '<table:table-cell office:value-type="currency" office:currency="CHF" office:value="{n}.5">'
        "<text:p>x</text:p></table:table-cell>"
    )
    name = '<table:table-cell office:value-type="string"><text:p>{t}</text:p></table:table-cell>'
    rows = [name.format(t="SKU") + name.format(t="Preis")]
    rows += [name.format(t=f"A{n}") + cell.format(n=n) for n in range(4)]
    body = "".join(f"<table:table-row>{row}</table:table-row>" for row in rows)
    spaces = " ".join(
        f'xmlns:{short}="urn:oasis:names:tc:opendocument:xmlns:{short}:1.0"'
        for short in ("office", "table", "text")
    )
    with zipfile.ZipFile(file, "w") as archive:
        archive.writestr("mimetype", "application/vnd.oasis.opendocument.spreadsheet")
        archive.writestr(
            "content.xml",
            f"<office:document-content {spaces}><office:body><office:spreadsheet>"
            f'<table:table table:name="A">{body}</table:table>'
            "</office:spreadsheet></office:body></office:document-content>",
        )
    found = read(file)
    assert found.found["shown_with"] == {"Preis": "CHF"}
    assert found.rows[3] == ["A3", "3.5"]
