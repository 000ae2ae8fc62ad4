"""Files with bytes flipped, cut and doubled: read or refused by name, in bounded time.

Hypothesis finds the places: 60 mutants a format, 2,000 in `make test-long`.
"""

from __future__ import annotations

import gzip
import json
import time
import zipfile
from collections.abc import Callable
from pathlib import Path

import pytest
import xlsxwriter
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from tests.formats.support import DATA, read
from tests.formats.test_blocks import CARDS
from tests.formats.test_fixed import LIST, UNDERLINED
from tests.formats.test_kinds import BOOK, PAGE
from tests.formats.test_sheets import ods, ods_cell

from penstock.model.errors import BadInput

pytestmark = pytest.mark.slow

TIMES, TIMES_LONG = 60, 2000
SECONDS_EACH = 5.0
# What means something in one of the formats.
MARKS = (
    b"\0",
    b"\xff",
    b'"',
    b"\n",
    b"<",
    b">",
    b",",
    b"{",
    b"[",
    b"&",
    b"|",
    b":",
    b"  ",
    b"</",
    b"<td>",
    b"PK\x03\x04",
)


def csv_file(path: Path) -> None:
    rows = [f'{n};"Text ""{n}"" ü; more\nlines";{n},50;https://x.y/{n}' for n in range(60)]
    path.write_bytes(("Liste\n\nid;text;price;url\n" + "\n".join(rows) + "\nTotal;;9;\n").encode())


def utf16_file(path: Path) -> None:
    path.write_bytes("id\tname\n1\tü\n2\t電\n".encode("utf-16"))


def xlsx_file(path: Path) -> None:
    with xlsxwriter.Workbook(str(path)) as made:
        sheet = made.add_worksheet()
        sheet.merge_range("A1:C1", "title")
        for line in range(1, 40):
            sheet.write_row(line, 0, [f"A{line}", line * 1.5, "text"])


def stored_xlsx_file(path: Path) -> None:
    """Not compressed, so that flips reach the XML."""
    xlsx_file(path)
    with zipfile.ZipFile(path) as packed:
        parts = {name: packed.read(name) for name in packed.namelist()}
    with zipfile.ZipFile(path, "w", zipfile.ZIP_STORED) as archive:
        for name, content in parts.items():
            archive.writestr(name, content)


def ods_file(path: Path) -> None:
    row = "<table:table-row>" + ods_cell("a") + ods_cell("1", "float", "1") + "</table:table-row>"
    ods(path, row * 20)


def json_file(path: Path) -> None:
    records = [{"sku": f"A{n}", "p": {"net": n / 3}, "t": ["ü", None]} for n in range(40)]
    path.write_text(json.dumps({"meta": 1, "items": records}, ensure_ascii=False))


def ndjson_file(path: Path) -> None:
    path.write_text("".join(json.dumps({"a": n, "b": "ü"}) + "\n" for n in range(40)))


def xml_file(path: Path) -> None:
    items = "".join(f"<p id='{n}'><n>A&amp;{n}</n><i>u</i><i>v</i></p>" for n in range(40))
    path.write_text(f"<?xml version='1.0' encoding='utf-8'?><shop>{items}</shop>")


def gzip_file(path: Path) -> None:
    path.write_bytes(gzip.compress(b"a,b\n1,2\n" * 50))


def zip_file(path: Path) -> None:
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as archive:
        archive.writestr("list.csv", "a;b\n" + "1;ü\n" * 200)


def xls_file(path: Path) -> None:
    sample = DATA / "excel" / "tabulator" / "table-with-ints-floats-dates.xls"
    if not sample.exists():
        pytest.skip("no writer of xls is at hand, and the sample files are not there")
    path.write_bytes(sample.read_bytes())


def html_file(path: Path) -> None:
    path.write_bytes(PAGE.encode("latin-1"))


def xml2003_file(path: Path) -> None:
    path.write_text(BOOK)


def drawn_file(path: Path) -> None:
    rows = "".join(f"| {n} | Apple \\| {n} | {n}.50 |\n" for n in range(40))
    path.write_text(f"# Fruit\n\n| id | name | price |\n|----|:----:|------:|\n{rows}\nbye\n")


def blocks_file(path: Path) -> None:
    path.write_bytes((CARDS * 10).encode("cp1252"))


def fixed_file(path: Path) -> None:
    header, *rows = LIST.splitlines(keepends=True)
    path.write_text(header + "".join(rows) * 10)


def underlined_file(path: Path) -> None:
    path.write_text(UNDERLINED)


MAKERS: list[Callable[[Path], None]] = [
    csv_file, utf16_file, xlsx_file, stored_xlsx_file, ods_file, json_file, ndjson_file, xml_file,
    gzip_file, zip_file, xls_file, html_file, xml2003_file, drawn_file,
    blocks_file, fixed_file, underlined_file,
]  # fmt: skip

# A place as a share of the file, what is done there, with what, and how much of it.
changes = st.lists(
    st.tuples(
        st.floats(0, 1, exclude_max=True),
        st.sampled_from(("flip", "mark", "insert", "cut", "double", "end")),
        st.binary(min_size=1, max_size=8),
        st.integers(0, 199),
    ),
    min_size=1,
    max_size=12,
)


def mutated(content: bytes, changed: list[tuple[float, str, bytes, int]]) -> bytes:
    data = bytearray(content)
    for share, what, bytes_, count in changed:
        at = int(share * len(data))
        match what:
            case "flip":
                data[at] ^= 1 << count % 8
            case "mark":
                mark = MARKS[count % len(MARKS)]
                data[at : at + len(mark)] = mark
            case "insert":
                data[at:at] = bytes_
            case "cut" if len(data) > 64:
                del data[at : at + count % 32 + 1]
            case "double":
                data[at:at] = data[at : at + count + 1]
            case "end" if at > 64 and count < 20:
                del data[at:]
    return bytes(data)


@pytest.mark.parametrize("make", MAKERS, ids=lambda make: make.__name__)
def test_mutants_never_crash_or_hang(tmp_path: Path, make: Callable[[Path], None]) -> None:
    read_mutants(tmp_path / "file", make, TIMES)


@pytest.mark.long
@pytest.mark.timeout(1800)
@pytest.mark.parametrize("make", MAKERS, ids=lambda make: make.__name__)
def test_many_more_mutants(tmp_path: Path, make: Callable[[Path], None]) -> None:
    read_mutants(tmp_path / "file", make, TIMES_LONG)


def read_mutants(path: Path, make: Callable[[Path], None], times: int) -> None:
    make(path)
    whole = path.read_bytes()

    @settings(
        max_examples=times, deadline=None, derandomize=True, database=None,
        suppress_health_check=list(HealthCheck),
    )  # fmt: skip
    @given(changes)
    def reads_or_refuses(changed: list[tuple[float, str, bytes, int]]) -> None:
        path.write_bytes(mutated(whole, changed))
        start = time.process_time()
        try:
            reading = read(path)
        except BadInput:
            pass
        else:
            json.dumps(reading.table, ensure_ascii=False).encode()
        assert time.process_time() - start < SECONDS_EACH

    reads_or_refuses()
