"""Workbooks of ours, opened by other people's readers."""

from __future__ import annotations

import io
from collections.abc import Sequence
from typing import Any

import openpyxl
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from penstock.formats.writing import xlsx
from penstock.formats.writing.xlsx import XlsxWriter, column_name
from penstock.model.errors import BadInput
from penstock.model.export import ExportRow, Mark


def written(columns: Sequence[str], *pages: Sequence[ExportRow]) -> bytes:
    book = XlsxWriter(columns)
    return book.head() + b"".join(book.page(page) for page in pages) + book.end()


def opened(data: bytes) -> Any:
    return openpyxl.load_workbook(io.BytesIO(data))


TEXT = st.text(max_size=40).filter(lambda text: "\r" not in text)
CELLS = st.one_of(
    TEXT, st.integers(-(2**40), 2**40), st.floats(allow_nan=False, allow_infinity=False),
    st.booleans(), st.none(),
)  # fmt: skip


@given(st.lists(st.tuples(CELLS, CELLS, CELLS), max_size=20))
@settings(max_examples=100, deadline=None)
def test_what_goes_in_comes_out(rows: list[tuple[Any, ...]]) -> None:
    data = written(["a", "b", "c"], [ExportRow(row) for row in rows])
    sheet = opened(data).active
    found = [tuple(cell.value for cell in line) for line in _lines(sheet, len(rows))]
    for row, line in zip(rows, found, strict=True):
        for want, have in zip(row, line, strict=True):
            assert have == _as_read(want)


def _lines(sheet: Any, count: int) -> list[Any]:
    # Nothing is asked for rather than a range without an end, which would be all rows there are.
    return list(sheet.iter_rows(min_row=2, max_row=count + 1, max_col=3)) if count else []


def _as_read(value: Any) -> Any:
    """As openpyxl gives it back, which leaves masked characters masked."""
    if not isinstance(value, str):
        return value
    return xlsx._ILLEGAL.sub(lambda m: f"_x{ord(m[0]):04X}_", value)


def test_text_stays_text_and_nothing_is_a_formula() -> None:
    cells = ["0049", "4006381333931", "=1+1", "+1", "1e5", "2024-01-01", " a ", "a\nb", "<&>\"'"]
    sheet = opened(written([f"c{n}" for n in range(len(cells))], [ExportRow(cells)])).active
    found = next(iter(sheet.iter_rows(min_row=2)))
    assert [cell.value for cell in found] == cells
    assert {cell.data_type for cell in found} <= {"s", "inlineStr"}
    assert {cell.number_format for cell in found} == {"@"}


def test_bad_cells_are_coloured_and_say_why() -> None:
    marks = [Mark("price", "No number"), Mark("name", "Odd", is_error=False), Mark("none", "?")]
    rows = [
        ExportRow(["Nail", "n/a"], marks),
        ExportRow(["Hammer", None], [Mark("price", "Empty")]),
    ]
    sheet = opened(written(["name", "price"], rows)).active
    assert sheet["B2"].comment.text == "No number"
    assert sheet["A2"].comment.text == "Odd"
    assert sheet["B3"].comment.text == "Empty"
    assert sheet["B2"].fill.fgColor.rgb == "FFF8C9C4"
    assert sheet["A2"].fill.fgColor.rgb == "FFFCEBB6"
    assert sheet["A3"].comment is None


def test_the_header_stays_in_sight_and_filters() -> None:
    sheet = opened(written(["a", "b"], [ExportRow([1, 2])], [ExportRow([3, 4])])).active
    assert (sheet.freeze_panes, sheet.auto_filter.ref) == ("A2", "A1:B3")
    assert sheet["A1"].font.bold


def test_more_rows_than_a_sheet_has_go_into_the_next(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(xlsx, "MAX_ROWS", 4)
    rows = [ExportRow([n], [Mark("n", f"no {n}")]) for n in range(8)]
    book = opened(written(["n"], rows[:5], rows[5:]))
    assert book.sheetnames == ["Results", "Results 2", "Results 3"]
    numbers = [row[0].value for sheet in book for row in sheet.iter_rows(min_row=2)]
    assert numbers == list(range(8))
    assert book["Results 3"]["A2"].comment.text == "no 6"


def test_bounds(monkeypatch: pytest.MonkeyPatch) -> None:
    with pytest.raises(BadInput, match="Export as CSV"):
        XlsxWriter([f"c{n}" for n in range(16_385)])
    monkeypatch.setattr(xlsx, "MAX_COMMENTS", 2)
    rows = [ExportRow([n], [Mark("n", "no")]) for n in range(4)]
    sheet = opened(written(["n"], rows)).active
    assert [sheet[f"A{n}"].comment is not None for n in (2, 3, 4, 5)] == [True, True, False, False]
    assert sheet["A5"].fill.fgColor.rgb == "FFF8C9C4"
    long = opened(written(["n"], [ExportRow(["x" * 40_000])])).active["A2"].value
    assert (len(long), long[-1]) == (32_767, "…")


def test_an_empty_export_is_a_workbook() -> None:
    sheet = opened(written(["a", "b"])).active
    assert [cell.value for cell in sheet[1]] == ["a", "b"]


def test_names_of_columns() -> None:
    assert [column_name(n) for n in (1, 26, 27, 52, 702, 703, 16_384)] == [
        "A", "Z", "AA", "AZ", "ZZ", "AAA", "XFD",
    ]  # fmt: skip
