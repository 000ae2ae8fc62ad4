"""`penstock read`: real processes, no database."""

from __future__ import annotations

import csv
import gzip
import io
import json
import os
from pathlib import Path

import pytest
import xlsxwriter
from tests.formats.test_sheets import MAIN, made_by_hand, sheet_xml
from tests.warm import start_process

SOURCE = Path(__file__).resolve().parents[2] / "src"


def penstock(*arguments: str | Path, code: int = 0, **more: str) -> tuple[str, str]:
    """Nowhere to keep anything, and no database to reach."""
    environment = {**os.environ, "PYTHONPATH": str(SOURCE), **more}
    environment |= {
        "PENSTOCK_DATA_DIR": "/nowhere",
        "PENSTOCK_DATABASE_URL": "postgresql://x.invalid/",
    }
    done = start_process(
        "penstock.cli", "read", *map(str, arguments), env=environment, cwd=Path.cwd()
    )
    out, err = done.communicate(timeout=60)
    assert done.returncode == code, f"exit code {done.returncode}\n{out}\n{err}"
    assert "Traceback" not in err
    return out, err


@pytest.fixture
def messy(tmp_path: Path) -> Path:
    path = tmp_path / "list.dat"
    text = 'Preisliste 2024\r\n\r\nNr;Größe;Größe;\r\n0012;"a; ""b""";1,50;\r\n0013;ü;2,00;\r\n'
    path.write_bytes(text.encode("cp1252"))
    return path


def test_the_table_as_it_was_read(messy: Path, tmp_path: Path) -> None:
    out, _ = penstock(messy)
    table = [["Nr", "Größe", "Größe"], ["0012", 'a; "b"', "1,50"], ["0013", "ü", "2,00"]]
    assert list(csv.reader(io.StringIO(out, newline=""))) == table
    place = tmp_path / "out.csv"
    assert penstock(messy, "-o", place) == ("", "")
    assert place.read_bytes().decode() == out


def test_what_was_detected(messy: Path, tmp_path: Path) -> None:
    found = json.loads(penstock(messy, "--json")[0])
    assert (found["format"], found["encoding"], found["delimiter"]) == ("csv", "cp1252", ";")
    assert (found["rows"], found["columns"], found["header_rows"]) == (2, 3, [3])
    assert found["preamble"] == [{"line": 1, "text": "Preisliste 2024"}]
    place = tmp_path / "out.csv"
    penstock(messy, "--json", "--output", place)
    assert len(place.read_text("utf-8").splitlines()) == 3


def test_options(messy: Path, tmp_path: Path) -> None:
    out, _ = penstock(messy, "--header-row", "0", "--skip-rows", "3", "--encoding", "cp1250")
    assert out.splitlines()[0].startswith("Column 1,")
    book = tmp_path / "book.bin"
    with xlsxwriter.Workbook(str(book)) as made:
        for name in ("one", "two"):
            sheet = made.add_worksheet(name)
            sheet.write_row(0, 0, ["name", "n"])
            sheet.write_row(1, 0, [name, 1])
    assert penstock(book, "--sheet", "two")[0].splitlines() == ["name,n", "two,1"]
    assert penstock(book, "--sheet", "1")[0].splitlines() == ["name,n", "one,1"]
    penstock(book, "--sheet", "three", code=2)
    nested = tmp_path / "nested.json"
    nested.write_text('{"a": {"b": [{"x": 1}]}, "items": [{"y": 2}]}')
    assert penstock(nested, "--records", "a.b")[0].splitlines() == ["x", "1"]


@pytest.mark.parametrize(
    ("content", "code", "says"),
    [
        (b"", 2, "EMPTY_FILE"),
        (b"\x89PNG\r\n\x1a\n", 2, "UNSUPPORTED_TYPE"),
        (b'{"a": [1, }', 2, "INVALID_JSON"),
        (b"<!DOCTYPE r [<!ENTITY a 'b'>]><r/>", 2, "XML_FORBIDDEN"),
    ],
)
def test_refusals_are_one_line(tmp_path: Path, content: bytes, code: int, says: str) -> None:
    path, place = tmp_path / "file", tmp_path / "out.csv"
    path.write_bytes(content)
    _, err = penstock(path, "-o", place, code=code)
    assert says in err
    assert len(err.splitlines()) == 1
    assert not place.exists()
    told = json.loads(penstock(path, "--json", code=code)[0])
    assert told["error"]["code"] == says


def test_wrong_use(messy: Path, tmp_path: Path) -> None:
    penstock(tmp_path / "nothing", code=2)
    penstock(tmp_path, code=2)
    penstock(messy, "-o", messy, code=2)
    penstock(messy, "--delimiter", "\n", code=2)
    penstock(messy, "--encoding", "klingon", code=2)


SMALL = str(300 * 1024 * 1024)


def test_bombs_are_refused_within_small_memory(tmp_path: Path) -> None:
    path = tmp_path / "bomb"
    cell = '<row r="1"><c r="A1" t="s"><v>0</v></c></row>'
    strings = f"<sst {MAIN}>" + "<si><t>aaaaaaaaaa</t></si>" * 3_000_000 + "</sst>"
    made_by_hand(path, sheet_xml(cell), strings)
    assert "ARCHIVE_BOMB" in penstock(path, code=2, PENSTOCK_CHILD_MEMORY_BYTES=SMALL)[1]
    far = '<row r="1048576"><c r="XFD1048576"><v>2</v></c></row>'
    made_by_hand(path, sheet_xml(cell + far), f"<sst {MAIN}><si><t>a</t></si></sst>")
    assert "TOO_MANY_CELLS" in penstock(path, code=2, PENSTOCK_CHILD_MEMORY_BYTES=SMALL)[1]
    path.write_bytes(gzip.compress(b"a,b\n" + b"1,2\n" * 50_000_000))
    assert "ARCHIVE_BOMB" in penstock(path, code=2, PENSTOCK_CHILD_MEMORY_BYTES=SMALL)[1]
    path.write_text("[" * 1_000_000)
    assert "INVALID_JSON" in penstock(path, code=2, PENSTOCK_CHILD_MEMORY_BYTES=SMALL)[1]
    path.write_text("a" * 60_000_000)
    assert "CELL_TOO_LARGE" in penstock(path, code=2, PENSTOCK_CHILD_MEMORY_BYTES=SMALL)[1]


def test_memory_is_bounded(tmp_path: Path) -> None:
    path = tmp_path / "wide.json"
    path.write_text("[" + ",".join('{"a": "%s"}' % ("x" * 1000) for _ in range(20_000)) + "]")
    out, _ = penstock(path, PENSTOCK_CHILD_MEMORY_BYTES=str(160 * 1024 * 1024))
    assert len(out.splitlines()) == 20_001
