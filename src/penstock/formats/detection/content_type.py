"""Detect the type of a file by its content. Names and media types are ignored."""

from __future__ import annotations

import re
import zipfile

from penstock.formats.detection.encodings import marked_encoding
from penstock.formats.records.blocks import find_blocks
from penstock.model.errors import BadInput
from penstock.model.text.xml_prologue import skip_prologue

ACCEPTED = (
    "Accepted are CSV, TSV and other delimited text, Excel (xlsx, xlsm, xls, XML 2003), "
    "OpenDocument (ods), JSON, NDJSON, XML and tables in HTML, also inside gzip or zip"
)
HEAD_BYTES = 64 * 1024
ZIP, GZIP, OLE, TEXT, HTML, BLOCKS = "zip", "gzip", "ole", "text", "html", "blocks"

_CONTAINERS = (
    (b"PK\x03\x04", ZIP),
    (b"PK\x05\x06", ZIP),
    (b"\x1f\x8b", GZIP),
    (b"\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1", OLE),
    # Workbooks of Excel 5 and before may have no container.
    (b"\x09\x08", OLE),
    (b"\x09\x04", OLE),
    (b"\x09\x02", OLE),
)
# A script that sends a workbook may print a line break or a byte order mark before it.
_ZIP_AFTER_BLANKS = re.compile(rb"(?:\xef\xbb\xbf|[\r\n\t ]){1,64}PK\x03\x04")
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
# Both are searched after the prologue.
_SVG = re.compile(r"<svg\b", re.I)
_HTML = re.compile(
    r"<(!doctype html|html|head|body|meta|style|title|center|font|table|section|main|nav|form|div)"
    r"\b",
    re.I,
)
_XML = re.compile(r"\s*<(\?xml\b|!--|!DOCTYPE\b|[A-Za-z_][\w.:-]*[\s/>])")
_INLINE = re.compile(r"\s*<(a|b|i|u|p|br|img|span|strong|em|h[1-6]|li|ul)[\s/>]", re.I)
_XML2003 = re.compile(
    r"<\?mso-application\s[^>]{0,40}Excel\.Sheet|<(\w++:)?Workbook\s[^<>]{0,2000}"
    r"urn:schemas-microsoft-com:office:spreadsheet"
)
_MAIL = re.compile(r"(MIME-Version:|Content-Type:\s*multipart/)", re.I)
_EDI = re.compile(r"UNA.{6}\s*UNB\+|UNB\+UNO|UNH\+\w+\+|ISA\*\d\d\*")
_SQL = re.compile(
    r"^[ \t]*+(INSERT\s++(IGNORE\s++)?INTO\s++[\w`\"\[\].]++\s*+(\([^()]{0,4000}+\)\s*+)?"
    r"(VALUES|SELECT)\b"
    r"|CREATE\s++TABLE\s++(IF\s++NOT\s++EXISTS\s++)?[\w`\"\[\].]++\s*+\("
    r"|COPY\s++[\w\".]++.{0,2000}FROM\s++stdin)",
    re.I | re.M,
)
_JSON = re.compile(r"\s*[\[{]")
_JSON_GOES_ON = re.compile(r'\s*[\[{]\s*(["\[\]{}\-0-9]|true|false|null|NaN|$)')
_CONTROLS = bytes(set(range(32)) - set(b"\t\n\v\f\r\x1a\x1b\x1c\x1d\x1e\x1f\x01"))
# Text may contain a few control characters; in random bytes a tenth are.
_MAX_CONTROL_SHARE = 0.05
_MIN_CONTROLS = 4


_REFUSED_TEXTS = (
    (_MAIL, "a web archive or a mail (MHTML): open it in a spreadsheet and save it as xlsx"),
    (_EDI, "an EDI message (EDIFACT or X12): ask the sender for CSV, Excel or BMEcat"),
    (
        re.compile(r"V[ ;][^\n]{10,130}\r?\n[ABCDEPRSTWZ];[NALX];"),
        "a DATANORM file: ask the sender for CSV, Excel or BMEcat",
    ),
    (
        re.compile(r"\s*[A-Za-z_$][\w$.]{0,60}\(\s*[\[{].{0,200}", re.S),
        "a script that calls a function with data (JSONP): send what stands in the brackets",
    ),
    (re.compile(r"ID;P(WXL|SCALC\d|\r?\n)"), "a SYLK sheet: save it as xlsx"),
)


def kind_of_bytes(head: bytes, name: str = "The file") -> str:
    """``zip``, ``gzip``, ``ole``, ``json``, ``ndjson``, ``xml``, ``xml2003``, ``html``, ``blocks``
    or ``text``; else UNSUPPORTED_TYPE."""
    for signature, kind in _CONTAINERS:
        if head.startswith(signature) and (len(signature) > 2 or kind == GZIP or b"\0" in head[:8]):
            return kind
    for signature, what in _REFUSED:
        if head.startswith(signature):
            raise refused(what, name)
    if _ZIP_AFTER_BLANKS.match(head):
        return ZIP
    encoding = marked_encoding(head)
    if encoding is None:
        # Some programs fill the last block of a text with NULs.
        head = head.rstrip(b"\0") or head
        controls = len(head) - len(head.translate(None, _CONTROLS))
        if controls >= _MIN_CONTROLS and controls > _MAX_CONTROL_SHARE * len(head):
            raise refused("binary data", name)
    return _kind_of_text(head.decode(encoding or "utf-8", "replace").lstrip("\ufeff"), name)


def _kind_of_text(text: str, name: str) -> str:
    start = skip_prologue(text)
    if _SVG.match(text, start):
        raise refused("a picture (SVG)", name)
    if _HTML.match(text, start):
        return HTML
    if _XML.match(text) and not _begins_with_a_cell(text):
        return "xml2003" if _XML2003.search(text) else "xml"
    for pattern, what in _REFUSED_TEXTS:
        if pattern.match(text):
            raise refused(what, name)
    if _SQL.search(text):
        raise refused(
            "a dump of an SQL database: export the table as CSV (SELECT … INTO OUTFILE, \\copy)",
            name,
        )
    if _JSON.match(text):
        lines = [line for line in text.splitlines()[:3] if line.strip()]
        if _JSON_GOES_ON.match(text) or len(lines) < 2:
            several = len(lines) > 1 and all(line.lstrip().startswith("{") for line in lines)
            return "ndjson" if several and lines[0].rstrip().endswith("}") else "json"
    return BLOCKS if find_blocks(text) is not None else TEXT


def _begins_with_a_cell(text: str) -> bool:
    """Whether the text starts with a cell of markup rather than a document."""
    first = text.lstrip().split("\n", 1)[0]
    return _INLINE.match(text) is not None and any(mark in first for mark in ",;\t|")


def kind_of_zip(archive: zipfile.ZipFile, name: str = "The file") -> str:
    """A workbook is a ZIP archive too."""
    # Some writers separate folders by backslashes.
    names = {entry.lower().replace("\\", "/") for entry in archive.namelist()[:20_000]}
    if any(entry.endswith(".iwa") for entry in names) or "index.zip" in names:
        raise refused("a document of Apple's Numbers or Pages: export it as xlsx", name)
    if "xl/workbook.bin" in names:
        return "xlsb"
    if "word/document.xml" in names or "ppt/presentation.xml" in names:
        raise refused("a Word or PowerPoint document", name)
    if any(entry.startswith("xl/") and entry.endswith(".xml") for entry in names):
        return "xlsx"
    if "content.xml" in names and ("mimetype" in names or "meta-inf/manifest.xml" in names):
        return "ods"
    return ZIP


def refused(what: str, name: str = "The file") -> BadInput:
    return BadInput("UNSUPPORTED_TYPE", f"{name} seems to be {what}. {ACCEPTED}", seems=what)
