"""gzip and zip: one file inside is read, bombs and riddles are refused by name."""

from __future__ import annotations

import gzip
import io
import zipfile
from pathlib import Path

import pytest
from tests.formats.support import read, refusal

TABLE = [["sku", "price"], ["A", "1"], ["B", "2"]]
CSV = b"sku,price\nA,1\nB,2\n"


@pytest.fixture
def file(tmp_path: Path) -> Path:
    return tmp_path / "file"


def zipped(files: dict[str, bytes]) -> bytes:
    made = io.BytesIO()
    with zipfile.ZipFile(made, "w", zipfile.ZIP_DEFLATED) as archive:
        for name, content in files.items():
            archive.writestr(name, content)
    return made.getvalue()


def test_gzip(file: Path) -> None:
    file.write_bytes(gzip.compress(CSV))
    reading = read(file)
    assert reading.table == TABLE
    assert (reading.found["format"], reading.found["container"]) == ("csv", "gzip")


def test_zip_with_one_file(file: Path) -> None:
    file.write_bytes(zipped({"a/list.txt": CSV, "__MACOSX/a/._list.txt": b"x", "a/.DS_Store": b""}))
    reading = read(file)
    assert reading.table == TABLE
    assert reading.found["container"] == "zip: a/list.txt"


def test_resuming_inside_of_an_archive(file: Path) -> None:
    body = b"".join(b"%d,%d\n" % (n, n * 2) for n in range(5000))
    for packed in (gzip.compress(b"a,b\n" + body), zipped({"x": b"a,b\n" + body})):
        file.write_bytes(packed)
        whole = read(file)
        assert len(whole.rows) == 5000
        assert read(file, cursor={"rows": 4000, "plan": whole.head.plan}).rows == whole.rows[4000:]


@pytest.mark.parametrize(
    ("content", "code"),
    [
        (zipped({"a.csv": CSV, "b.csv": CSV}), "ARCHIVE_NOT_ONE_FILE"),
        (zipped({}), "ARCHIVE_NOT_ONE_FILE"),
        (zipped({"a.zip": zipped({"a.csv": CSV})}), "UNSUPPORTED_TYPE"),
        (gzip.compress(gzip.compress(CSV)), "UNSUPPORTED_TYPE"),
        (gzip.compress(CSV)[:-6], "FILE_CORRUPT"),
        (zipped({"a.csv": CSV})[:-8], "FILE_CORRUPT"),
        (zipped({"a.png": b"\x89PNG\r\n\x1a\n" + bytes(50)}), "UNSUPPORTED_TYPE"),
        (zipped({"word/document.xml": b"<w/>"}), "UNSUPPORTED_TYPE"),
    ],
    # Archives carry the time they were made at: as names they would differ from process to process.
    ids=["two", "none", "zip in zip", "gzip in gzip", "cut gzip", "cut zip", "picture", "letter"],
)
def test_refused_archives(file: Path, content: bytes, code: str) -> None:
    file.write_bytes(content)
    assert refusal(file).code == code


@pytest.mark.parametrize("pack", [gzip.compress, lambda data: zipped({"a.csv": data})])
def test_bombs(file: Path, pack: object) -> None:
    assert callable(pack)
    file.write_bytes(pack(b"a,b\n" + b"1,2\n" * 20_000_000))
    assert file.stat().st_size < 1_000_000
    assert refusal(file).code == "ARCHIVE_BOMB"
    file.write_bytes(pack(b"a,b\n" + b"1,2\n" * 1000))
    assert refusal(file, None, inflated_bytes=1000).code == "ARCHIVE_BOMB"


def test_files_that_overlap(file: Path) -> None:
    """One entry's data listed twice, as in a quine of archives."""
    content = bytearray(zipped({"a.csv": CSV * 100, "b.csv": CSV * 100}))
    second = content.rfind(b"PK\x01\x02")
    content[second + 42 : second + 46] = bytes(4)  # where the second file's data begins
    file.write_bytes(bytes(content))
    assert refusal(file).code == "ARCHIVE_BOMB"


def test_a_zip_with_a_password(file: Path) -> None:
    content = bytearray(zipped({"a.csv": CSV}))
    for mark, offset in ((b"PK\x01\x02", 8), (b"PK\x03\x04", 6)):
        content[content.find(mark) + offset] |= 1
    file.write_bytes(bytes(content))
    assert refusal(file).code == "FILE_PASSWORD_PROTECTED"
