"""Rows, help texts and encodings that differ from the rest of the file."""

from __future__ import annotations

import zipfile
from pathlib import Path

import pytest
from tests.formats.support import read

from penstock.model.errors import BadInput

HEADER = "sku,qty,price,name,note\n"
ROWS = [f'A-{n},{n},{n}.50,"Bolt, size {n}",ok\n' for n in range(1, 21)]


def write(path: Path, *, changed: str, at: int = 9) -> Path:
    lines = [*ROWS[:at], changed, *ROWS[at + 1 :]]
    path.write_text(HEADER + "".join(lines), encoding="utf-8")
    return path


@pytest.mark.parametrize(
    ("changed", "cells"),
    [
        ("A-10;10;10.50;Bolt, size 10;ok\n", ["A-10", "10", "10.50", "Bolt, size 10", "ok"]),
        ("A-10\t10\t10.50\tBolt\tok\n", ["A-10", "10", "10.50", "Bolt", "ok"]),
        ('A-10|10|10.50|"Bolt | 10"|ok\n', ["A-10", "10", "10.50", "Bolt | 10", "ok"]),
        ("A-10,10,10.50,'Bolt, size 10',ok\n", ["A-10", "10", "10.50", "Bolt, size 10", "ok"]),
    ],
)
def test_row_with_another_delimiter_or_quote_is_split_and_told(
    tmp_path: Path, changed: str, cells: list[str]
) -> None:
    found = read(write(tmp_path / "a.csv", changed=changed))
    assert found.rows[9] == cells
    assert len(found.rows) == 20
    (told,) = found.end.problems
    assert told["code"] == "RAGGED_ROW"
    assert "unlike the others" in told["message"]


def test_short_row_of_the_usual_delimiter_stays_short(tmp_path: Path) -> None:
    found = read(write(tmp_path / "a.csv", changed="A-10,10;20;30\n"))
    assert found.rows[9] == ["A-10", "10;20;30", "", "", ""]


@pytest.mark.parametrize(
    "changed",
    [
        '"A-10,10,10.50,"Say ""hello"" 10",ok\n',
        'A-10,10,"10.50,"Say ""hello"" 10",ok\n',
        'A-10,"10,10.50,"Say ""hello"" 10",ok\n',
    ],
)
def test_stray_quote_beside_escaped_ones_is_left_out(tmp_path: Path, changed: str) -> None:
    found = read(write(tmp_path / "a.csv", changed=changed))
    assert found.rows[9] == ["A-10", "10", "10.50", 'Say "hello" 10', "ok"]
    assert len(found.rows) == 20


@pytest.mark.parametrize(
    "below",
    [
        "required;required;required;optional",
        "Pflicht;Pflicht;Pflicht;optional",
        "obligatoire;obligatoire;décimal;facultatif",
        "max. 20 characters;max. 80 characters;decimal;YYYY-MM-DD",
        "varchar(20);varchar(80);decimal(10,2);date (yyyy-mm-dd)",
    ],
)
def test_help_below_the_names_is_skipped_and_told(tmp_path: Path, below: str) -> None:
    path = tmp_path / "a.csv"
    rows = [f"A-{n};Bolt {n};{n}.50;2026-01-0{n}" for n in range(1, 6)]
    path.write_text("\n".join(["SKU;Name;Price;Date", below, *rows]) + "\n", encoding="utf-8")
    found = read(path)
    assert found.header == ["SKU", "Name", "Price", "Date"]
    assert len(found.rows) == 5
    assert "explains the columns" in str(found.found)


def test_units_below_the_names_belong_to_them(tmp_path: Path) -> None:
    path = tmp_path / "a.csv"
    rows = [f"A-{n};{n}0;{n}5;{n}.50" for n in range(1, 8)]
    path.write_text("\n".join(["SKU;Length;Width;Price", ";mm;mm;EUR", *rows]), encoding="utf-8")
    assert read(path).header == ["SKU", "Length mm", "Width mm", "Price EUR"]


@pytest.mark.parametrize(
    ("encoding", "text"),
    [
        ("cp874", "ตู้เย็น 2 ประตู ขนาดใหญ่"),
        ("cp874", "ค้อนและไขควง"),
        ("cp1252", "Sirup Ä"),
        ("iso8859_5", "Молоток слесарный"),
        ("euc_kr", "망치와 드라이버"),
        ("euc_jp", "冷蔵庫"),
        ("cp1257", "Šaukštas, dėžė ir žirklės"),
    ],
)
def test_encoding_is_found_by_its_words(tmp_path: Path, encoding: str, text: str) -> None:
    path = tmp_path / "a.csv"
    lines = [f"A-{n};{text};{n}" for n in range(1, 9)]
    path.write_bytes("\n".join(["SKU;Name;Qty", *lines]).encode(encoding))
    assert read(path).rows[0] == ["A-1", text, "1"]


def test_archive_with_a_nameless_entry_is_refused(tmp_path: Path) -> None:
    path = tmp_path / "a.zip"
    with zipfile.ZipFile(path, "w") as archive:
        archive.writestr("x", "sku;name\n")
        archive.infolist()[0].filename = ""
    with pytest.raises(BadInput):
        read(path)
