"""What bytes are, by themselves: no name and no media type is believed."""

from __future__ import annotations

import re
import zipfile

from penstock.formats.encodings import marked_encoding
from penstock.model.errors import BadInput

ACCEPTED = (
    "Accepted are CSV, TSV and other delimited text, Excel (xlsx, xlsm, xls), OpenDocument (ods), "
    "JSON, NDJSON and XML, also inside gzip or zip"
)
HEAD_BYTES = 64 * 1024
ZIP, GZIP, OLE, TEXT = "zip", "gzip", "ole", "text"

_CONTAINERS = (
    (b"PK\x03\x04", ZIP),
    (b"PK\x05\x06", ZIP),
    (b"\x1f\x8b", GZIP),
    (b"\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1", OLE),
    # Workbooks of Excel 5 and before may stand outside of a container.
    (b"\x09\x08", OLE),
    (b"\x09\x04", OLE),
    (b"\x09\x02", OLE),
)
_REFUSED = (
    (b"\x89PNG\r\n\x1a\n", "a PNG picture"),
    (b"\xff\xd8\xff", "a JPEG picture"),
    (b"GIF8", "a GIF picture"),
    (b"RIFF", "a picture, sound or film"),
    (b"%PDF-", "a PDF document"),
    (b"{\\rtf", "an RTF document"),
    (b"7z\xbc\xaf\x27\x1c", "a 7z archive"),
    (b"Rar!\x1a\x07", "a RAR archive"),
    (b"BZh", "a bzip2 archive"),
    (b"\xfd7zXZ\x00", "an XZ archive"),
    (b"\x28\xb5\x2f\xfd", "a Zstandard archive"),
    (b"PAR1", "a Parquet file"),
    (b"SQLite format 3\x00", "an SQLite database"),
    (b"\x7fELF", "a program"),
    (b"MZ\x90", "a program"),
)
_HTML = re.compile(
    r"\s*(<!--.{0,2000}?-->\s*)*<(!doctype html|html|head|body|table|svg)\b", re.I | re.S
)
_XML = re.compile(r"\s*<(\?xml\b|!--|!DOCTYPE\b|[A-Za-z_][\w.:-]*[\s/>])")
_JSON = re.compile(r"\s*[\[{]")
_JSON_GOES_ON = re.compile(r'\s*[\[{]\s*(["\[\]{}\-0-9]|true|false|null|NaN|$)')
_CONTROLS = bytes(set(range(32)) - set(b"\t\n\v\f\r\x1a\x1b\x1c\x1d\x1e\x1f\x01"))
# A text may hold a few stray control characters; bytes at random hold a tenth.
_MOST_CONTROL_SHARE = 0.05
_FEWEST_CONTROLS = 4


def kind_of_bytes(head: bytes, name: str = "The file") -> str:
    """``zip``, ``gzip``, ``ole``, ``json``, ``ndjson``, ``xml`` or ``text``; else
    UNSUPPORTED_TYPE."""
    for signature, kind in _CONTAINERS:
        if head.startswith(signature) and (len(signature) > 2 or kind == GZIP or b"\0" in head[:8]):
            return kind
    for signature, what in _REFUSED:
        if head.startswith(signature):
            raise refused(what, name)
    encoding = marked_encoding(head)
    if encoding is None:
        controls = len(head) - len(head.translate(None, _CONTROLS))
        if controls >= _FEWEST_CONTROLS and controls > _MOST_CONTROL_SHARE * len(head):
            raise refused("binary data", name)
    return _kind_of_text(head.decode(encoding or "utf-8", "replace").lstrip("\ufeff"), name)


def _kind_of_text(text: str, name: str) -> str:
    if _HTML.match(text):
        raise refused("an HTML page", name)
    if _XML.match(text):
        return "xml"
    if _JSON.match(text):
        lines = [line for line in text.splitlines()[:3] if line.strip()]
        if _JSON_GOES_ON.match(text) or len(lines) < 2:
            several = len(lines) > 1 and all(line.lstrip().startswith("{") for line in lines)
            return "ndjson" if several and lines[0].rstrip().endswith("}") else "json"
    return TEXT


def kind_of_zip(archive: zipfile.ZipFile, name: str = "The file") -> str:
    """A workbook is a ZIP archive too."""
    names = {entry.lower() for entry in archive.namelist()[:20_000]}
    if "xl/workbook.bin" in names:
        raise refused("an Excel binary workbook (xlsb): save it as xlsx", name)
    if "word/document.xml" in names or "ppt/presentation.xml" in names:
        raise refused("a Word or PowerPoint document", name)
    if any(entry.startswith("xl/") and entry.endswith(".xml") for entry in names):
        return "xlsx"
    if "content.xml" in names and ("mimetype" in names or "meta-inf/manifest.xml" in names):
        return "ods"
    return ZIP


def refused(what: str, name: str = "The file") -> BadInput:
    return BadInput("UNSUPPORTED_TYPE", f"{name} seems to be {what}. {ACCEPTED}", seems=what)
