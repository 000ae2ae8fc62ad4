"""The parts of an xlsx workbook besides its cells: sheets, styles, shared strings."""

from __future__ import annotations

import posixpath
import re
import zipfile
import zlib
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field
from typing import IO, Any, cast
from xml.parsers import expat

from penstock.formats.records.xml_text import safe_parser
from penstock.formats.sheets.grid import SheetInfo
from penstock.formats.sheets.numbers import (
    GENERAL,
    built_in_format,
    kind_of_format,
    words_of_format,
)
from penstock.formats.sheets.utf16_part import encoding_of_part, open_as_utf8
from penstock.formats.source import corrupt
from penstock.model.errors import BadInput

READ_BYTES = 256 * 1024
_MAX_MERGES = 5000
_ESCAPED = re.compile(r"_x([0-9A-Fa-f]{4})_")
_UNSOLVED = re.compile(rb"</f>\s*+(?:<v\s*+/>|<v></v>)?\s*+</c>")
_CELL = re.compile(rb"<(?:\w+:)?(?:v|t)[ >]")
_MERGE = re.compile(rb'<(?:\w+:)?mergeCell\s[^<>]*?ref="([A-Z]{1,3}\d{1,7}:[A-Z]{1,3}\d{1,7})"')
_HIDDEN_ROW = re.compile(rb'<(?:\w+:)?row\s(?=[^<>]*\bhidden="(?:1|true)")[^<>]*?\br="(\d{1,7})"')
_HIDDEN_COLUMN = re.compile(rb'<(?:\w+:)?col\s(?=[^<>]*\bhidden="(?:1|true)")([^<>]*+)>')
_ROW = re.compile(rb"<(?:\w+:)?row[ >]")
# Fuller rows are not searched for.
_WIDE = 8
_OVERLAP = 400


def local(name: str) -> str:
    return name.rpartition(":")[2]


def parse(
    file: IO[bytes], start: Callable[[str, dict[str, str]], Any], end: Callable[[str], Any],
    text: Callable[[str], Any],
) -> Iterator[None]:  # fmt: skip
    """Feed a part of the workbook to handlers; yields after every block."""
    parser = safe_parser()
    parser.StartElementHandler = start
    parser.EndElementHandler = end
    parser.CharacterDataHandler = text
    try:
        while block := file.read(READ_BYTES):
            parser.Parse(block, False)
            yield
        parser.Parse(b"", True)
        yield
    except (expat.ExpatError, zipfile.BadZipFile, zlib.error, EOFError) as error:
        raise corrupt("workbook", error) from error


@dataclass(slots=True)
class Book:
    """``formats`` is the kind of number format by style, ``words`` the text that it adds."""

    archive: zipfile.ZipFile
    paths: list[str] = field(default_factory=list)
    sheets: list[SheetInfo] = field(default_factory=list)
    date_1904: bool = False
    formats: list[str] = field(default_factory=list)
    words: list[str] = field(default_factory=list)
    strings_path: str | None = None
    styles_path: str | None = None

    def part(self, path: str) -> IO[bytes]:
        try:
            file = self.archive.open(path)
            encoding = encoding_of_part(cast(zipfile.ZipExtFile, file).peek(4)[:4])
            return open_as_utf8(file, encoding) if encoding else file
        except (KeyError, zipfile.BadZipFile, NotImplementedError, RuntimeError) as error:
            raise corrupt("workbook", error) from error


def open_book(archive: zipfile.ZipFile) -> Book:
    book = Book(archive)
    names = {name.lower().replace("\\", "/"): name for name in archive.namelist()}
    main = _workbook_path(book, names)
    folder, file = posixpath.split(main.replace("\\", "/"))
    related = relations(book, names.get(f"{folder}/_rels/{file}.rels".lower(), ""), folder)
    _read_workbook(book, main, related, names)
    for target, kind in related.values():
        if kind.endswith("/sharedStrings"):
            book.strings_path = names.get(target.lower())
        elif kind.endswith("/styles"):
            book.styles_path = names.get(target.lower())
    if book.styles_path:
        _read_styles(book)
    return book


def _workbook_path(book: Book, names: Mapping[str, str]) -> str:
    if "_rels/.rels" in names:
        for target, kind in relations(book, names["_rels/.rels"], "").values():
            if kind.endswith("/officeDocument") and target.lower() in names:
                return names[target.lower()]
    if "xl/workbook.xml" in names:
        return names["xl/workbook.xml"]
    raise corrupt("workbook", "it has no list of sheets")


def relations(book: Book, path: str, folder: str) -> dict[str, tuple[str, str]]:
    found: dict[str, tuple[str, str]] = {}

    def start(name: str, attributes: dict[str, str]) -> None:
        if local(name) == "Relationship" and attributes.get("TargetMode") != "External":
            target = attributes.get("Target", "").replace("\\", "/")
            place = target[1:] if target.startswith("/") else posixpath.join(folder, target)
            found[attributes.get("Id", "")] = (
                posixpath.normpath(place), attributes.get("Type", ""),
            )  # fmt: skip

    if path:
        with book.part(path) as file:
            for _ in parse(file, start, lambda name: None, lambda data: None):
                pass
    return found


def _read_workbook(
    book: Book, path: str, related: Mapping[str, tuple[str, str]], names: Mapping[str, str]
) -> None:
    def start(name: str, attributes: dict[str, str]) -> None:
        match local(name):
            case "workbookPr":
                book.date_1904 = attributes.get("date1904") in ("1", "true")
            case "sheet":
                reference = next(
                    (value for key, value in attributes.items() if key.endswith(":id")), ""
                )
                target, kind = related.get(reference, ("", ""))
                if kind.endswith("/worksheet") and target.lower() in names:
                    book.paths.append(names[target.lower()])
                    visible = attributes.get("state", "visible") == "visible"
                    number = len(book.sheets) + 1
                    book.sheets.append(SheetInfo(attributes.get("name", ""), number, visible))

    with book.part(path) as file:
        for _ in parse(file, start, lambda name: None, lambda data: None):
            pass
    if not book.sheets:
        raise BadInput("EMPTY_FILE", "The workbook has no sheets with cells")


def _read_styles(book: Book) -> None:
    codes: dict[int, str] = {}
    inside = [""]

    def start(name: str, attributes: dict[str, str]) -> None:
        kind = local(name)
        if kind in ("cellXfs", "cellStyleXfs"):
            inside[0] = kind
        elif kind == "numFmt" and attributes.get("numFmtId", "").isdecimal():
            codes[int(attributes["numFmtId"])] = attributes.get("formatCode", "")
        elif kind == "xf" and inside[0] == "cellXfs":
            number = attributes.get("numFmtId", "0")
            id_ = int(number) if number.isdecimal() else 0
            code = codes.get(id_) or built_in_format(id_)
            book.formats.append(kind_of_format(code) if len(code) < 200 else GENERAL)
            book.words.append(words_of_format(code) if len(code) < 200 else "")

    with book.part(book.styles_path or "") as file:
        for _ in parse(file, start, lambda name: None, lambda data: None):
            pass


def survey_sheet(book: Book, sheet: SheetInfo, path: str) -> None:
    """Survey a sheet by its bytes, without parsing its cells."""
    kept = b""
    try:
        with book.part(path) as file:
            while block := file.read(READ_BYTES):
                sheet.cells += len(_CELL.findall(block))
                if sheet.widest < _WIDE:
                    rows = _ROW.split(block)
                    sheet.widest = max(sheet.widest, *(len(_CELL.findall(row)) for row in rows))
                _look(sheet, kept + block)
                kept = block[-_OVERLAP:]
    except (zipfile.BadZipFile, zlib.error, EOFError) as error:
        raise corrupt("workbook", error) from error
    sheet.merges = list(dict.fromkeys(sheet.merges))
    sheet.hidden_rows = sorted(set(sheet.hidden_rows))
    sheet.hidden_columns = sorted(set(sheet.hidden_columns))


def _look(sheet: SheetInfo, block: bytes) -> None:
    if b"</f>" in block:
        sheet.unsolved += len(_UNSOLVED.findall(block))
    if b"ergeCell" in block and len(sheet.merges) < _MAX_MERGES:
        for found in _MERGE.finditer(block):
            first, last = found[1].decode().split(":")
            (top, left), (bottom, right) = place_of(first), place_of(last)
            sheet.merges.append((top, left, bottom, right))
    if b"hidden=" not in block:
        return
    sheet.hidden_rows += [int(found[1]) for found in _HIDDEN_ROW.finditer(block)][:1000]
    for column in _HIDDEN_COLUMN.finditer(block):
        bounds = dict(re.findall(rb'(min|max)="(\d{1,5})"', column[1]))
        low, high = int(bounds.get(b"min", b"1")), int(bounds.get(b"max", b"0"))
        sheet.hidden_columns += range(low, min(high, low + 1000) + 1)


def place_of(reference: str) -> tuple[int, int]:
    letters = reference.rstrip("0123456789")
    return int(reference[len(letters) :]) - 1, column_of(letters)


def column_of(letters: str) -> int:
    number = 0
    for letter in letters:
        number = 26 * number + ord(letter) - 64
    return number - 1


def unescaped(text: str) -> str:
    """Decode ``_x000D_``, the escape for characters that XML cannot contain."""
    if "_x" not in text:
        return text
    plain = _ESCAPED.sub(lambda found: chr(int(found[1], 16)), text)
    return "".join("\ufffd" if "\ud800" <= char <= "\udfff" or char == "\0" else char
                   for char in plain)  # fmt: skip
