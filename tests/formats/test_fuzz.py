"""Files with bytes flipped, cut and doubled: read or refused by name, in bounded time."""

from __future__ import annotations

import gzip
import json
import random
import time
import zipfile
from collections.abc import Callable
from pathlib import Path

import pytest
import xlsxwriter
from tests.formats.support import DATA, read
from tests.formats.test_sheets import ods, ods_cell

from penstock.model.errors import BadInput

TIMES, TIMES_LONG = 60, 2000
SECONDS_EACH = 5.0


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


MAKERS: list[Callable[[Path], None]] = [
    csv_file, utf16_file, xlsx_file, stored_xlsx_file, ods_file, json_file, ndjson_file, xml_file,
    gzip_file, zip_file, xls_file,
]  # fmt: skip


def mutated(content: bytes, chance: random.Random) -> bytes:
    data = bytearray(content)
    for _ in range(chance.choice((1, 2, 8, 40))):
        at = chance.randrange(len(data))
        match chance.randrange(5):
            case 0:
                data[at] ^= 1 << chance.randrange(8)
            case 1:
                data[at] = chance.choice((0, 255, 34, 10, 60, 44))
            case 2:
                data[at:at] = chance.randbytes(chance.randrange(1, 9))
            case 3 if len(data) > 64:
                del data[at : at + chance.randrange(1, 33)]
            case _:
                data[at:at] = data[at : at + chance.randrange(1, 200)]
    return bytes(data[: chance.randrange(1, len(data))] if chance.random() < 0.1 else data)


@pytest.mark.parametrize("make", MAKERS, ids=lambda make: make.__name__)
def test_mutants_never_crash_or_hang(tmp_path: Path, make: Callable[[Path], None]) -> None:
    read_mutants(tmp_path / "file", make, range(TIMES))


@pytest.mark.long
@pytest.mark.timeout(1800)
@pytest.mark.parametrize("make", MAKERS, ids=lambda make: make.__name__)
def test_many_more_mutants(tmp_path: Path, make: Callable[[Path], None]) -> None:
    read_mutants(tmp_path / "file", make, range(TIMES, TIMES_LONG))


def read_mutants(path: Path, make: Callable[[Path], None], seeds: range) -> None:
    make(path)
    whole = path.read_bytes()
    for seed in seeds:
        path.write_bytes(mutated(whole, random.Random(seed)))
        start = time.process_time()
        try:
            reading = read(path)
        except BadInput:
            pass
        else:
            json.dumps(reading.table, ensure_ascii=False).encode()
        assert time.process_time() - start < SECONDS_EACH, f"seed {seed}"
