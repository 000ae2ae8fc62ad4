"""Kinds of files that were once read wrong: the shared examples, and others of the same kinds."""

from __future__ import annotations

import zipfile
from pathlib import Path

import pytest
from tests.catalog.shared import shared_file
from tests.formats.support import read, refusal

# The columns, the number of rows and the last row of the shared examples.
CASES = [
    ("01_multiline.csv", ["sku", "description", "price", "stock"], 15, "15"),
    ("02_one_tab_more.tsv", ["sku", "name", "price", "stock", "note"], 4, ""),
    ("03_stray_quote.csv", ["sku", "qty", "price", "name", "note"], 20, "ok"),
    ("04_stray_quote_header.csv", ["sku", "qty", "price", "name", "note"], 19, "ok"),
    ("05_title_with_commas.csv", ["sku", "price"], 30, "0.129"),
    ("06_title_in_a_middle_cell.csv", ["Line", "Date", "Code", "Name", "Amount"], 5, "£52.20"),
    ("07_several_tables.csv", ["Shelf", "Box", "Article", "Use"], 36, ""),
    ("08_hash.csv", [""] * 6, 12, "4900011"),
    ("09_padded_comma.csv", ["hammer", "steel", "for wood, not stone"], 3, "heavy duty"),
    ("10_two_quotes.tsv", ["size", "Price A (box of 4)", "Price B (box of 8)"], 9, "''"),
    ("11_right_aligned.txt", ["no", "gauge", "kind", "grade", "cost"], 5, "325"),
    ("12_help_below_header.csv", ["", "Barcode", "Name", "Brand"], 2, "Acme"),
    ("13_one_item.xml", ["gtin", "name", "files.file", "parts.part"], 1, None),
    # The title of the second section is a row of its own.
    ("15_same_header_twice.csv", ["Name", "Sum"], 7, "2.5"),
    ("16_c1.csv", ["sku", "name"], 2, "Bolt"),
    ("backslash.xlsx", ["sku", "price"], 1, "1.5"),
]


@pytest.mark.parametrize(("name", "header", "rows", "last"), CASES, ids=[one[0] for one in CASES])
def test_shared_examples(name: str, header: list[str], rows: int, last: str | None) -> None:
    reading = read(shared_file(f"reading-cases/{name}"))
    assert reading.header == header
    assert len(reading.rows) == rows
    assert last is None or reading.rows[-1][-1] == last


def test_deep_json_is_refused_by_name() -> None:
    assert "nested" in str(refusal(shared_file("reading-cases/14_nested.json")))


@pytest.mark.parametrize(
    ("mark", "words"),
    [(",", "Schlüssel aus Stahl\n"), (";", "klucz do rur\n"), ("\t", "clé à molette\n")],
)
def test_cells_of_many_lines(tmp_path: Path, mark: str, words: str) -> None:
    lines = [mark.join(("code", "text", "amount"))]
    lines += [mark.join((f"K-{n}", f'"{words * 12}"', f"{n},50" if mark != "," else f"{n}.50"))
              for n in range(9)]  # fmt: skip
    path = tmp_path / "many.csv"
    path.write_text("\n".join(lines), "utf-8")
    reading = read(path)
    assert reading.header == ["code", "text", "amount"]
    assert [row[0] for row in reading.rows] == [f"K-{n}" for n in range(9)]
    assert reading.rows[3][1] == words * 12


@pytest.mark.parametrize("name", ["Schraube, verzinkt", "Śruba, ocynk", "Vis, zinguée"])
def test_a_stray_quote_costs_no_cell(tmp_path: Path, name: str) -> None:
    good = [f'A-{n},{n},{n}.50,"{name}",ok' for n in range(1, 12)]
    path = tmp_path / "stray.csv"
    path.write_text(
        "\n".join(["sku,qty,price,name,note", *good, f'B-1,7,"4.20,"{name}",ok', *good]), "utf-8"
    )
    reading = read(path)
    assert reading.rows[11] == ["B-1", "7", "4.20", name, "ok"]
    assert [one["code"] for one in reading.end.problems] == ["UNBALANCED_QUOTE"]
    assert len(reading.rows) == 23


@pytest.mark.parametrize(
    "title",
    [",,Preisliste Frühjahr 2025,", ",Cennik ważny od 1 maja,,", ",,Tarif valable dès janvier,"],
)
def test_a_title_in_a_middle_cell_is_not_a_group(tmp_path: Path, title: str) -> None:
    path = tmp_path / "title.csv"
    path.write_text(f"{title}\nsku,name,qty,price\nA,Bolt,1,2.50\nB,Nut,2,3.50\nC,Cap,4,1.20\n")
    reading = read(path)
    assert reading.header == ["sku", "name", "qty", "price"]
    assert [one["text"] for one in reading.found["preamble"]] == [title]


@pytest.mark.parametrize(
    "help_row",
    ["Die Nummer des Artikels.,Der volle Name des Artikels.,Der Preis ohne Steuer.",
     "Numer artykułu z katalogu.,Pełna nazwa bez skrótów.,Cena bez podatku VAT.",
     "The number of the product.,The full name of it.,The price without any tax."],
)  # fmt: skip
def test_a_row_of_help_is_skipped(tmp_path: Path, help_row: str) -> None:
    path = tmp_path / "help.csv"
    path.write_text(f"number,name,price\n{help_row}\n100,Bolt,2.50\n101,Nut,3.50\n102,Cap,1.20\n")
    reading = read(path)
    assert reading.header == ["number", "name", "price"]
    assert [row[0] for row in reading.rows] == ["100", "101", "102"]
    assert any("explains the columns" in one for one in reading.found["ambiguities"])


@pytest.mark.parametrize(
    ("raw", "text"),
    [("L\u0092huile", "L’huile"), ("\u0084gut\u0093", "„gut“"), ("5 \u0080", "5 €")],
)
def test_c1_controls_are_windows_1252(tmp_path: Path, raw: str, text: str) -> None:
    path = tmp_path / "c1.csv"
    path.write_text(f"sku,name\nA-1,{raw}\nA-2,Bolt\n", "utf-8")
    assert read(path).rows[0][1] == text


def test_a_workbook_with_backslashes_in_an_archive(tmp_path: Path) -> None:
    example = shared_file("reading-cases/backslash.xlsx")
    path = tmp_path / "mixed.xlsx"
    with zipfile.ZipFile(example) as old, zipfile.ZipFile(path, "w") as new:
        for number, name in enumerate(old.namelist()):
            new.writestr(name.replace("\\", "/") if number % 2 else name, old.read(name))
    assert read(path).rows == [["A-1", "1.5"]]


@pytest.mark.parametrize(
    ("names", "kinds"),
    [(("Nr", "Maß", "Art Güte", "Preis"), ("Glatt", "Lackiert", "Roh")),
     (("lp", "wymiar", "typ klasa", "cena"), ("gładki", "malowany", "surowy")),
     (("no", "gauge", "kind grade", "cost"), ("Plain", "Painted", "Bare"))],
)  # fmt: skip
def test_right_aligned_columns(
    tmp_path: Path, names: tuple[str, ...], kinds: tuple[str, ...]
) -> None:
    first, second = names[2].split(" ")
    lines = [f"{names[0]:<4}{names[1]:>9}{first:>12} {second:<6}{names[3]:>7}"]
    lines += [
        f"{n:<4}{f'0.2{n}':>9}{kinds[n % 3]:>11}  {'EFI'[n % 3]:<6}{320 + n:>6}"
        for n in range(1, 8)
    ]
    path = tmp_path / "aligned.txt"
    path.write_text("\n".join(lines) + "\n", "utf-8")
    reading = read(path)
    assert reading.header == [names[0], names[1], first, second, names[3]]
    assert reading.rows[2] == ["3", "0.23", kinds[0], "E", "323"]


@pytest.mark.parametrize("root", ["message", "Nachricht", "komunikat"])
def test_one_product_with_repeated_parts(tmp_path: Path, root: str) -> None:
    parts = "".join(f"<part><no>{n}</no><count>2</count></part>" for n in range(4))
    path = tmp_path / "one.xml"
    path.write_text(
        f"<{root}><head><from>7</from></head><good><ean>4006381333931</ean><label>Kasten</label>"
        f"<parts>{parts}</parts></good></{root}>", "utf-8",
    )  # fmt: skip
    reading = read(path)
    assert reading.header == ["ean", "label", "parts.part"]
    assert len(reading.rows) == 1


@pytest.mark.parametrize(
    ("names", "titles"),
    [("Name,Preis", ("Garten", "Haus")), ("Nazwa,Cena", ("Ogród", "Dom")),
     ("Nom,Prix", ("Jardin", "Maison"))],
)  # fmt: skip
def test_sections_with_the_same_header(tmp_path: Path, names: str, titles: tuple[str, str]) -> None:
    rows = [[f"{place}-{n},{n}.5" for n in range(4)] for place in "AB"]
    lines = [titles[0] + ",", ",", names, *rows[0], ",", titles[1] + ",", ",", names, *rows[1]]
    path = tmp_path / "sections.csv"
    path.write_text("\n".join(lines) + "\n", "utf-8")
    reading = read(path)
    assert reading.header == names.split(",")
    assert [row[0] for row in reading.rows] == [
        *(f"A-{n}" for n in range(4)), titles[1], *(f"B-{n}" for n in range(4))
    ]  # fmt: skip
