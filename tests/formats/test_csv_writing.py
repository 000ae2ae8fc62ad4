"""Cells are encoded column by column; the text is the same as cell by cell."""

from __future__ import annotations

import csv
import io
from collections.abc import Sequence
from typing import Any

from hypothesis import given, settings
from hypothesis import strategies as st

from penstock.formats.writing.text_formats import CsvWriter, safe_cell
from penstock.model.export import ExportRow

_SPECIAL = "=+-@\t\r\n\0\uff1d\uff0b\uff0d\uff20\"',;|(!5. aé"
CELLS = st.one_of(
    st.text(_SPECIAL, max_size=8),
    st.text(max_size=8),
    st.none() | st.booleans() | st.integers(-9, 9) | st.floats(allow_nan=False),
    st.lists(st.text(_SPECIAL, max_size=3), max_size=2),
)


def cell_by_cell(rows: Sequence[Sequence[Any]]) -> bytes:
    """Quotes cells with a comma or any other common delimiter, as the standard library does."""
    lines = []
    for row in rows:
        file = io.StringIO(newline="")
        safe = [safe_cell(cell) for cell in row]
        csv.writer(file, lineterminator="\r\n").writerow(safe)
        if any(mark in file.getvalue() for mark in ";\t|"):
            quoted = [
                '"' + cell.replace('"', '""') + '"'
                if any(mark in cell for mark in '",;\t|\r\n')
                else cell
                for cell in safe
            ]
            file = io.StringIO(",".join(quoted) + "\r\n", newline="")
        lines.append(file.getvalue())
    return "".join(lines).encode()


@given(st.data())
@settings(max_examples=300, deadline=None)
def test_columns_are_encoded_as_cells_are(data: st.DataObject) -> None:
    width = data.draw(st.integers(0, 4))
    rows = data.draw(st.lists(st.lists(CELLS, min_size=width, max_size=width), max_size=6))
    written = CsvWriter(["c"] * width).page([ExportRow(row) for row in rows])
    assert written == cell_by_cell(rows)


def test_a_column_of_numbers_among_texts() -> None:
    rows = [["a", 1, None], ["b,c", -2, ""], ["=d", 1.5, '"']]
    written = CsvWriter(["x", "y", "z"]).page([ExportRow(row) for row in rows])
    assert written == b'a,1,\r\n"b,c",-2,\r\n\'=d,1.5,""""\r\n'
