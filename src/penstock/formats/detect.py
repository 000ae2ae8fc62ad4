"""What bytes are: binary or text, in which encoding, with which separators."""

from __future__ import annotations

import codecs
import re
from collections.abc import Iterator, Mapping
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

from penstock.model.errors import BadInput

ACCEPTED = "Accepted are CSV and TSV text files"
BLOCK_BYTES = 1024 * 1024
ENCODING_SAMPLE_BYTES = 32 * 1024
# clevercsv's time grows faster than the sample.
DIALECT_SAMPLE_CHARS = 16 * 1024
DELIMITERS = [",", ";", "\t", "|"]

# Longest first: the mark of UTF-32 begins with that of UTF-16.
BYTE_ORDER_MARKS = (
    (codecs.BOM_UTF8, "utf-8-sig"),
    (codecs.BOM_UTF32_LE, "utf-32"),
    (codecs.BOM_UTF32_BE, "utf-32"),
    (codecs.BOM_UTF16_LE, "utf-16"),
    (codecs.BOM_UTF16_BE, "utf-16"),
)
LEGACY_ENCODINGS = ["cp1252", "cp1250", "shift_jis", "gb18030", "latin_1"]  # commonest first

SIGNATURES = (
    (b"\x89PNG\r\n\x1a\n", "a PNG picture"),
    (b"\xff\xd8\xff", "a JPEG picture"),
    (b"GIF8", "a GIF picture"),
    (b"%PDF-", "a PDF document"),
    (b"PK\x03\x04", "a ZIP archive or an Excel workbook"),
    (b"PK\x05\x06", "a ZIP archive"),
    (b"\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1", "an old Excel workbook or Office document"),
    (b"\x1f\x8b", "a gzip archive"),
    (b"7z\xbc\xaf\x27\x1c", "a 7z archive"),
    (b"Rar!\x1a\x07", "a RAR archive"),
    (b"SQLite format 3\x00", "an SQLite database"),
    (b"\x7fELF", "a program"),
)
MARKUP = (
    (re.compile(rb"\s*<(!doctype html|html)", re.I), "an HTML page"),
    (re.compile(rb"\s*<\?xml", re.I), "an XML document"),
    (re.compile(rb'\s*(\{\s*["}]|\[\s*[\[{])'), "a JSON document"),
)
CONTROL_BYTES = bytes(set(range(32)) - set(b"\t\n\v\f\r\x1a\x1b"))
# A text may hold a few stray control characters; bytes at random hold a tenth.
MOST_CONTROL_SHARE = 0.05
FEWEST_CONTROLS = 4


@dataclass(frozen=True, slots=True)
class Dialect:
    """How a file's text is read, found once and then kept with the cursor."""

    encoding: str
    delimiter: str = ","
    quotechar: str = '"'
    escapechar: str | None = None

    def as_json(self) -> dict[str, Any]:
        return asdict(self)

    @staticmethod
    def of(kept: Mapping[str, Any]) -> Dialect:
        return Dialect(**kept)


def refuse_binary(head: bytes, name: str) -> None:
    """Raise UNSUPPORTED_TYPE for what is surely no table in text form."""
    seems = _seems(head)
    if seems is not None:
        raise BadInput("UNSUPPORTED_TYPE", f"{name} seems to be {seems}. {ACCEPTED}", seems=seems)


def _seems(head: bytes) -> str | None:
    for signature, what in SIGNATURES:
        if head.startswith(signature):
            return what
    for pattern, what in MARKUP:
        if pattern.match(head):
            return what
    if unicode_encoding(head) is None:
        controls = len(head) - len(head.translate(None, CONTROL_BYTES))
        if controls >= FEWEST_CONTROLS and controls > MOST_CONTROL_SHARE * len(head):
            return "binary data"
    return None


def unicode_encoding(head: bytes) -> str | None:
    """The encoding that a byte order mark, or the places of the NULs in UTF-16, give away."""
    for mark, encoding in BYTE_ORDER_MARKS:
        if head.startswith(mark):
            return encoding
    half = len(head) // 2
    even, odd = head[0::2].count(0), head[1::2].count(0)
    if half and odd > 0.4 * half and even < 0.05 * half:
        return "utf-16-le"
    if half and even > 0.4 * half and odd < 0.05 * half:
        return "utf-16-be"
    return None


def find_encoding(path: Path) -> str:
    """An encoding that decodes the whole file without an error."""
    with path.open("rb") as file:
        head = file.read(ENCODING_SAMPLE_BYTES)
    marked = unicode_encoding(head)
    wrong_at = _first_error(path, marked or "utf-8")
    if wrong_at is None:
        return marked or "utf-8"
    if marked is not None:
        raise BadInput(
            "UNSUPPORTED_TYPE",
            f"The file begins as {marked.removesuffix('-sig').upper()} text, "
            f"but what follows near byte {wrong_at:,} is not",
        )
    guess = _guess(_around(path, wrong_at))
    return next(
        encoding
        for encoding in (guess, "cp1252", "latin-1")
        if _first_error(path, encoding) is None
    )


def _blocks(path: Path) -> Iterator[bytes]:
    with path.open("rb") as file:
        while block := file.read(BLOCK_BYTES):
            yield block


def _first_error(path: Path, encoding: str) -> int | None:
    """Where the file stops being text in this encoding."""
    decoder = codecs.getincrementaldecoder(encoding)()
    read = 0
    try:
        for block in _blocks(path):
            decoder.decode(block)
            read += len(block)
        decoder.decode(b"", final=True)
    except UnicodeDecodeError as error:
        return read + error.start
    return None


def _around(path: Path, position: int) -> bytes:
    """Whole lines near a place, so that no character of several bytes is cut."""
    start = max(0, position - ENCODING_SAMPLE_BYTES // 2)
    with path.open("rb") as file:
        file.seek(start)
        sample = file.read(ENCODING_SAMPLE_BYTES)
    first = sample.find(b"\n") + 1 if start else 0
    last = sample.rfind(b"\n") + 1 if len(sample) == ENCODING_SAMPLE_BYTES else len(sample)
    return sample[first:last] or sample


def _guess(sample: bytes) -> str:
    """The likeliest old encoding. Short samples fit several equally: then the commonest wins."""
    # Imported where it is used: most files are UTF-8, and the API only looks at the head.
    from charset_normalizer import from_bytes

    matches = list(from_bytes(sample, cp_isolation=LEGACY_ENCODINGS))
    as_good = {
        encoding
        for match in matches
        if match.chaos <= matches[0].chaos + 0.02 and match.coherence >= matches[0].coherence - 0.1
        for encoding in match.could_be_from_charset
    }
    return next((name for name in LEGACY_ENCODINGS if name in as_good), LEGACY_ENCODINGS[0])


def find_dialect(text: str, encoding: str) -> Dialect:
    """Separator and quotes of a sample; a comma where nothing speaks for another one."""
    # Imported where it is used: it takes longer than all else a child imports.
    from clevercsv.detect import Detector

    sample = text[:DIALECT_SAMPLE_CHARS].replace("\0", "\ufffd")
    if len(text) > len(sample):
        sample = sample[: sample.rfind("\n") + 1] or sample
    found = Detector().detect(sample, delimiters=DELIMITERS) if sample.strip() else None
    if found is None:
        return Dialect(encoding)
    # A sample without quotes says nothing of the rows after it, and a backslash escapes only
    # where one stands before a quote: elsewhere it belongs to the cell.
    quotechar = found.quotechar or '"'
    escapes = found.escapechar == "\\" and f"\\{quotechar}" in sample
    return Dialect(encoding, found.delimiter or ",", quotechar, "\\" if escapes else None)
