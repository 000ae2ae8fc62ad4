"""A German supplier's price list as it comes: decimal commas, signs of money, HTML, double
articles, wrong check digits, prices on request. Always the same for the same number of rows."""

from __future__ import annotations

import csv
import random
from collections.abc import Iterator
from pathlib import Path

import xlsxwriter

from benchmarks.entries.normalising import HEADER, make_row
from benchmarks.payload import SEED

# One row in so many is …
_TWICE = 101  # an article that was listed before
_WRONG_DIGIT = 149
_NO_PRICE = 211
_NO_TITLE = 499
_LISTED_BEFORE = 50
# Of a hundred articles, those with another price a week later, and a new one.
_CHANGED = 10
_SKU, _TITLE, _GTIN, _PRICE = 0, 1, 5, 6


def supplier_rows(count: int) -> Iterator[list[str]]:
    chance = random.Random(SEED)
    for number in range(count):
        row = make_row(number, chance)
        if number >= _LISTED_BEFORE and number % _TWICE == 0:
            row[_SKU] = f"A-{number - _LISTED_BEFORE:06d}"
        if number % _WRONG_DIGIT == 0:
            row[_GTIN] = row[_GTIN][:-1] + str((int(row[_GTIN][-1]) + 1) % 10)
        if number % _NO_PRICE == 0:
            row[_PRICE] = "auf Anfrage"
        if number % _NO_TITLE == 0:
            row[_TITLE] = ""
        yield row


def later_rows(count: int) -> Iterator[list[str]]:
    """The same list a week later: 9 % of the articles have another price, 1 % are new ones in place
    of others."""
    for number, row in enumerate(supplier_rows(count)):
        if number % 100 == 0:
            row[_SKU], row[_GTIN] = f"B-{number:06d}", ""
        elif number % 100 < _CHANGED and "," in row[_PRICE]:
            amount, _, cents = row[_PRICE].partition(",")
            row[_PRICE] = f"{amount},{(int(cents[:2]) + 1) % 100:02d}{cents[2:]}"
        yield row


def make_later_csv(path: Path, rows: int) -> Path:
    return _write_csv(path, later_rows(rows))


def make_supplier_csv(path: Path, rows: int) -> Path:
    return _write_csv(path, supplier_rows(rows))


def _write_csv(path: Path, rows: Iterator[list[str]]) -> Path:
    with path.open("w", encoding="cp1252", errors="replace", newline="") as file:
        writer = csv.writer(file, delimiter=";", lineterminator="\r\n")
        writer.writerow(HEADER)
        writer.writerows(rows)
    return path


def make_supplier_xlsx(path: Path, rows: int) -> Path:
    """With shared strings, as spreadsheets themselves save; stock is a number, all else is text."""
    options = {"strings_to_urls": False, "strings_to_formulas": False, "tmpdir": str(path.parent)}
    book = xlsxwriter.Workbook(str(path), options)
    sheet = book.add_worksheet("Preisliste")
    stock = HEADER.index("Lagerbestand")
    sheet.write_row(0, 0, HEADER)
    for number, row in enumerate(supplier_rows(rows), start=1):
        cells: list[object] = list(row)
        cells[stock] = int(row[stock])
        sheet.write_row(number, 0, cells)
    book.close()
    return path
