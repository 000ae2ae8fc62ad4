"""Files that others wrote: what each one holds was found by looking at it, not by reading it here.

Text files of csv-messy and csv-spectrum are in test_messy.py and test_csv.py.
"""

from __future__ import annotations

import csv
from pathlib import Path
from typing import Any

import pytest
from tests.formats.support import DATA, needs_data, read, refusal

pytestmark = needs_data

EXCEL = DATA / "excel"
BAGISTO = DATA / "supplier-files" / "bagisto"
MEDUSA = DATA / "supplier-files" / "medusa"
FEEDS = DATA / "supplier-files" / "feeds"
NONE = [""]

# Header (all empty: none) and rows.
WORKBOOKS: dict[str, list[list[str]]] = {
    "calamine/biff5_write.xls": [
        NONE * 4,
        ["1", "2", "3", ""],
        ["TRUE", "FALSE", "", "sheetjs"],
        ["foo", "bar", "2014-02-19T14:30:00", "0.3"],
        ["baz", "", "qux", ""],
    ],
    **{
        f"calamine/{name}": [
            NONE * 2, ["2021-01-01", "15"], ["2021-01-02", "16"], ["255:10:10", "17"],
        ]
        for name in ("date.xls", "date.xlsx", "date_1904.xls")
    },
    "calamine/errors.xlsx": [
        NONE,
        *([said] for said in
          ("#DIV/0!", "#NAME?", "#VALUE!", "#NULL!", "#REF!", "#NUM!", "#N/A")),
    ],
    "calamine/encoded_entities.xlsx": [["&"]],
    "calamine/header-row.xlsx": [
        ["Columns", "Column A", "Column B", "Column C"], ["put data here", "1", "2", "3"],
    ],
    "calamine/inlineStr_cdata.xlsx": [["Hello CDATA", "World"], ["12345", "NormalText"]],
    "calamine/inventory-table.xlsx": [
        ["Item", "Type", "Quantity"], ["1", "Apple", "50"], ["2", "Banana", "200"],
        ["3", "Orange", "60"], ["4", "Pear", "100"],
    ],
    "calamine/merged_range.xlsx": [
        ["A1", "B1", "C1", "", "E1", "F1", "G1", "H1"],
        ["A3", "B3", "C3", "", "E3", "F3", "G3", "H3"],
        ["A4", "B4", "C4", "", "E4", "F4", "G4", "H4"],
    ],
    "calamine/merge_cells.xls": [
        ["Row Merge", "Row Merge", "Not Merged"], ["Column Merge", "Chunk Merged", ""],
    ],
    "calamine/nonstandard-xml-ns-prefix.xlsx": [["a", "b"], ["1", "3"], ["2", "4"]],
    "calamine/xls_wrong_decimals.xls": [NONE, ["0.525625"]],
    "tabulator/merged-cells.xls": [["data"]],
    "tabulator/multiline-headers.xlsx": [
        ["Region", "Caloric contribution (%)",
         "Cumulative impact of changes on cost of food basket from previous quarter",
         "Cumulative impact of changes on cost of food basket from baseline (%)"],
        ["A", "B", "C", "D"],
    ],
    "tabulator/sheets.xlsx": [["id", "name"], ["1", "london"]],
    "tabulator/skip-rows.xlsx": [["A", "B"], ["8", "9"]],
    "tabulator/table-with-ints-floats-dates.xls": [
        ["Int", "Float", "Date"], ["2013", "3.3", "2009-08-16"], ["1997", "5.6", "2009-09-20"],
        ["1969", "11.7", "2012-08-23"],
    ],
    "tabulator/test_scientific_notation.xlsx": [["scientific_notation"], ["4.27335427525861e-07"]],
    "sheetjs/text_and_numbers.xlsx": [
        ["English", "Hello", "World"], ["Hebrew", "שלום", "עולם"], ["1337", "13.37", "1337"],
    ],
}  # fmt: skip


# Each has a test of its own below.
OTHER_WORKBOOKS = (
    "calamine/pass_protected.xlsx", "calamine/empty_sheet.xlsx", "calamine/too_small.xls",
    "calamine/date_iso.xlsx", "tabulator/preserve-formatting.xlsx", "sheetjs/AutoFilter.xlsx",
    "sheetjs/comments_stress_test.xls", "sheetjs/interview.xlsx", "sheetjs/rich_text_stress.xls",
    "sheetjs/issue.xlsx",
)  # fmt: skip
FILES_OF_SHOPS = (
    *(BAGISTO / f"products.{kind}" for kind in ("csv", "xls", "xlsx", "xml")),
    *MEDUSA.glob("*.csv"),
    *FEEDS.glob("*.xml"),
    *(DATA / "shopify").glob("*.json"),
    *(DATA / "prices").glob("*.json"),
    *(DATA / "woocommerce" / f"{name}.json"
      for name in ("products_01", "products_04", "products_07", "product-categories_03")),
)  # fmt: skip


@pytest.mark.parametrize("name", WORKBOOKS)
def test_workbooks(name: str) -> None:
    assert read(EXCEL / name).table == WORKBOOKS[name]


@pytest.mark.parametrize(
    ("name", "code"),
    [
        ("calamine/pass_protected.xlsx", "FILE_PASSWORD_PROTECTED"),
        ("calamine/empty_sheet.xlsx", "EMPTY_FILE"),
    ],
)
def test_workbooks_that_are_refused(name: str, code: str) -> None:
    assert refusal(EXCEL / name).code == code


def test_a_message_that_pretends_to_be_a_workbook() -> None:
    """A mail program left a line of text: that line is all there is."""
    reading = read(EXCEL / "calamine" / "too_small.xls")
    assert reading.header[0].startswith("Attachment f:")
    assert reading.rows == []


def test_dates_in_iso_cells() -> None:
    rows = read(EXCEL / "calamine" / "date_iso.xlsx").rows
    assert [row[0] for row in rows[:3]] == ["2021-01-01", "2021-01-01T10:10:10", "10:10:10"]
    assert len(rows) == 6


def test_number_formats_change_no_values() -> None:
    reading = read(EXCEL / "tabulator" / "preserve-formatting.xlsx")
    cells = dict(zip(reading.header, reading.rows[0], strict=True))
    assert {cells[name] for name in ("0", "0.00", "0.0000", "0.00000", "0.0000#")} == {"1000.5577"}
    assert {cells[name] for name in ("m/d/yy", "d-mmm", "mm/dd/yy", "mmddyy")} == {"2040-05-20"}
    assert cells["empty"] == ""
    assert cells["at_symbol"] == "259.153"


def exported(book: str, sheet: int) -> list[list[str]]:
    """What Excel itself wrote of a sheet, rows without content left out."""
    data = (EXCEL / "sheetjs" / f"{book}.{sheet}.csv").read_bytes()
    try:
        text = data.decode("utf-8")
    except UnicodeDecodeError:
        text = data.decode("mac_roman")
    rows = csv.reader(text.replace("\r\n", "\n").replace("\r", "\n").split("\n"))
    return [row for row in rows if any(cell.strip() for cell in row)]


@pytest.mark.parametrize("sheet", range(11))
def test_sheets_are_as_excel_exports_them(sheet: int) -> None:
    reading = read(EXCEL / "sheetjs" / "AutoFilter.xlsx", {"sheet": sheet + 1})
    assert reading.table == exported("AutoFilter.xlsx", sheet)


@pytest.mark.parametrize(("sheet", "rows"), [("Sheet2", 4), ("Sheet1", 33)])
def test_sheets_without_a_header(sheet: str, rows: int) -> None:
    reading = read(EXCEL / "sheetjs" / "comments_stress_test.xls", {"sheet": sheet})
    assert len(reading.rows) == rows
    assert not any(reading.header)
    shown = exported("comments_stress_test.xls", {"Sheet2": 0, "Sheet1": 1}[sheet])
    assert reading.rows == [row[:4] for row in shown]


def test_long_texts_of_a_workbook() -> None:
    reading = read(EXCEL / "sheetjs" / "interview.xlsx")
    assert reading.header == ["type", "name", "label", "tags"]
    assert len(reading.rows) == 18
    assert reading.rows[11][1] == "recording"
    assert "\n" in reading.rows[11][2]
    tags = read(EXCEL / "sheetjs" / "interview.xlsx", {"sheet": "tags"})
    assert tags.table == [row[:4] for row in exported("interview.xlsx", 1)]


def test_rich_text_is_read_as_text() -> None:
    rows = read(EXCEL / "sheetjs" / "rich_text_stress.xls", {"header_row": 0}).rows
    assert rows[1] == ["bold", "this text is bold, sure enough"]
    assert len(rows) == 14


def test_a_form_with_merged_cells() -> None:
    reading = read(EXCEL / "sheetjs" / "issue.xlsx")
    named = [name for name in reading.header if name]
    assert named[:4] == ["Pos.", "Designation", "Qty.", "Unit"]
    assert [row[0] for row in reading.rows[:3]] == ["10", "20", "30"]


def as_records(path: Path) -> list[dict[str, str]]:
    reading = read(path)
    return [dict(zip(reading.header, row, strict=True)) for row in reading.rows]


@pytest.mark.parametrize("kind", ["xls", "xlsx", "xml"])
def test_one_catalogue_in_four_formats(kind: str) -> None:
    expected, found = as_records(BAGISTO / "products.csv"), as_records(BAGISTO / f"products.{kind}")
    assert len(expected) == len(found) == 26
    for one, other in zip(expected, found, strict=True):
        assert list(one) == list(other)
        # Spaces and line ends are the formats' own.
        assert {name: one[name].split() for name in one} == {n: other[n].split() for n in other}


@pytest.mark.parametrize(
    ("name", "rows"),
    [
        ("invalid-column.csv", 1), ("invalid-prices.csv", 1), ("prices-with-region.csv", 1),
        ("product-with-categories.csv", 2), ("unrelated-column.csv", 1), ("v1-template.csv", 5),
    ],
)  # fmt: skip
def test_exports_of_a_shop(name: str, rows: int) -> None:
    reading = read(MEDUSA / name)
    assert len(reading.rows) == rows
    assert reading.header[0] == "Product Id"
    assert not reading.end.problems


def test_comma_and_semicolon_hold_the_same_products() -> None:
    comma = read(MEDUSA / "exported-products-comma.csv")
    semicolon = read(MEDUSA / "exported-products-semicolon.csv")
    assert (comma.found["delimiter"], semicolon.found["delimiter"]) == (",", ";")
    assert comma.table == semicolon.table
    assert comma.rows[0][4] == "test-product-description\ntest line 2"


@pytest.mark.parametrize(
    ("name", "path", "rows", "cells"),
    [
        ("dpa_product_catalog_sample_feed_atom.xml", "feed/entry", 1,
         {"g:id": "DB_1", "g:price": "9.99 GBP", "g:shipping.g:price": "4.95 GBP"}),
        ("dpa_product_catalog_sample_feed_rss.xml", "rss/channel/item", 1,
         {"g:id": "DB_1", "g:custom_label_0": "Made in Waterford, IE"}),
        ("google_merchant_feed_example.xml", "rss/channel/item", 2,
         {"g:gtin": "698615070527", "g:tax.g:rate": "7.25", "g:shipping.g:country": "US"}),
        ("skroutz.xml", "store/products/product", 1,
         {"vat": "24", "name": "#product_name# - #color#"}),
        ("xml_criteo_feed_sample.xml", "rss/channel/item", 1,
         {"g:gtin": "0001234560012", "g:price": "1299.99 EUR",
          "g:product_type": "Women’s > Shoes > Working Boots"}),
    ],
)  # fmt: skip
def test_feeds(name: str, path: str, rows: int, cells: dict[str, str]) -> None:
    reading = read(FEEDS / name)
    assert reading.found["records_path"] == path
    assert len(reading.rows) == rows
    first = dict(zip(reading.header, reading.rows[0], strict=True))
    assert {column: first[column] for column in cells} == cells


@pytest.mark.parametrize(
    ("name", "path", "rows", "cells"),
    [
        ("shopify/product.json", "product", 1, {"id": "632910392", "handle": "ipod-nano"}),
        ("shopify/products.json", "(the list itself)", 4, {"handle": "ipod-nano"}),
        ("shopify/product_listings.json", "(the list itself)", 2, {"product_id": "2"}),
        ("shopify/rest_2024-04_products.json", "products", 2, {"title": "IPod Nano - 8GB"}),
        ("shopify/variants.json", "variants", 4, {"price": "199.00", "sku": "IPOD2008PINK"}),
        ("woocommerce/products_01.json", "(the document itself)", 1, {"id": "794"}),
        ("woocommerce/products_04.json", "(the list itself)", 2, {"id": "799"}),
        ("woocommerce/products_07.json", "create", 2, {"id": "801"}),
        ("woocommerce/product-categories_03.json", "(the list itself)", 7, {"name": "Albums"}),
        ("prices/price_parsing_examples.json", "(the list itself)", 178, {"amount": "399167"}),
        ("prices/price_parsing_examples_new.json", "(the list itself)", 15, {"currency": "PTE"}),
    ],
)
def test_json_of_shops(name: str, path: str, rows: int, cells: dict[str, str]) -> None:
    reading = read(DATA / name)
    assert reading.found["records_path"] == path
    assert len(reading.rows) == rows
    first = dict(zip(reading.header, reading.rows[0], strict=True))
    assert {column: first[column] for column in cells} == cells


# By their bytes alone these three are lines of text, not JSON; told that they are, we agree.
NOT_JSON_AT_FIRST_SIGHT = {
    "n_multidigit_number_then_00.json",
    "n_structure_ascii-unicode-identifier.json",
    "y_structure_string_empty.json",
}


@pytest.mark.parametrize(
    "path", sorted((DATA / "json-suite").glob("*.json")), ids=lambda path: path.name
)
def test_json_suite(path: Path) -> None:
    """y_ is JSON, n_ is not, i_ may be either."""
    tries: list[dict[str, Any]] = [{"format": "json"}]
    if path.name not in NOT_JSON_AT_FIRST_SIGHT:
        tries.append({})
    for options in tries:
        if path.name.startswith("n_"):
            assert refusal(path, options).code == "INVALID_JSON"
        elif path.name.startswith("y_"):
            assert read(path, options).found["format"] == "json"
