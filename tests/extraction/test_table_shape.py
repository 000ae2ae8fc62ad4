"""Tables that are transposed, have headings between rows, or begin with lines of another kind."""

from __future__ import annotations

import io
from pathlib import Path
from typing import Any

import pytest
from benchmarks.gold.run import LIMITS, products_of
from openpyxl import Workbook

from penstock.catalog.mapping.size_columns import find_size_columns
from penstock.formats.read_table import read_table
from penstock.formats.tables import TableChunk, TableHead
from penstock.pipelines.extraction.table_shape import is_transposed, read_shaped


def shaped(
    path: Path, cursor: dict[str, Any] | None = None, **options: Any
) -> tuple[TableHead, list[list[str]]]:
    head, *pieces = read_shaped(str(path), options, LIMITS, cursor)
    assert isinstance(head, TableHead)
    rows = [row for piece in pieces if isinstance(piece, TableChunk) for row in piece.rows]
    return head, rows


def saved(tmp_path: Path, text: str) -> Path:
    path = tmp_path / "list.csv"
    path.write_text(text, "utf-8")
    return path


TRANSPOSED = [
    "Artikelnummer;T-1;T-2;T-3\nBezeichnung;Tisch;Stuhl;Bank\nPreis;129,00;59,00;99,00\nBestand;4;0;1\n",
    "Référence;T-1;T-2;T-3\nDésignation;Table;Chaise;Banc\nPrix;129,00;59,00;99,00\nStock;4;0;1\n",
    "SKU;T-1;T-2;T-3\nProduct name;Table;Chair;Bench\nPrice;129.00;59.00;99.00\nStock;4;0;1\n",
]


@pytest.mark.parametrize("text", TRANSPOSED, ids=["de", "fr", "en"])
def test_a_transposed_table(tmp_path: Path, text: str) -> None:
    path = saved(tmp_path, text)
    head, rows = shaped(path)
    assert head.names == [line.split(";")[0] for line in text.splitlines()]
    assert [row[0] for row in rows] == ["T-1", "T-2", "T-3"]
    assert any("transposed" in one for one in head.detected["ambiguities"])
    assert shaped(path, {"rows": 0, "plan": head.plan})[1] == rows
    found = products_of(path)
    assert [one["availability"]["quantity"] for one in found] == [4, 0, 1]
    assert found[0]["price"]["amount"] == "129.00"
    # A header that the caller gives is one.
    assert shaped(path, header_row=1)[0].names[1:] == ["T-1", "T-2", "T-3"]


@pytest.mark.parametrize(
    "rows",
    [[["sku", "name", "price"], ["A", "Lamp", "1"], ["B", "Rug", "2"]],
     [["Title", "x"], ["Stock", "1"]],
     [["Feature", "A", "B"], ["Wheels", "2", "4"], ["Lights", "1", "2"], ["Doors", "0", "4"]]],
)  # fmt: skip
def test_other_tables_are_not_transposed(rows: list[list[str]]) -> None:
    assert not is_transposed(rows)


@pytest.mark.parametrize(
    ("head", "headings"),
    [("Nr;Bezeichnung;Preis;Bestand", ("Werkzeuge", "Farben & Lacke")),
     ("Kod;Nazwa;Cena;Stan", ("Narzędzia", "Śruby")),
     ("Réf;Désignation;Prix;Stock", ("Vis à bois DIN 7505", "Écrous DIN 934")),
     ("SKU;Name;Price;Stock", ("1. Hand tools", "2.1 Screws"))],
)  # fmt: skip
def test_headings_become_a_column(tmp_path: Path, head: str, headings: tuple[str, str]) -> None:
    first, second = headings
    lines = [head, f"{first};;;", "A-1;Lamp;1,50;1", "A-2;Rug;2,50;2", f";{second};;",
             "B-1;Cup;3,50;3", "B-2;Jug;4,50;4"]  # fmt: skip
    path = saved(tmp_path, "\n".join(lines))
    told, rows = shaped(path)
    assert told.names == [*head.split(";"), "Section"]
    assert [row[-1] for row in rows] == ["", first, first, "", second, second]
    assert [one["category"] for one in products_of(path)] == [first, first, second, second]
    again, same = shaped(path, {"rows": 0, "plan": told.plan})
    assert (again.names, same) == (told.names, rows)


def test_headings_with_a_label(tmp_path: Path) -> None:
    lines = [
        "SKU,Name,Price,Stock",
        "Marke: Oyo,,,",
        "A-1,Lamp,1.50,1",
        "Marke: Aba,,,",
        "B-1,Cup,3.50,3",
    ]
    path = saved(tmp_path, "\n".join(lines))
    assert shaped(path)[0].names[-1] == "Marke"
    assert [one["brand"] for one in products_of(path)] == ["Oyo", "Aba"]


@pytest.mark.parametrize(
    "lines",
    [["SKU,Name,Price,Stock", "A-1,Lamp,1.50,1", "A-2,,,", "A-3,Cup,3.50,3"],
     ["SKU,Name,Price,Stock", "A-1,Lamp,1.50,1", "A-3,Cup,3.50,3", "end of the list,,,"],
     ["SKU,Name", "A-1,Lamp", "Tools,", "A-2,Cup", "Paint,", "A-3,Rug"]],
)  # fmt: skip
def test_incomplete_rows_are_no_headings(tmp_path: Path, lines: list[str]) -> None:
    path = saved(tmp_path, "\n".join(lines))
    assert shaped(path)[0].names == lines[0].split(",")


def test_rows_longer_than_the_header_keep_their_cells(tmp_path: Path) -> None:
    lines = ["SKU;Name;Price;Stock", "Tools;;;", "A-1;Lamp;1,50;1;extra", "A-2;Rug;2,50;2",
             "A-4;Mat;2,50;2", "Paint;;;", "A-3;Cup;3,50;3"]  # fmt: skip
    _, rows = shaped(saved(tmp_path, "\n".join(lines)))
    assert rows[1] == ["A-1", "Lamp", "1,50", "1", "Tools", "extra"]


def test_a_header_below_a_line_of_settings(tmp_path: Path) -> None:
    lines = ['"EXTF";700;21;"Stamm";2;20261116;;"RE";"";7', "Artikelnummer;Bezeichnung;Preis",
             "4711;Papier;4,49", "4712;Umschlag;18,90"]  # fmt: skip
    head, rows = shaped(saved(tmp_path, "\n".join(lines)))
    assert head.names[:3] == ["Artikelnummer", "Bezeichnung", "Preis"]
    assert [row[0] for row in rows] == ["4711", "4712"]


def test_the_sheet_that_names_fields_is_read(tmp_path: Path) -> None:
    book = Workbook()
    notes = book.active
    assert notes is not None
    for number in range(30):
        notes.append([f"Remark number {number}"])
    data = book.create_sheet("Data")
    for row in (["SKU", "Name", "Price"], ["A-1", "Lamp", 1.5], ["A-2", "Rug", 2.5]):
        data.append(row)
    made = io.BytesIO()
    book.save(made)
    path = tmp_path / "book.xlsx"
    path.write_bytes(made.getvalue())
    head, rows = shaped(path)
    assert (head.detected["sheet"], head.names) == ("Data", ["SKU", "Name", "Price"])
    assert shaped(path, {"rows": 0, "plan": head.plan})[1] == rows
    assert shaped(path, sheet="Sheet")[0].detected["sheet"] == "Sheet"


@pytest.mark.parametrize(
    ("header", "sizes"),
    [(["Style", "Name", "S", "M", "L"], ["S", "M", "L"]),
     (["Modell", "Gr. 36", "Gr. 37", "Gr. 38,5"], ["36", "37", "38.5"]),
     (["Modèle", "Taille XS", "Taille S", "Taille M"], ["XS", "S", "M"]),
     (["sku", "1", "10", "100"], []), (["sku", "20", "30", "50"], []),
     (["sku", "M", "S", "L"], [])],
)  # fmt: skip
def test_sizes_in_columns(header: list[str], sizes: list[str]) -> None:
    samples = [["2", "0", "13"] for _ in header]
    assert list(find_size_columns(header, samples).values()) == sizes
    prices = [["2.50", "0.99", "13.00"] for _ in header]
    assert find_size_columns(header, prices) == {}


@pytest.mark.parametrize(
    "text",
    ['{"sku": ["A", "B"], "name": ["x", "y"], "price": [1.5, 2]}',
     '{"made": "today", "items": {"sku": ["A", "B"], "name": ["x", "y"], "price": [1.5, 2]}}',
     '{"sku": {"0": "A", "1": "B"}, "name": {"0": "x", "1": "y"}, "price": {"0": 1.5, "1": 2}}'],
)  # fmt: skip
def test_json_by_columns(tmp_path: Path, text: str) -> None:
    path = tmp_path / "list.json"
    path.write_text(text, "utf-8")
    head, *pieces = read_table(str(path), {}, LIMITS)
    assert isinstance(head, TableHead)
    assert head.names == ["sku", "name", "price"]
    rows = [row for piece in pieces if isinstance(piece, TableChunk) for row in piece.rows]
    assert rows == [["A", "x", "1.5"], ["B", "y", "2"]]


def test_one_product_with_lists_is_not_a_table(tmp_path: Path) -> None:
    path = tmp_path / "one.json"
    path.write_text(
        '{"sku": "A", "name": "x", "price": 2, "tags": ["a", "b"], "images": ["c", "d"]}'
    )
    head, *pieces = read_table(str(path), {}, LIMITS)
    assert isinstance(head, TableHead)
    assert "sku" in head.names
    assert sum(len(piece.rows) for piece in pieces if isinstance(piece, TableChunk)) == 1
