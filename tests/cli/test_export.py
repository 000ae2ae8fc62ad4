"""CSV that is safe to open."""

from __future__ import annotations

import csv
import io

import pytest

from penstock.formats.writing.text_formats import CsvWriter, safe_cell
from penstock.model.export import ExportRow


@pytest.mark.parametrize(
    "text",
    [
        "=1+1",
        "+cmd|'/c calc'!A1",
        "-1+1",
        "@SUM(A1)",
        "\t=1",
        "\r=1",
        "\n=1",
        "\0=1",
        "＝1",
        "-",
        "+",
    ],
)
def test_formulas_are_disarmed(text: str) -> None:
    disarmed = safe_cell(text)
    assert disarmed.startswith("'")
    assert disarmed.replace("'", "") == text.replace("'", "")


@pytest.mark.parametrize(
    "text", ["-5", "+49", "-1.5", "-1,5", "-.5", "1e5", "-1e-5", "abc", "a=b", ""]
)
def test_what_is_harmless_stays_as_it_is(text: str) -> None:
    assert safe_cell(text) == text


def test_values_that_are_no_text() -> None:
    assert [safe_cell(value) for value in (None, True, -3, 1.5, ["a", 1], {"k": "v"})] == [
        "", "true", "-3", "1.5", '["a",1]', '{"k":"v"}',
    ]  # fmt: skip


def test_pages_make_one_file() -> None:
    pages = CsvWriter(["a", "=b"])
    text = pages.head() + pages.page([ExportRow(['x,"y"\nz', None])])
    text += pages.page([ExportRow([None, "2"])]) + pages.end()
    rows = list(csv.reader(io.StringIO(text.decode(), newline="")))
    assert rows == [["a", "'=b"], ['x,"y"\nz', ""], ["", "2"]]
