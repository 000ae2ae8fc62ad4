"""Parts of workbooks as unusual writers make them."""

from __future__ import annotations

import io
import re
import zipfile
from collections.abc import Callable
from pathlib import Path

import pytest
from openpyxl import Workbook
from tests.formats.support import read

TABLE = [["SKU", "Name", "Price"], ["A-1", "Säge", "12.5"], ["A-2", "Молоток", "9.99"]]


@pytest.fixture
def file(tmp_path: Path) -> Path:
    return tmp_path / "book.xlsx"


def rewritten(change: Callable[[str, bytes], bytes]) -> bytes:
    """The table as a workbook with changed parts."""
    book = Workbook()
    sheet = book.active
    assert sheet is not None
    for row in TABLE:
        sheet.append(row)
    made, packed = io.BytesIO(), io.BytesIO()
    book.save(made)
    with zipfile.ZipFile(made) as old, zipfile.ZipFile(packed, "w") as new:
        for name in old.namelist():
            new.writestr(name, change(name, old.read(name)))
    return packed.getvalue()


@pytest.mark.parametrize("encoding", ["utf-16", "utf-16-le", "utf-16-be"])
@pytest.mark.parametrize("parts", ["xl/worksheets/", "xl/sharedStrings", "xl/"])
def test_parts_in_utf_16(file: Path, encoding: str, parts: str) -> None:
    def change(name: str, content: bytes) -> bytes:
        if not name.startswith(parts) or not name.endswith(".xml"):
            return content
        text = re.sub(r"^<\?xml[^>]*\?>", "", content.decode())
        return f'<?xml version="1.0" encoding="UTF-16"?>{text}'.encode(encoding)

    file.write_bytes(rewritten(change))
    assert read(file).table == TABLE


@pytest.mark.parametrize("before", [b"\r\n", b"\xef\xbb\xbf", b"\n\n  "])
def test_blanks_before_the_archive(file: Path, before: bytes) -> None:
    file.write_bytes(before + rewritten(lambda name, content: content))
    assert read(file).table == TABLE
