"""Records as blocks of `Name: value` lines."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from tests.formats.support import read, refusal

CARDS = """\
Produktkatalog

Artikelnummer: A-100
Bezeichnung: Kugelhahn 1/2"
Preis: 12,50 EUR
Beschreibung: Messing, vernickelt
  mit Hebel

Artikelnummer: A-101
Bezeichnung: Rohr: 15 mm
Preis: 3,00 EUR

Artikelnummer: A-102
Bezeichnung: Bogen
Preis: 1,20 EUR
Lager: 12
"""


@pytest.fixture
def file(tmp_path: Path) -> Path:
    return tmp_path / "list.txt"


def test_blocks_parted_by_blank_lines(file: Path) -> None:
    file.write_bytes(CARDS.encode("cp1252"))
    found = read(file)
    assert found.found["format"] == "blocks"
    assert found.header == ["Artikelnummer", "Bezeichnung", "Preis", "Beschreibung", "Lager"]
    assert found.rows == [
        ["A-100", 'Kugelhahn 1/2"', "12,50 EUR", "Messing, vernickelt\nmit Hebel", ""],
        ["A-101", "Rohr: 15 mm", "3,00 EUR", "", ""],
        ["A-102", "Bogen", "1,20 EUR", "", "12"],
    ]
    kept = json.loads(json.dumps({"rows": 2, "plan": found.head.plan}))
    assert read(file, cursor=kept).rows == found.rows[2:]


@pytest.mark.parametrize(
    "text",
    [
        "SKU=1\nNAME=Foo bar\nPRICE=1.20\nSKU=2\nNAME=Bar\nPRICE=2.20\n",
        '- SKU: 1\n  NAME: "Foo bar"\n  PRICE: 1.20\n- SKU: 2\n  NAME: Bar\n  PRICE: 2.20\n',
        "-----\nSKU   : 1\nNAME  : Foo bar\nPRICE : 1.20\n-----\nSKU   : 2\nNAME  : Bar\n"
        "PRICE : 2.20\n-----\n",
        "SKU: 1\r\nNAME: Foo bar\r\nPRICE: 1.20\r\n\r\nSKU: 2\r\nNAME: Bar\r\nPRICE: 2.20\r\n",
    ],
)
def test_records_by_rules_dashes_and_first_names(file: Path, text: str) -> None:
    file.write_text(text, newline="")
    found = read(file)
    assert found.header == ["SKU", "NAME", "PRICE"]
    assert found.rows == [["1", "Foo bar", "1.20"], ["2", "Bar", "2.20"]]


def test_one_card_alone(file: Path) -> None:
    file.write_text("Name: Drill\nSKU: 4711\nPrice: 99.00\n")
    assert read(file).table == [["Name", "SKU", "Price"], ["Drill", "4711", "99.00"]]


def test_what_only_looks_like_blocks(file: Path) -> None:
    file.write_text("SKU:Title:Price\nA-1:Pipe:1.20\nA-2:Valve:2.20\n")
    assert read(file).found["format"] == "csv"
    file.write_text("Supplier: ACME\nDate: 2026-01-01\n\nSKU;Name\nA;Bolt\nB;Nut\nC;Pin\nD;Cap\n")
    assert read(file).header == ["SKU", "Name"]
    file.write_text(CARDS)
    assert read(file, {"delimiter": ":"}).found["format"] == "csv"
    file.write_text("a;b\n1;2\n")
    assert refusal(file, {"format": "blocks"}).code == "INVALID_PARAMETERS"
