"""Read xls, the binary workbooks of Excel 97 and before."""

from __future__ import annotations

import os
import struct
from collections import Counter
from collections.abc import Iterator, Mapping
from typing import Any

import xlrd

from penstock.formats.detection.content_type import refused
from penstock.formats.read_options import ReadOptions, ReadReport
from penstock.formats.sheets.grid import (
    GridRow,
    SheetInfo,
    cell_error,
    choose_sheet,
    hidden_row,
    plan_grid,
    report_number_formats,
    table_pieces,
)  # fmt: skip
from penstock.formats.sheets.numbers import (
    ROWS_LOOKED_AT,
    kind_of_format,
    number_text,
    words_beside,
    words_of_format,
)
from penstock.formats.sheets.ole import SIGNATURE, OleFile
from penstock.formats.source import Source, corrupt, protected
from penstock.formats.tables import Cursor, Piece, Problems

# Exceptions of the parser for damaged files.
_DAMAGE = (xlrd.XLRDError, AssertionError, struct.error, IndexError,
           KeyError, ValueError, TypeError, AttributeError, OverflowError, UnicodeError,
           RecursionError, NotImplementedError, ZeroDivisionError)  # fmt: skip


def read_xls(
    source: Source, options: ReadOptions, limits: Mapping[str, int], cursor: Cursor
) -> Iterator[Piece]:
    book = _opened(source)
    report: ReadReport | None = None
    if cursor is None:
        report = ReadReport("xls")
        sheets = [_info(book, number) for number in range(book.nsheets)]
        chosen = choose_sheet(sheets, options.sheet, report)
        number = chosen.number - 1
        head = _rows(book, number, Problems())
        plan = {
            "format": "xls", "sheet": number,
            **plan_grid(head, chosen, options, report, limits),
        }  # fmt: skip
        report_number_formats(report, plan, _words(book, number, plan["first_row"]))
    else:
        plan = dict(cursor["plan"])
    problems = Problems(by_row=True)
    rows = _rows(book, plan["sheet"], problems)
    done = cursor["rows"] if cursor else 0
    yield from table_pieces(plan, report, rows, limits, done, source.size, problems)


def _opened(source: Source) -> Any:
    with source.open() as file:
        content = file.read()
    if content.startswith(SIGNATURE):
        content = _workbook(OleFile(content))
    try:
        with open(os.devnull, "w") as nowhere:
            return xlrd.open_workbook(file_contents=content, formatting_info=True, logfile=nowhere)
    except _DAMAGE as error:
        said = str(error)
        if "encrypted" in said.lower():
            raise protected("The workbook") from error
        raise corrupt("workbook", said or type(error).__name__) from error


def _workbook(container: OleFile) -> bytes:
    """Read the container ourselves, since the parser's code does not detect cycles."""
    if container.stream("EncryptedPackage") is not None:
        raise protected("The workbook")
    content = container.stream("Workbook", "Book")
    if content is None:
        raise refused("an old Office document that is not a workbook")
    return content


def _info(book: Any, number: int) -> SheetInfo:
    sheet = book.sheet_by_index(number)
    empty = (xlrd.XL_CELL_EMPTY, xlrd.XL_CELL_BLANK)
    full = [sum(kind not in empty for kind in sheet.row_types(row)) for row in range(sheet.nrows)]
    return SheetInfo(
        sheet.name, number + 1, sheet.visibility == 0, sum(full), widest=max(full, default=0),
        merges=[(top, left, bottom - 1, right - 1)
                for top, bottom, left, right in sheet.merged_cells[:5000]],
        hidden_rows=sorted(row + 1 for row, info in sheet.rowinfo_map.items() if info.hidden),
        hidden_columns=sorted(c + 1 for c, info in sheet.colinfo_map.items() if info.hidden),
    )  # fmt: skip


def _rows(book: Any, number: int, problems: Problems) -> Iterator[GridRow]:
    sheet = book.sheet_by_index(number)
    for index in range(sheet.nrows):
        try:
            cells = [
                _text(book, cell, (index + 1, column), problems)
                for column, cell in enumerate(sheet.row(index), start=1)
            ]
        except _DAMAGE as error:
            raise corrupt("workbook", f"row {index + 1}: {error}") from error
        while cells and not cells[-1]:
            cells.pop()
        if cells:
            if index in sheet.rowinfo_map and sheet.rowinfo_map[index].hidden:
                problems.note(hidden_row(index + 1))
            yield index + 1, cells


def _text(book: Any, cell: Any, place: tuple[int, int], problems: Problems) -> str:
    match cell.ctype:
        case xlrd.XL_CELL_TEXT:
            return str(cell.value).replace("\0", "\ufffd")
        case xlrd.XL_CELL_NUMBER | xlrd.XL_CELL_DATE:
            return number_text(repr(float(cell.value)), _kind(book, cell), bool(book.datemode))
        case xlrd.XL_CELL_BOOLEAN:
            return "TRUE" if cell.value else "FALSE"
        case xlrd.XL_CELL_ERROR:
            said = xlrd.error_text_from_code.get(cell.value, "#ERROR")
            problems.add(cell_error(*place, said))
            return str(said)
    return ""


def _kind(book: Any, cell: Any) -> str:
    return kind_of_format(_format(book, cell))


def _format(book: Any, cell: Any) -> str:
    try:
        key = book.xf_list[cell.xf_index].format_key
        return str(book.format_map[key].format_str[:200])
    except (IndexError, KeyError, TypeError):
        return "General"


def _words(book: Any, number: int, first: int) -> dict[int, str]:
    """The text shown with numbers, by column."""
    sheet = book.sheet_by_index(number)
    columns: dict[int, Counter[str]] = {}
    for index in range(first - 1, min(sheet.nrows, first - 1 + ROWS_LOOKED_AT)):
        for column, cell in enumerate(sheet.row(index)):
            if cell.ctype == xlrd.XL_CELL_NUMBER:
                said = words_of_format(_format(book, cell))
                columns.setdefault(column, Counter())[said] += 1
    return words_beside(columns)
