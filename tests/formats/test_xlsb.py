"""Binary workbooks, made record by record; an independent reader confirms that they are right."""

from __future__ import annotations

import io
import struct
import zipfile
from pathlib import Path

import pytest
from python_calamine import CalamineWorkbook
from tests.formats.support import read, refusal

RELATIONS = "http://schemas.openxmlformats.org/officeDocument/2006/relationships"
TYPES = (
    '<?xml version="1.0"?>'
    '<Types xmlns="http://schemas.openxmlformats.org/package/2006/content-types">'
    '<Default Extension="bin" '
    'ContentType="application/vnd.ms-excel.sheet.binary.macroEnabled.main"/>'
    "</Types>"
)


def number(value: int) -> bytes:
    made = b""
    while value > 0x7F:
        made += bytes([value & 0x7F | 0x80])
        value >>= 7
    return made + bytes([value])


def record(kind: int, content: bytes = b"") -> bytes:
    name = bytes([kind]) if kind < 128 else bytes([kind & 0x7F | 0x80, kind >> 7])
    return name + number(len(content)) + content


def text(value: str) -> bytes:
    return struct.pack("<I", len(value)) + value.encode("utf-16-le")


def cell(column: int, value: object, style: int = 0) -> bytes:
    head = struct.pack("<II", column, style)
    match value:
        case bool():
            return record(4, head + bytes([value]))
        case int():
            return record(2, head + struct.pack("<i", (value << 2) | 2))
        case float():
            return record(5, head + struct.pack("<d", value))
        case tuple():
            return record(7, head + struct.pack("<I", value[0]))
        case BaseException():
            return record(3, head + b"\x2a")
    return record(6, head + text(str(value)))


def sheet(rows: list[list[tuple[int, object, int]]]) -> bytes:
    made = record(129) + record(148, struct.pack("<4I", 0, len(rows), 0, 9)) + record(145)
    for place, cells in enumerate(rows):
        made += record(0, struct.pack("<I", place) + bytes(13))
        made += b"".join(cell(*one) for one in cells)
    return made + record(146) + record(130)


def book(sheets: dict[str, bytes], shared: list[str], *, flags: int = 0) -> bytes:
    listed = b"".join(
        record(156, struct.pack("<II", 0, n) + text(f"rId{n}") + text(name))
        for n, name in enumerate(sheets, start=1)
    )
    targets = "".join(
        f'<Relationship Id="rId{n}" Type="{RELATIONS}/worksheet" Target="worksheets/sheet{n}.bin"/>'
        for n in range(1, len(sheets) + 1)
    )
    targets += f'<Relationship Id="s" Type="{RELATIONS}/sharedStrings" Target="sharedStrings.bin"/>'
    targets += f'<Relationship Id="t" Type="{RELATIONS}/styles" Target="styles.bin"/>'
    strings = b"".join(record(19, b"\0" + text(one)) for one in shared)
    style = struct.pack("<HH", 0xFFFF, 14) + bytes(12)
    styles = record(617, struct.pack("<I", 2)) + record(
        47, struct.pack("<HH", 0xFFFF, 0) + bytes(12)
    )
    package = "http://schemas.openxmlformats.org/package/2006/relationships"
    head = '<?xml version="1.0"?>'
    made = io.BytesIO()
    with zipfile.ZipFile(made, "w") as archive:
        archive.writestr("[Content_Types].xml", TYPES)
        archive.writestr(
            "_rels/.rels",
            f'{head}<Relationships xmlns="{package}"><Relationship Id="r" '
            f'Type="{RELATIONS}/officeDocument" Target="xl/workbook.bin"/></Relationships>',
        )
        properties = record(153, struct.pack("<II", flags, 0) + text(""))
        body = record(131) + properties + record(143) + listed + record(144) + record(132)
        archive.writestr("xl/workbook.bin", body)
        archive.writestr(
            "xl/_rels/workbook.bin.rels",
            f'{head}<Relationships xmlns="{package}">{targets}</Relationships>',
        )
        counts = struct.pack("<II", len(shared), len(shared))
        archive.writestr("xl/sharedStrings.bin", record(159, counts) + strings + record(160))
        archive.writestr(
            "xl/styles.bin", record(278) + styles + record(47, style) + record(618) + record(279)
        )
        for n, content in enumerate(sheets.values(), start=1):
            archive.writestr(f"xl/worksheets/sheet{n}.bin", content)
    return made.getvalue()


ROWS: list[list[tuple[int, object, int]]] = [
    [(0, "sku", 0), (1, (0,), 0), (2, "price", 0), (3, "stock", 0), (4, "since", 0), (5, "ok", 0)],
    [(0, "A-1", 0), (1, (1,), 0), (2, 12.5, 0), (3, 40, 0), (4, 46000.0, 1), (5, True, 0)],
    [(0, "A-2", 0), (1, "Kübel", 0), (2, 0.99, 0), (3, 0, 0), (4, 46001.0, 1), (5, False, 0)],
]


def test_cells_of_every_kind(tmp_path: Path) -> None:
    content = book({"Notes": sheet([[(0, "x", 0)]]), "Liste": sheet(ROWS)}, ["name", "Łopata"])
    peer = CalamineWorkbook.from_filelike(io.BytesIO(content))
    assert peer.sheet_names == ["Notes", "Liste"]
    assert peer.get_sheet_by_name("Liste").to_python()[1][:4] == ["A-1", "Łopata", 12.5, 40.0]
    path = tmp_path / "book.xlsb"
    path.write_bytes(content)
    reading = read(path)
    assert reading.found["format"] == "xlsb"
    assert reading.header == ["sku", "name", "price", "stock", "since", "ok"]
    assert reading.rows == [
        ["A-1", "Łopata", "12.5", "40", "2025-12-09", "TRUE"],
        ["A-2", "Kübel", "0.99", "0", "2025-12-10", "FALSE"],
    ]


def test_errors_in_cells_and_dates_from_1904(tmp_path: Path) -> None:
    rows = [*ROWS, [(0, "A-3", 0), (1, "Rake", 0), (2, ValueError(), 0), (4, 44538.0, 1)]]
    path = tmp_path / "book.xlsb"
    path.write_bytes(book({"Liste": sheet(rows)}, ["name", "Łopata"], flags=1))
    reading = read(path)
    assert reading.rows[2][2:5] == ["#N/A", "", "2025-12-09"]
    assert [one["code"] for one in reading.end.problems] == ["CELL_ERROR"]


@pytest.mark.parametrize("keep", [0.3, 0.6, 0.9])
def test_a_damaged_sheet_is_refused_by_name(tmp_path: Path, keep: float) -> None:
    whole = sheet(ROWS)
    path = tmp_path / "book.xlsb"
    path.write_bytes(
        book({"Liste": whole[: int(len(whole) * keep)] + b"\xff\xff\xff\xff\x7f"}, ["name", "x"])
    )
    assert refusal(path).code == "FILE_CORRUPT"


def test_a_shared_string_that_is_not_there(tmp_path: Path) -> None:
    path = tmp_path / "book.xlsb"
    path.write_bytes(book({"Liste": sheet(ROWS)}, ["name"]))
    assert refusal(path).code == "FILE_CORRUPT"
