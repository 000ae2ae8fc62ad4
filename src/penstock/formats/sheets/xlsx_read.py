"""Read xlsx and xlsm as a stream, in constant memory."""

from __future__ import annotations

import zipfile
from collections.abc import Iterator, Mapping

from penstock.formats.read_options import ReadOptions, ReadReport
from penstock.formats.sheets.grid import (
    choose_sheet,
    plan_grid,
    report_number_formats,
    table_pieces,
)
from penstock.formats.sheets.xlsx_book import open_book, survey_sheet
from penstock.formats.sheets.xlsx_cells import SheetCells
from penstock.formats.sheets.xlsx_strings import read_strings
from penstock.formats.source import Source, check_zip, open_zip, protected
from penstock.formats.tables import Cursor, Piece, Problems


def read_xlsx(
    source: Source, options: ReadOptions, limits: Mapping[str, int], cursor: Cursor
) -> Iterator[Piece]:
    with source.seekable(limits) as file, open_zip(file) as archive:
        check_zip(archive, source.size, limits)
        _check_protection(archive)
        book = open_book(archive)
        report: ReadReport | None = None
        if cursor is None:
            report = ReadReport("xlsx")
            for sheet, path in zip(book.sheets, book.paths, strict=True):
                survey_sheet(book, sheet, path)
            chosen = choose_sheet(book.sheets, options.sheet, report)
            strings = read_strings(book, limits["cell_bytes"])
            number = chosen.number - 1
            head = SheetCells(book, number, strings, limits, Problems())
            plan = {
                "format": "xlsx", "sheet": number,
                **plan_grid(head.rows(), chosen, options, report, limits),
            }  # fmt: skip
            report_number_formats(report, plan, head.words_beside(plan["first_row"]))
        else:
            plan = dict(cursor["plan"])
            strings = read_strings(book, limits["cell_bytes"])
        problems = Problems(by_row=True)
        rows = SheetCells(book, plan["sheet"], strings, limits, problems)
        done = cursor["rows"] if cursor else 0
        yield from table_pieces(plan, report, rows.rows(), limits, done, source.size, problems)


def _check_protection(archive: zipfile.ZipFile) -> None:
    if any(entry.flag_bits & 1 for entry in archive.infolist()):
        raise protected("The workbook")
