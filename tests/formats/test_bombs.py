"""Files made to do harm, read as the API and the workers read: in a child with bounds.

Each is refused by name or read row by row; none takes more than 300 MB, and none kills its child.
"""

from __future__ import annotations

import asyncio
import gzip
import io
import time
import zipfile
from collections.abc import Callable
from pathlib import Path
from typing import Any, NamedTuple

import pytest
from tests.formats.test_sheets import MAIN, made_by_hand, ods, ods_cell, sheet_xml

from penstock.formats.read_table import read_table
from penstock.formats.tables import TableChunk, TableEnd
from penstock.guards.children import ChildPool
from penstock.model.errors import BadInput
from penstock.model.ports import InputFile
from penstock.settings import Settings

pytestmark = pytest.mark.slow

MOST_BYTES = 300 * 1024 * 1024
MOST_SECONDS = 20.0


def outcome(path: str, limits: dict[str, int]) -> dict[str, Any]:
    """Runs in the child: what came of the file, and what it took."""
    found: dict[str, Any] = {"code": None, "rows": 0, "problems": {}}
    start = time.process_time()
    try:
        for piece in read_table(path, {}, limits):
            if isinstance(piece, TableChunk):
                found["rows"] += len(piece.rows)
            elif isinstance(piece, TableEnd):
                found["problems"] = {one["code"] for one in piece.problems}
    except BadInput as error:
        found["code"] = error.code
    found["seconds"] = time.process_time() - start
    # Not `ru_maxrss`, which counts what the parent had when it forked.
    status = Path("/proc/self/status").read_text()
    found["peak"] = int(status.partition("VmHWM:")[2].split()[0]) * 1024
    return found


async def in_a_child(path: Path) -> dict[str, Any]:
    settings = Settings()
    pool = ChildPool(settings.child_memory_bytes, 60)
    try:
        found: dict[str, Any] = await pool.call(outcome, InputFile(path), settings.reading_limits)
        # The same child answers the next call: it is alive and well.
        path.write_bytes(b"sku,price\nA,1\nB,2\n")
        again = await pool.call(outcome, InputFile(path), settings.reading_limits)
        assert (again["code"], again["rows"]) == (None, 2)
        return found
    finally:
        await pool.close()


class Bomb(NamedTuple):
    """``code`` is the refusal, or None where rows are right, with the problems they have."""

    name: str
    make: Callable[[Path], object]
    code: str | None
    problems: frozenset[str] = frozenset()


def made(make: Callable[[], bytes]) -> Callable[[Path], object]:
    """Made only when it is needed: all of them together are large."""
    return lambda path: path.write_bytes(make())


def packed(entries: dict[str, bytes]) -> bytes:
    made = io.BytesIO()
    with zipfile.ZipFile(made, "w", zipfile.ZIP_DEFLATED) as archive:
        for name, content in entries.items():
            archive.writestr(name, content)
    return made.getvalue()


def overlapping(path: Path) -> None:
    content = bytearray(packed({"a.csv": b"a,b\n" * 100, "b.csv": b"a,b\n" * 100}))
    second = content.rfind(b"PK\x01\x02")
    content[second + 42 : second + 46] = bytes(4)
    path.write_bytes(bytes(content))


def far_cells(path: Path) -> None:
    far = '<row r="1048576"><c r="XFD1048576"><v>2</v></c></row>'
    made_by_hand(path, sheet_xml(f'<row r="1"><c r="A1"><v>1</v></c></row>{far}'))


def many_strings(path: Path) -> None:
    strings = f"<sst {MAIN}>" + "<si><t>aaaaaaaaaa</t></si>" * 4_000_000 + "</sst>"
    made_by_hand(path, sheet_xml('<row r="1"><c r="A1" t="s"><v>0</v></c></row>'), strings)


def one_cell(size: int) -> Callable[[Path], None]:
    def make(path: Path) -> None:
        cell = f'<row r="1"><c r="A1" t="inlineStr"><is><t>{"x" * size}</t></is></c></row>'
        made_by_hand(path, sheet_xml(cell))

    return make


def entities(strings: str) -> Callable[[Path], None]:
    row = sheet_xml('<row r="1"><c r="A1" t="s"><v>0</v></c></row>')
    return lambda path: made_by_hand(path, row, strings)


def repeated(path: Path) -> None:
    cell = ods_cell("x", more=' table:number-columns-repeated="1000"')
    ods(path, f'<table:table-row table:number-rows-repeated="1000000">{cell}</table:table-row>')


LAUGHS = '<!DOCTYPE r [<!ENTITY a "ha"><!ENTITY b "&a;&a;&a;">]>'
QUADRATIC = f'<!DOCTYPE r [<!ENTITY a "{"x" * 50_000}">]>'
OUTSIDE = '<!DOCTYPE r [<!ENTITY a SYSTEM "file:///etc/hostname">]>'
PARAMETER = '<!DOCTYPE r [<!ENTITY % a SYSTEM "http://x.invalid/a"> %a;]>'
MEGA = 1024 * 1024

TEXTS = [
    Bomb("NUL", made(lambda: b"a,b\n1,x\0y\n2,z\n"), None, frozenset({"TEXT_UNREADABLE"})),
    Bomb("a field of 131,073 bytes", made(lambda: b"a,b\n1," + b"x" * 131_073 + b"\n2,y\n"),
         None),
    Bomb("an open quote", made(lambda: b'a,b\n1,"x\n' + b"2,y\n" * 200_000), None,
         frozenset({"UNBALANCED_QUOTE"})),
    Bomb("open quotes in every line", made(lambda: b'a,b\n' + b'1,"x\n' * 20_000), None,
         frozenset({"UNBALANCED_QUOTE"})),
    Bomb("UTF-16", made(lambda: "a,b\n1,ü\n".encode("utf-16-le")), None),
    Bomb("10,000 columns", made(lambda: b",".join([b"a"] * 10_000) + b"\n"), "TOO_MANY_COLUMNS"),
    Bomb("names that are twice", made(lambda: b"a,a,a\n1,2,3\n"), None),
    Bomb("one line without an end", made(lambda: b"x" * 60 * MEGA), "CELL_TOO_LARGE"),
    Bomb("delimiters alone", made(lambda: b"a,b\n" + b"," * 30 * MEGA), "TOO_MANY_COLUMNS"),
    Bomb("quotes alone", made(lambda: b'"' * 20 * MEGA), "EMPTY_FILE"),
    Bomb("a riddle for patterns", made(lambda: b'"' + b'a,"' * 20_000), None),
    Bomb("bars alone", made(lambda: b"|" * 5 * MEGA + b"\n|-|\n"), "EMPTY_FILE"),
]  # fmt: skip
RECORDS = [
    Bomb("NUL in JSON", made(lambda: b'[{"a": "\\u0000"}]'), "INVALID_JSON"),
    Bomb("half a pair", made(lambda: b'[{"a": "\\ud800"}]'), "INVALID_JSON"),
    Bomb("NaN", made(lambda: b'[{"a": NaN}]'), "INVALID_JSON"),
    Bomb("1e400", made(lambda: b'[{"a": 1e400}]'), "INVALID_JSON"),
    Bomb("keys that are twice", made(lambda: b'[{"a": 1, "a": 2}]'), "INVALID_JSON"),
    Bomb("5,000 digits", made(lambda: b'[{"a": ' + b"9" * 5000 + b"}]"), "INVALID_JSON"),
    Bomb("100,000 brackets", made(lambda: b"[" * 100_000), "INVALID_JSON"),
    Bomb("100,000 braces", made(lambda: b'{"a":' * 100_000), "INVALID_JSON"),
    Bomb("a string of 40 MB", made(lambda: b'[{"a": "' + b"x" * 40 * MEGA + b'"}]'),
         "CELL_TOO_LARGE"),
    Bomb("60,000 keys", made(lambda:
        b"[{" + b",".join(b'"k%d":1' % n for n in range(60_000)) + b"}]"), "TOO_MANY_COLUMNS"),
    Bomb("laughs", made(lambda: f"{LAUGHS}<r><x><a>&b;</a></x></r>".encode()), "XML_FORBIDDEN"),
    Bomb("quadratic", made(lambda: f"{QUADRATIC}<r>{'&a;' * 1000}</r>".encode()), "XML_FORBIDDEN"),
    Bomb("outside", made(lambda: f"{OUTSIDE}<r>&a;</r>".encode()), "XML_FORBIDDEN"),
    Bomb("parameters", made(lambda: f"{PARAMETER}<r/>".encode()), "XML_FORBIDDEN"),
    Bomb("100,000 elements deep", made(lambda: b"<r>" * 100_000), "INVALID_XML"),
    Bomb("a text of 40 MB", made(lambda: b"<r><x><a>" + b"x" * 40 * MEGA + b"</a></x></r>"),
         "CELL_TOO_LARGE"),
    Bomb("elements of every name", made(lambda:
        b"<r>" + b"".join(b"<a%d>1</a%d>" % (n, n) for n in range(100_000)) + b"</r>"),
        "TOO_MANY_COLUMNS"),
    Bomb("tables in tables", made(lambda: b"<table><tr><td>" * 100_000), "TOO_MANY_CELLS"),
    Bomb("cells that span", made(lambda:
        b"<table>" + (b"<tr>" + b"<td colspan=1000 rowspan=1000>x</td>" * 3) * 20_000),
        "TOO_MANY_COLUMNS"),
    Bomb("marks that open nothing", made(lambda: b"<table><tr><td>" + b"<" * 2 * MEGA),
         "CELL_TOO_LARGE"),
]  # fmt: skip
ARCHIVES = [
    Bomb("two far cells", far_cells, "TOO_MANY_CELLS"),
    Bomb("strings that inflate", many_strings, "ARCHIVE_BOMB"),
    Bomb("a cell of 100 MB", one_cell(100 * MEGA), "ARCHIVE_BOMB"),
    Bomb("a cell of 8 MB", one_cell(8 * MEGA), "CELL_TOO_LARGE"),
    Bomb("laughs in a workbook", entities(f"{LAUGHS}<sst><si><t>&b;</t></si></sst>"),
         "XML_FORBIDDEN"),
    Bomb("a workbook that reaches out", entities(f"{OUTSIDE}<sst><si><t>&a;</t></si></sst>"),
         "XML_FORBIDDEN"),
    Bomb("cells that repeat", repeated, "TOO_MANY_CELLS"),
    Bomb("files that overlap", overlapping, "ARCHIVE_BOMB"),
    Bomb("a zip in a zip", made(lambda: packed({"a.zip": packed({"a.csv": b"a,b\n1,2\n"})})),
         "UNSUPPORTED_TYPE"),
    Bomb("20,000 files", made(lambda: packed({f"{n}.csv": b"" for n in range(20_000)})),
         "ARCHIVE_BOMB"),
    Bomb("a zip of 100 MB of one letter", made(lambda: packed({"a.csv": b"1" * 100 * MEGA})),
         "ARCHIVE_BOMB"),
    Bomb("a gzip of 100 MB of one letter", made(lambda: gzip.compress(b"1" * 100 * MEGA, 6)),
         "ARCHIVE_BOMB"),
    Bomb("a gzip that is cut", made(lambda: gzip.compress(b"a,b\n" * 1000)[:40]), "FILE_CORRUPT"),
]  # fmt: skip


@pytest.mark.parametrize("bomb", [*TEXTS, *RECORDS, *ARCHIVES], ids=lambda bomb: bomb.name)
def test_bombs(tmp_path: Path, bomb: Bomb) -> None:
    path = tmp_path / "file"
    bomb.make(path)
    found = asyncio.run(in_a_child(path))
    assert found["code"] == bomb.code, found
    assert bomb.problems <= set(found["problems"])
    assert found["peak"] < MOST_BYTES
    assert found["seconds"] < MOST_SECONDS
