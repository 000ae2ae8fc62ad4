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
