"""Write XLSX as a stream, in constant memory.

Text is stored inline and marked as text, so that nothing is run as a formula and leading zeros
stay. Cells with problems are coloured and have a comment.
"""

from __future__ import annotations

import re
import tempfile
import zipfile
from collections.abc import Collection, Iterable, Sequence
from dataclasses import dataclass, field
from decimal import Decimal
from typing import IO, Any
from xml.sax.saxutils import escape

import orjson

from penstock.model.errors import BadInput
from penstock.model.export import ExportRow

MAX_ROWS, MAX_COLUMNS, MAX_CELL_LENGTH = 1_048_576, 16_384, 32_767
# Spreadsheets become slow with more comments; further cells are only coloured.
MAX_COMMENTS = 10_000
# Level 1 is four times as fast as the default, for files a third larger.
_LEVEL = 1
_TEXT, _HEAD, _BAD, _ODD, _MONEY = 1, 2, 3, 4, 5
# Spreadsheets keep fifteen digits.
_MOST_DIGITS = 15
_AMOUNT = re.compile(r"-?(?:0|[1-9][0-9]*)(?:\.[0-9]+)?")
# Characters that XML cannot contain are written as `_x0007_`; text that looks like that is escaped.
_ILLEGAL = re.compile(
    "[\x00-\x08\x0b\x0c\x0e-\x1f\r\ud800-\udfff\ufffe\uffff]|_(?=x[0-9A-Fa-f]{4}_)"
)
_SPECIAL = re.compile("[&<\x00-\x08\x0b\x0c\x0e-\x1f\r\ud800-\udfff\ufffe\uffff]|_x|]]>")
# In cells that stand a line each: that, and spaces that begin or end one.
_CARE = re.compile(rf"(?m){_SPECIAL.pattern}|^[^\S\n]|[^\S\n]$")
_HEADER = '<?xml version="1.0" encoding="UTF-8" standalone="yes"?>\n'
_MAIN = "http://schemas.openxmlformats.org/spreadsheetml/2006/main"
_OFFICE = "http://schemas.openxmlformats.org/officeDocument/2006/relationships"
_PACKAGE = "http://schemas.openxmlformats.org/package/2006"


def to_xml(text: str) -> str:
    if not _SPECIAL.search(text):
        return text
    masked = _ILLEGAL.sub(lambda m: f"_x{ord(m[0]):04X}_", text)
    return escape(masked)


def column_name(number: int) -> str:
    """1 is A, 27 is AA."""
    name = ""
    while number:
        number, rest = divmod(number - 1, 26)
        name = chr(65 + rest) + name
    return name


@dataclass
class _Comments:
    """Comments of one sheet, kept in a temporary file until the sheet ends."""

    count: int = 0
    texts: IO[str] = field(default_factory=lambda: _spool())
    shapes: IO[str] = field(default_factory=lambda: _spool())

    def add(self, row: int, column: int, name: str, text: str) -> None:
        self.count += 1
        self.texts.write(
            f'<comment ref="{name}{row}" authorId="0"><text><r><t xml:space="preserve">'
            f"{to_xml(text[:1000])}</t></r></text></comment>"
        )
        self.shapes.write(
            f'<v:shape id="_x0000_s{1024 + self.count}" type="#_x0000_t202" fillcolor="#ffffe1"'
            ' style="position:absolute;visibility:hidden;width:220pt;height:60pt">'
            '<v:fill color2="#ffffe1"/><x:ClientData ObjectType="Note"><x:MoveWithCells/>'
            f"<x:SizeWithCells/><x:AutoFill>False</x:AutoFill><x:Row>{row - 1}</x:Row>"
            f"<x:Column>{column}</x:Column></x:ClientData></v:shape>"
        )


def _spool() -> IO[str]:
    return tempfile.SpooledTemporaryFile(1 << 20, "w+", encoding="utf-8")


class _Sink:
    """Buffers the archive until it is sent. Not seekable."""

    def __init__(self) -> None:
        self._pieces: list[bytes] = []

    def write(self, data: bytes) -> int:
        self._pieces.append(bytes(data))
        return len(data)

    def flush(self) -> None:
        pass

    def taken(self) -> bytes:
        pieces, self._pieces = self._pieces, []
        return b"".join(pieces)


class XlsxWriter:
    """A workbook in pieces: head, pages, end. After a sheet's last row another sheet starts."""

    media_type = "application/vnd.openxmlformats-officedocument.spreadsheetml.sheet"
    extension = "xlsx"
    marks = True

    def __init__(self, columns: Sequence[str], amounts: Collection[str] = ()) -> None:
        if len(columns) > MAX_COLUMNS:
            raise BadInput(
                "TOO_MANY_COLUMNS",
                f"A sheet has at most {MAX_COLUMNS:,} columns, this is {len(columns):,}. "
                "Export as CSV.",
            )
        self._columns = list(columns)
        self._amounts = [place for place, name in enumerate(columns) if name in amounts]
        self._places = {name: place for place, name in enumerate(self._columns)}
        self._names = [column_name(place + 1) for place in range(len(self._columns))]
        self._sink = _Sink()
        self._zip = zipfile.ZipFile(
            self._sink, "w", zipfile.ZIP_DEFLATED, compresslevel=_LEVEL, allowZip64=True
        )  # type: ignore[call-overload]
        self._sheets = 0
        self._row = 0
        self._sheet: IO[bytes] | None = None
        self._comments = _Comments()
        self._commented: list[int] = []

    def head(self) -> bytes:
        self._begin_sheet()
        return self._sink.taken()

    def page(self, rows: Iterable[ExportRow]) -> bytes:
        lines: list[str] = []
        for row in rows:
            if self._row == MAX_ROWS:
                self._write(lines)
                lines.clear()
                self._end_sheet()
                self._begin_sheet()
            self._row += 1
            lines.append(self._line(row))
        self._write(lines)
        return self._sink.taken()

    def end(self) -> bytes:
        self._end_sheet()
        for name, text in self._frame():
            self._zip.writestr(name, _HEADER + text)
        self._zip.close()
        return self._sink.taken()

    def _write(self, lines: list[str]) -> None:
        assert self._sheet is not None
        self._sheet.write("".join(lines).encode("utf-8"))

    def _line(self, row: ExportRow) -> str:
        number = str(self._row)
        if self._amounts:
            row = self._with_amounts(row)
        if not row.marks and _is_plain(row.cells):
            return _plain_line(number, self._names, row.cells)
        cells = [f'<row r="{number}">']
        marks = self._marks(row) if row.marks else {}
        for place, value in enumerate(row.cells):
            mark = marks.get(place)
            if value is None and mark is None:
                continue
            cells.append(_cell(f"{self._names[place]}{number}", value, mark))
        cells.append("</row>")
        return "".join(cells)

    def _with_amounts(self, row: ExportRow) -> ExportRow:
        """The row with the texts of amounts as numbers. A text that is not exactly how a number is
        written, or that has more digits than a spreadsheet keeps, stays a text."""
        cells = list(row.cells)
        for place in self._amounts:
            text = cells[place] if place < len(cells) else None
            if type(text) is str and len(text) <= _MOST_DIGITS and _AMOUNT.fullmatch(text):
                cells[place] = Decimal(text)
        return ExportRow(cells, row.marks)

    def _marks(self, row: ExportRow) -> dict[int, int]:
        """One mark per cell, even with several problems."""
        styles: dict[int, int] = {}
        said: dict[int, dict[str, None]] = {}
        for mark in row.marks:
            place = self._places.get(mark.column)
            if place is None:
                continue
            styles[place] = _BAD if mark.is_error else styles.get(place, _ODD)
            said.setdefault(place, {})[mark.message] = None
        for place, messages in said.items():
            if self._comments.count < MAX_COMMENTS:
                self._comments.add(self._row, place, self._names[place], "\n".join(messages))
        return styles

    def _begin_sheet(self) -> None:
        self._sheets += 1
        self._row = 1
        info = zipfile.ZipInfo(f"xl/worksheets/sheet{self._sheets}.xml", (1980, 1, 1, 0, 0, 0))
        info.compress_type = zipfile.ZIP_DEFLATED
        # The archive can write one entry at a time, so comments follow after the sheet.
        self._sheet = self._zip.open(info, "w", force_zip64=True)
        head = "".join(
            f'<c r="{name}1" s="{_HEAD}" t="inlineStr"><is><t xml:space="preserve">'
            f"{to_xml(column[:MAX_CELL_LENGTH])}</t></is></c>"
            for name, column in zip(self._names, self._columns, strict=True)
        )
        widths = (
            f'<cols><col min="1" max="{len(self._columns)}" width="18" customWidth="1"/></cols>'
        )
        self._sheet.write(
            (
                f'{_HEADER}<worksheet xmlns="{_MAIN}" xmlns:r="{_OFFICE}"><sheetViews>'
                '<sheetView workbookViewId="0"><pane ySplit="1" topLeftCell="A2"'
                ' activePane="bottomLeft" state="frozen"/></sheetView></sheetViews>'
                f'{widths if self._columns else ""}<sheetData><row r="1">{head}</row>'
            ).encode()
        )

    def _end_sheet(self) -> None:
        assert self._sheet is not None
        number, comments = self._sheets, self._comments
        last = self._names[-1] if self._names else "A"
        tail = f'</sheetData><autoFilter ref="A1:{last}{self._row}"/>'
        if comments.count:
            tail += '<legacyDrawing r:id="rId1"/>'
        self._sheet.write((tail + "</worksheet>").encode())
        self._sheet.close()
        if comments.count:
            self._commented.append(number)
            self._write_comments(number)
        comments.texts.close()
        comments.shapes.close()
        self._comments = _Comments()

    def _write_comments(self, number: int) -> None:
        relations = (
            f'<Relationship Id="rId1" Type="{_OFFICE}/vmlDrawing"'
            f' Target="../drawings/vmlDrawing{number}.vml"/>'
            f'<Relationship Id="rId2" Type="{_OFFICE}/comments" Target="../comments{number}.xml"/>'
        )
        self._zip.writestr(
            f"xl/worksheets/_rels/sheet{number}.xml.rels", _HEADER + _relations(relations)
        )
        self._copy(
            f"xl/comments{number}.xml",
            f'{_HEADER}<comments xmlns="{_MAIN}"><authors><author>Penstock</author></authors>'
            "<commentList>",
            self._comments.texts,
            "</commentList></comments>",
        )
        self._copy(
            f"xl/drawings/vmlDrawing{number}.vml",
            '<xml xmlns:v="urn:schemas-microsoft-com:vml"'
            ' xmlns:o="urn:schemas-microsoft-com:office:office"'
            ' xmlns:x="urn:schemas-microsoft-com:office:excel"><o:shapelayout v:ext="edit">'
            f'<o:idmap v:ext="edit" data="{number}"/></o:shapelayout><v:shapetype'
            ' id="_x0000_t202" coordsize="21600,21600" o:spt="202"'
            ' path="m,l,21600r21600,l21600,xe"><v:stroke joinstyle="miter"/></v:shapetype>',
            self._comments.shapes,
            "</xml>",
        )

    def _copy(self, name: str, head: str, middle: IO[str], tail: str) -> None:
        middle.seek(0)
        with self._zip.open(name, "w") as entry:
            entry.write(head.encode())
            while piece := middle.read(1 << 16):
                entry.write(piece.encode())
            entry.write(tail.encode())

    def _frame(self) -> Iterable[tuple[str, str]]:
        """The remaining parts of a workbook."""
        numbers = range(1, self._sheets + 1)
        sheets = "".join(
            f'<sheet name="Results{"" if n == 1 else f" {n}"}" sheetId="{n}" r:id="rId{n}"/>'
            for n in numbers
        )
        yield (
            "xl/workbook.xml",
            (f'<workbook xmlns="{_MAIN}" xmlns:r="{_OFFICE}"><sheets>{sheets}</sheets></workbook>'),
        )
        yield (
            "xl/_rels/workbook.xml.rels",
            _relations(
                "".join(
                    f'<Relationship Id="rId{n}" Type="{_OFFICE}/worksheet"'
                    f' Target="worksheets/sheet{n}.xml"/>'
                    for n in numbers
                )
                + f'<Relationship Id="rId0" Type="{_OFFICE}/styles" Target="styles.xml"/>'
            ),
        )
        yield "xl/styles.xml", _STYLES
        yield (
            "_rels/.rels",
            _relations(
                f'<Relationship Id="rId1" Type="{_OFFICE}/officeDocument"'
                ' Target="xl/workbook.xml"/>'
            ),
        )
        yield "[Content_Types].xml", self._content_types()

    def _content_types(self) -> str:
        kind = "application/vnd.openxmlformats-officedocument.spreadsheetml"
        parts = [("xl/workbook.xml", "sheet.main"), ("xl/styles.xml", "styles")]
        parts += [(f"xl/worksheets/sheet{n}.xml", "worksheet") for n in range(1, self._sheets + 1)]
        parts += [(f"xl/comments{n}.xml", "comments") for n in self._commented]
        overrides = "".join(
            f'<Override PartName="/{name}" ContentType="{kind}.{what}+xml"/>'
            for name, what in parts
        )
        return (
            f'<Types xmlns="{_PACKAGE}/content-types"><Default Extension="rels"'
            ' ContentType="application/vnd.openxmlformats-package.relationships+xml"/>'
            '<Default Extension="xml" ContentType="application/xml"/><Default Extension="vml"'
            f' ContentType="application/vnd.openxmlformats-officedocument.vmlDrawing"/>{overrides}'
            "</Types>"
        )


def _relations(inner: str) -> str:
    return f'<Relationships xmlns="{_PACKAGE}/relationships">{inner}</Relationships>'


def _is_plain(cells: Sequence[Any]) -> bool:
    """Whether no cell needs marking, escaping or shortening."""
    texts = [cell for cell in cells if type(cell) is str]
    lines = "\n".join(texts)
    if len(lines) > MAX_CELL_LENGTH or lines.count("\n") >= max(len(texts), 1):
        return False
    return _CARE.search(lines) is None


def _plain_line(number: str, names: Sequence[str], cells: Sequence[Any]) -> str:
    made = [
        f'<c r="{name}{number}" s="{_TEXT}" t="inlineStr"><is><t>{value}</t></is></c>'
        if type(value) is str
        else _cell(f"{name}{number}", value, None)
        for name, value in zip(names, cells, strict=False)
        if value is not None
    ]
    return f'<row r="{number}">{"".join(made)}</row>'


def _cell(place: str, value: Any, mark: int | None) -> str:
    if type(value) is Decimal:
        return f'<c r="{place}" s="{_MONEY if mark is None else mark}"><v>{value:f}</v></c>'
    if type(value) in (int, float):
        style = "" if mark is None else f' s="{mark}"'
        return f'<c r="{place}"{style}><v>{value!r}</v></c>'
    if value is None:
        return f'<c r="{place}" s="{mark}"/>'
    if type(value) is bool:
        return f'<c r="{place}" s="{mark or 0}" t="b"><v>{int(value)}</v></c>'
    text = value if isinstance(value, str) else orjson.dumps(value).decode()
    if len(text) > MAX_CELL_LENGTH:
        text = text[: MAX_CELL_LENGTH - 1] + "…"
    return (
        f'<c r="{place}" s="{mark or _TEXT}" t="inlineStr"><is><t xml:space="preserve">'
        f"{to_xml(text)}</t></is></c>"
    )


def _style(fill: int, font: int = 0) -> str:
    return (
        f'<xf numFmtId="49" fontId="{font}" fillId="{fill}" borderId="0" xfId="0"'
        ' applyNumberFormat="1" applyFill="1" applyFont="1"/>'
    )


def _fill(colour: str) -> str:
    return (
        f'<fill><patternFill patternType="solid"><fgColor rgb="FF{colour}"/></patternFill></fill>'
    )


_STYLES = (
    f'<styleSheet xmlns="{_MAIN}"><numFmts count="1">'
    '<numFmt numFmtId="164" formatCode="0.00####"/></numFmts>'
    '<fonts count="2"><font><sz val="11"/><name val="Calibri"/></font>'
    '<font><b/><sz val="11"/><name val="Calibri"/></font></fonts><fills count="5">'
    '<fill><patternFill patternType="none"/></fill>'
    '<fill><patternFill patternType="gray125"/></fill>'
    f"{_fill('E8EDF3')}{_fill('F8C9C4')}{_fill('FCEBB6')}</fills>"
    '<borders count="1"><border><left/><right/><top/><bottom/><diagonal/></border></borders>'
    '<cellStyleXfs count="1"><xf numFmtId="0" fontId="0" fillId="0" borderId="0"/></cellStyleXfs>'
    '<cellXfs count="6"><xf numFmtId="0" fontId="0" fillId="0" borderId="0" xfId="0"/>'
    f"{_style(0)}{_style(2, 1)}{_style(3)}{_style(4)}"
    '<xf numFmtId="164" fontId="0" fillId="0" borderId="0" xfId="0" applyNumberFormat="1"/>'
    "</cellXfs>"
    '<cellStyles count="1"><cellStyle name="Normal" xfId="0" builtinId="0"/></cellStyles>'
    "</styleSheet>"
)
