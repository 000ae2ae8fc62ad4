"""Columns by position: found by the blanks that lines share, or told."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from tests.formats.support import read

from penstock.model.errors import BadInput

LIST = """\
SKU       DESCRIPTION              QTY     PRICE EAN
A100      Widget small              10     12.50 4006381333931
A101      Widget medium large        5    112.50 4006381333948
A102                                 0      1.50
A103      Gadget with a long name  100   1250.00 4006381333962
A104      Thing                     12      3.75 4006381333979
"""
UNDERLINED = """\
Preisliste Herbst

Artikelnr  Bezeichnung                     ME     Preis  Bestand
---------- ------------------------------- ---  --------  -------
000123     Bohrmaschine Profi 750 W        ST   1.234,50       12
000124     Akkuschrauber 18 V              ST     189,00        3
000125                                     ST      12,50

3 Zeilen
"""
GLUED = """\
0000100012Pumpe NPK 40-160         ST 0000123450EUR20261115
0000100013Dichtung 40 mm           ST 0000000320EUR20261115
"""


@pytest.fixture
def file(tmp_path: Path) -> Path:
    return tmp_path / "list.txt"


def test_blanks_that_all_lines_share_part_the_columns(file: Path) -> None:
    file.write_text(LIST)
    found = read(file)
    assert found.head.detected["format"] == "fixed"
    assert found.head.detected["widths"] == "10,25,6,8,1"
    assert found.head.names == ["SKU", "DESCRIPTION", "QTY", "PRICE", "EAN"]
    assert found.rows[1] == ["A101", "Widget medium large", "5", "112.50", "4006381333948"]
    assert found.rows[2] == ["A102", "", "0", "1.50", ""]
    assert found.end.problems == []


def test_lines_under_the_names_say_where_columns_end(file: Path) -> None:
    file.write_text(UNDERLINED)
    found = read(file)
    assert found.head.names == ["Artikelnr", "Bezeichnung", "ME", "Preis", "Bestand"]
    assert found.rows == [
        ["000123", "Bohrmaschine Profi 750 W", "ST", "1.234,50", "12"],
        ["000124", "Akkuschrauber 18 V", "ST", "189,00", "3"],
        ["000125", "", "ST", "12,50", ""],
    ]


def test_a_cell_longer_than_its_column_runs_on_to_the_next_blank(file: Path) -> None:
    rows = "".join(f"B{n:<9}Short text {n:<15}{n:>6}{n / 4:>10.2f}\n" for n in range(2000))
    file.write_text(LIST.replace(" EAN", "").split("\n")[0] + "\n" + rows.replace(" " * 40, " "))
    found = read(file)
    assert found.rows[7] == ["B7", "Short text 7", "7", "1.75"]
    cut = rows + "C1        A text that is longer than most  12      3.50\n"
    file.write_text("SKU       DESCRIPTION                  QTY     PRICE\n" + cut)
    assert read(file).rows[-1] == ["C1", "A text that is longer than most", "12", "3.50"]


def test_what_is_glued_together_is_cut_by_widths(file: Path) -> None:
    file.write_text(GLUED)
    found = read(file, {"widths": "10,25,3,10,3,8", "header_row": 0})
    assert found.rows[0] == [
        "0000100012", "Pumpe NPK 40-160", "ST", "0000123450", "EUR", "20261115",
    ]  # fmt: skip
    assert found.head.detected["format"] == "fixed"


def test_other_formats_may_be_asked_for(file: Path) -> None:
    file.write_text(LIST)
    assert read(file, {"format": "csv"}).head.detected["format"] == "csv"
    assert read(file, {"format": "fixed"}).head.detected["format"] == "fixed"
    file.write_text("a,b\n1,2\n")
    with pytest.raises(BadInput, match="share no blanks"):
        read(file, {"format": "fixed"})
    with pytest.raises(BadInput, match="widths of the columns"):
        read(file, {"widths": "10,x"})


def test_a_reading_goes_on_with_the_same_positions(file: Path) -> None:
    file.write_text(LIST)
    first = read(file)
    kept = json.loads(json.dumps({"rows": 3, "plan": first.head.plan}))
    assert read(file, cursor=kept).rows == first.rows[3:]


def test_sentences_are_no_columns(file: Path) -> None:
    file.write_text("Dear all,\n\nplease find  below\nthe list of  what we\nhave in  stock now.\n")
    with pytest.raises(BadInput, match="a text in sentences"):
        read(file)
    assert read(file, {"format": "csv"}).head.detected["format"] == "csv"


def test_lists_of_merchandise_systems_are_drawn_with_strokes_alone(file: Path) -> None:
    stroke = "-" * 60
    file.write_text(
        f"15.11.2026   Liste   1\n{stroke}\n|Material |Kurztext       |  Preis |\n{stroke}\n"
        f"|000100012|Pumpe NPK      |1.234,50|\n|000100013|Dichtung       |    3,20|\n{stroke}\n"
    )
    found = read(file)
    assert found.head.names == ["Material", "Kurztext", "Preis"]
    assert found.rows == [["000100012", "Pumpe NPK", "1.234,50"], ["000100013", "Dichtung", "3,20"]]


def test_a_word_alone_in_the_last_row_of_a_sheet_is_a_row(file: Path) -> None:
    file.write_text("sku;name;price\nA-1;Bolt;1\nA-2;Nut;2\nA-3;Pin;3\nWasher;;\n")
    assert read(file).rows[-1] == ["Washer", "", ""]


GLUED_TOO = {
    "a code, a text, a unit, a number, a currency and a day": (
        """\
0000100012Pumpe NPK 40-160         ST 0000123450EUR20261115
0000100013Dichtung 40 mm           ST 0000000320EUR20261115
0000100014Laufrad                  ST 0000004500EUR20261116
""",
        ["0000100013", "Dichtung 40 mm", "ST", "0000000320", "EUR", "20261115"],
    ),
    "nothing but a currency between numbers": (
        "4006381333931EUR0000012\n4006381333948EUR0000350\n4006381333955EUR0001999\n",
        ["4006381333948", "EUR", "0000350"],
    ),
    "names above, a code that touches its text": (
        """\
SKU    NAME                QTY   PRICE
AB-1234Widget small          10   12.50
AB-1235Widget medium large 1000  112.50
AB-1236Widget extra large 22000 1112.50
AB-1237Gadget                 7    2.50
""",
        ["AB-1235", "Widget medium large", "1000", "112.50"],
    ),
    "decimals that end a number": (
        """\
ArtNr     Bezeichnung         Preis    Datum
A100      Schraube M4         000012,5020260115
A101      Mutter M4           000112,5020260116
A102      Scheibe gross       001112,5020260117
""",
        ["A101", "Mutter M4", "000112,50", "20260116"],
    ),
    "a text up to the last place of its column": (
        """\
0000012345ABSCHEIBE               00001200ST
0000012346MUTTER M4 VERZINKT DIN 900000099ST
0000012347SCHRAUBE M4X12          00000450ST
0000012348BOLZEN                  00011299PA
""",
        ["0000012346", "MUTTER M4 VERZINKT DIN 9", "00000099", "ST"],
    ),
    "digits alone, by check digits and days": (
        "20260115400638133393100001250\n20260115400638133394800000350\n"
        "20260115400638133395500001999\n",
        ["20260115", "4006381333948", "00000350"],
    ),
}  # fmt: skip


@pytest.mark.parametrize("name", GLUED_TOO)
def test_columns_that_nothing_blank_parts(file: Path, name: str) -> None:
    text, second = GLUED_TOO[name]
    file.write_text(text)
    found = read(file)
    assert found.found["format"] == "fixed"
    assert found.rows[1] == second
    assert any("`widths`" in said for said in found.found["ambiguities"])


def test_what_cannot_be_told_apart_is_said(file: Path) -> None:
    file.write_text("471100000000123400000000560000\n471200000000123400000001560000\n" * 3)
    said = " ".join(read(file).found["ambiguities"])
    assert "more digits than a number has" in said
    assert "`widths`" in said


def test_codes_of_letters_and_digits_stay_whole(file: Path) -> None:
    rows = "".join(f"AB{n:04}  Widget no {n:<10}  {n:>6}\n" for n in range(30))
    file.write_text("CODE    NAME                  QTY\n" + rows)
    assert read(file).rows[7] == ["AB0007", "Widget no 7", "7"]
    file.write_text("".join(f"{n:013};A{n:05};12.50\n" for n in range(30)))
    assert read(file).rows[3] == ["0000000000003", "A00003", "12.50"]
