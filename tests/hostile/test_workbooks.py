"""Workbooks of some kilobytes whose XML made the readers' patterns take minutes."""

from __future__ import annotations

import time
from contextlib import suppress
from pathlib import Path

import pytest
from tests.formats.support import read
from tests.formats.test_sheets import MAIN, made_by_hand, sheet_xml

from penstock.model.errors import BadInput

TIMES = 60_000
MOST_SECONDS = 2.0
CELL = '<row r="1"><c r="A1"><v>1</v></c></row>'
SHEETS = {
    "rows that hide": sheet_xml('<row hidden="1" ' * TIMES),
    "rows that begin to hide": sheet_xml(CELL + "<row hidden=" * TIMES),
    "rows in rows": sheet_xml("<row>" * TIMES),
    "open texts": sheet_xml('<row r="1">' + '<c r="A1"><is>' * TIMES + "</row>"),
    "merges": sheet_xml(CELL) + "<mergeCell " * TIMES,
    "columns that hide": '<col hidden="1" ' * TIMES + sheet_xml(CELL),
    "formulas": sheet_xml('<row r="1"><c r="A1"><f>' + "</f> " * TIMES + "</c></row>"),
    "attributes": sheet_xml(f'<row r="1"><c r="A1" {"a" * TIMES}="1"><v>1</v></c></row>'),
}
STRINGS = {
    "open strings": "<si>" * TIMES,
    "open texts": "<si><t>" * TIMES,
    "phonetics": "<si>" + "<rPh" * TIMES + "</si>",
}


def seconds(path: Path) -> float:
    start = time.process_time()
    with suppress(BadInput):
        read(path)
    return time.process_time() - start


@pytest.mark.parametrize("xml", SHEETS.values(), ids=SHEETS.keys())
def test_sheets_are_read_or_refused_at_once(tmp_path: Path, xml: str) -> None:
    made_by_hand(tmp_path / "file", xml)
    assert (tmp_path / "file").stat().st_size < 10_000
    assert seconds(tmp_path / "file") < MOST_SECONDS


@pytest.mark.parametrize("strings", STRINGS.values(), ids=STRINGS.keys())
def test_strings_are_read_or_refused_at_once(tmp_path: Path, strings: str) -> None:
    sheet = sheet_xml('<row r="1"><c r="A1" t="s"><v>0</v></c></row>')
    made_by_hand(tmp_path / "file", sheet, f"<sst {MAIN}>{strings}</sst>")
    assert seconds(tmp_path / "file") < MOST_SECONDS
