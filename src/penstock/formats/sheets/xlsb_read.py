"""Read xlsb, the binary workbooks of Excel 2007 and later."""

from __future__ import annotations

import struct
import zipfile
from collections.abc import Callable, Iterator, Mapping
from typing import IO, NamedTuple

from penstock.formats.read_options import ReadOptions, ReadReport
from penstock.formats.sheets import xlsb_parts as parts
from penstock.formats.sheets.grid import (
    GridRow,
    SheetInfo,
    cell_error,
    choose_sheet,
    plan_grid,
    table_pieces,
)
from penstock.formats.sheets.numbers import number_text
from penstock.formats.sheets.xlsx_book import Book, relations
from penstock.formats.sheets.xlsx_cells import cell_too_large, too_many_cells
from penstock.formats.source import Source, check_zip, corrupt, open_zip
from penstock.formats.tables import Cursor, Piece, Problems

_ERRORS = {0x00: "#NULL!", 0x07: "#DIV/0!", 0x0F: "#VALUE!", 0x17: "#REF!", 0x1D: "#NAME?",
           0x24: "#NUM!", 0x2A: "#N/A"}  # fmt: skip
_MAX_COLUMN = 16_384
# About so many bytes of a sheet hold one cell; sheets are compared by their size.
_BYTES_PER_CELL = 16


class _Binary(NamedTuple):
    archive: zipfile.ZipFile
    sheets: list[SheetInfo]
    paths: list[str]
    strings: list[str]
    styles: list[str]
    from_1904: bool


def read_xlsb(
    source: Source, options: ReadOptions, limits: Mapping[str, int], cursor: Cursor
) -> Iterator[Piece]:
    with source.seekable(limits) as file, open_zip(file) as archive:
        check_zip(archive, source.size, limits)
        try:
            yield from _pieces(archive, source, options, limits, cursor)
        except (struct.error, KeyError, RuntimeError, IndexError) as error:
            raise corrupt("workbook", error) from error


def _pieces(
    archive: zipfile.ZipFile, source: Source, options: ReadOptions, limits: Mapping[str, int],
    cursor: Cursor,
) -> Iterator[Piece]:  # fmt: skip
    book = _opened(archive)
    report: ReadReport | None = None
    if cursor is None:
        report = ReadReport("xlsb")
        chosen = choose_sheet(book.sheets, options.sheet, report)
        number = chosen.number - 1
        head = _rows(book, number, limits, Problems())
        plan = {
            "format": "xlsb", "sheet": number, **plan_grid(head, chosen, options, report, limits),
        }  # fmt: skip
    else:
        plan = dict(cursor["plan"])
    problems = Problems(by_row=True)
    rows = _rows(book, plan["sheet"], limits, problems)
    done = cursor["rows"] if cursor else 0
    yield from table_pieces(plan, report, rows, limits, done, source.size, problems)


def _opened(archive: zipfile.ZipFile) -> _Binary:
    names = {name.lower().replace("\\", "/"): name for name in archive.namelist()}
    related = relations(Book(archive), names.get("xl/_rels/workbook.bin.rels", ""), "xl")
    with archive.open(names["xl/workbook.bin"]) as file:
        listed, from_1904 = parts.read_workbook(file)
    sheets: list[SheetInfo] = []
    paths: list[str] = []
    for one in listed:
        target, kind = related.get(one.relation, ("", ""))
        if kind.endswith("/worksheet") and target.lower() in names:
            paths.append(names[target.lower()])
            cells = archive.getinfo(paths[-1]).file_size // _BYTES_PER_CELL
            sheets.append(SheetInfo(one.name, len(sheets) + 1, one.visible, cells))
    return _Binary(
        archive,
        sheets,
        paths,
        _part(archive, names, "xl/sharedstrings.bin", parts.read_shared),
        _part(archive, names, "xl/styles.bin", parts.read_formats),
        from_1904,
    )


def _part(
    archive: zipfile.ZipFile,
    names: Mapping[str, str],
    path: str,
    read: Callable[[IO[bytes]], list[str]],
) -> list[str]:
    if path not in names:
        return []
    with archive.open(names[path]) as file:
        return read(file)


def _rows(
    book: _Binary, number: int, limits: Mapping[str, int], problems: Problems
) -> Iterator[GridRow]:
    row, cells, seen = 0, dict[int, str](), 0
    with book.archive.open(book.paths[number]) as file:
        for kind, content in parts.records(file):
            if kind == parts.ROW:
                if cells:
                    yield row, _line(cells)
                row, cells = struct.unpack_from("<I", content)[0] + 1, {}
            elif parts.BLANK < kind <= parts.FORMULA_ERROR:
                (column,) = struct.unpack_from("<I", content)
                if column >= _MAX_COLUMN:
                    raise corrupt("workbook", f"a cell in column {column:,}")
                text = _text(book, kind, content, (row, column + 1), problems)
                if len(text) > limits["cell_bytes"]:
                    raise cell_too_large(row, limits["cell_bytes"])
                if text:
                    cells[column] = text
                    seen += 1
                if seen > limits["cells"]:
                    raise too_many_cells(limits["cells"])
    if cells:
        yield row, _line(cells)


def _line(cells: Mapping[int, str]) -> list[str]:
    line = [""] * (max(cells) + 1)
    for column, text in cells.items():
        line[column] = text
    return line


def _text(
    book: _Binary, kind: int, content: bytes, place: tuple[int, int], problems: Problems
) -> str:
    match kind:
        case parts.SHARED:
            place_of_text: int = struct.unpack_from("<I", content, 8)[0]
            return book.strings[place_of_text]
        case parts.TEXT | parts.FORMULA_TEXT:
            return parts.wide_text(content, 8)[0]
        case parts.BOOL | parts.FORMULA_BOOL:
            return "TRUE" if content[8] else "FALSE"
        case parts.ERROR | parts.FORMULA_ERROR:
            said = _ERRORS.get(content[8], "#ERROR")
            problems.add(cell_error(*place, said))
            return said
        case parts.RK:
            value = parts.short_real_of(content, 8)
        case _:
            value = parts.real_of(content, 8)
    return number_text(repr(value), parts.style_of(content, book.styles), book.from_1904)
