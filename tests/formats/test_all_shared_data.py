"""No sample file without an expectation: those that no other test names, and a count of all.

What each file holds was found by looking at it, or by another reader than ours.
"""

from __future__ import annotations

import csv
import json
from pathlib import Path
from typing import Any

import pytest
from benchmarks.messy_csv import collection
from tests.formats import test_shared_data as named
from tests.formats.support import DATA, needs_data, read, refusal

from penstock.model.errors import BadInput

pytestmark = needs_data


def files(pattern: str) -> list[str]:
    return sorted(str(path.relative_to(DATA)) for path in DATA.glob(pattern) if path.is_file())


# Where the records are, how many, and some cells of the first.
JSON: dict[str, tuple[str, int, dict[str, str]]] = {
    **{f"woocommerce/product-categories_0{n}.json": (
        "(the document itself)", 1, {"id": "9", "name": "Clothing", "parent": "0"}
    ) for n in (1, 2, 4, 5)},
    "woocommerce/product-categories_06.json": ("create", 2, {"id": "15", "slug": "albums"}),
    **{f"woocommerce/product-variations_0{n}.json": (
        "(the document itself)", 1, {"id": "732", "price": "9.00", "image.name": ""}
    ) for n in (1, 2)},
    "woocommerce/product-variations_03.json": ("(the list itself)", 2, {"id": "733"}),
    **{f"woocommerce/product-variations_0{n}.json": (
        "(the document itself)", 1, {"id": "733", "regular_price": "10.00"}
    ) for n in (4, 5)},
    "woocommerce/product-variations_06.json": ("create", 2, {"id": "735"}),
    "woocommerce/products_02.json": (
        "(the document itself)", 1, {"name": "Ship Your Idea", "type": "variable"}
    ),
    "woocommerce/products_03.json": (
        "(the document itself)", 1, {"name": "Premium Quality", "price": "21.99"}
    ),
    **{f"woocommerce/products_0{n}.json": (
        "(the document itself)", 1, {"name": "Premium Quality", "price": "24.54"}
    ) for n in (5, 6)},
    "product-pages/ground-truth.json": (
        "(the document itself)", 16, {"gtin": '["4054278533728"]', "price": '["119.01"]'}
    ),
    "job-pages/ground-truth.json": (
        "(the document itself)", 2, {"key": "wwr_job_no_image.html", "title": "Devops Engineer"}
    ),
    "simhash/vectors.json": ("vectors", 1, {"value": "57087923692560392"}),
    # A secret, an id, a signature: no table, but a list of words is what there is.
    "webhooks/vectors.json": ("must_reject", 8, {"value": "missing webhook-id"}),
}  # fmt: skip


@pytest.mark.parametrize("name", JSON)
def test_json(name: str) -> None:
    path, rows, cells = JSON[name]
    reading = read(DATA / name)
    assert reading.found["records_path"] == path
    assert len(reading.rows) == rows
    first = dict(zip(reading.header, reading.rows[0], strict=True))
    assert {column: first.get(column, "") for column in cells} == cells


@pytest.mark.parametrize("name", files("csv-spectrum/json/*.json"))
def test_lists_of_records_by_another_reader(name: str) -> None:
    """Whatever the values are, keys are columns and every object is a row."""
    records: Any = json.loads((DATA / name).read_text())
    reading = read(DATA / name)
    found = [dict(zip(reading.header, row, strict=True)) for row in reading.rows]
    assert found == ([records] if isinstance(records, dict) else records)


@pytest.mark.parametrize("name", files("excel/sheetjs/*.csv"))
def test_exports_of_excel_by_another_reader(name: str) -> None:
    data = (DATA / name).read_bytes()
    try:
        text = data.decode("utf-8")
    except UnicodeDecodeError:
        text = data.decode("cp1252")
    rows = [row for row in csv.reader(text.splitlines(keepends=True)) if any(map(str.strip, row))]
    if not rows:
        assert refusal(DATA / name).code == "EMPTY_FILE"
        return
    reading = read(DATA / name)
    assert list(map(filled, filter(any, reading.table))) == list(map(filled, rows))


def filled(row: list[str]) -> list[str]:
    """Without empty cells at the end: columns that nothing stands in are none."""
    return filled(row[:-1]) if row and not row[-1] else row


FEEDS: dict[str, tuple[str, int, dict[str, str]]] = {
    "job-pages/feeds/startupjobs_feed_html_entities.xml": (
        "offers/offer", 1, {"id": "24040", "cities.city": "Praha, Česko"}
    ),
    "job-pages/feeds/usajobs_sample.xml": (
        "ShowPositionOpening/DataArea/PositionOpening", 3, {"DocumentID": "305972200"}
    ),
}  # fmt: skip


@pytest.mark.parametrize("name", FEEDS)
def test_feeds(name: str) -> None:
    path, rows, cells = FEEDS[name]
    reading = read(DATA / name)
    assert (reading.found["records_path"], len(reading.rows)) == (path, rows)
    first = dict(zip(reading.header, reading.rows[0], strict=True))
    assert {column: first[column] for column in cells} == cells


BAGISTO = ("products-image-urls.csv", "products-with-errors.csv")


@pytest.mark.parametrize("name", BAGISTO)
def test_files_for_an_import(name: str) -> None:
    reading = read(named.BAGISTO / name)
    assert (len(reading.header), len(reading.rows)) == (38, 2)
    assert reading.header[:2] == ["sku", "parent_sku"]
    assert [row[0].partition("-")[0] for row in reading.rows] == ["E2E", "E2E"]


PAGES = [*files("product-pages/html/*.gz"), *files("job-pages/html/*.html")]


@pytest.mark.parametrize("name", PAGES)
def test_pages_of_shops_are_no_tables(name: str) -> None:
    assert refusal(DATA / name).code == "UNSUPPORTED_TYPE"


MARKUP = files("*/schemaorg/*.txt")


@pytest.mark.parametrize("name", MARKUP)
def test_pieces_of_markup_are_lines_of_text_at_most(name: str) -> None:
    """Nothing says that they are no list of lines, but nothing is sure about it either."""
    reading = read(DATA / name)
    assert len(reading.header) == 1
    assert reading.found["confidence"] <= 0.6


READING_CASES = files("reading-cases/*") if DATA.is_dir() else []


@pytest.mark.parametrize("name", READING_CASES)
def test_a_hard_case_is_read_or_refused_by_name(name: str) -> None:
    """Files that are easily misread: whatever they are taken for, never an unforeseen error."""
    found = ""
    try:
        found = " ".join(read(DATA / name).header)
    except BadInput as error:
        found = error.code
    assert found


def test_no_file_is_left_out() -> None:
    everything = {name for name in files("**/*") if not name.endswith("SOURCES.md")}
    ours = {*JSON, *FEEDS, *PAGES, *MARKUP, *files("excel/sheetjs/*.csv")}
    ours |= {f"supplier-files/bagisto/{name}" for name in BAGISTO}
    ours |= {str(Path(sample.path).relative_to(DATA)) for sample in collection()}
    ours |= {*files("csv-spectrum/*/*"), *files("json-suite/*.json")}
    ours |= {f"excel/{name}" for name in named.WORKBOOKS}
    ours |= {f"excel/{name}" for name in named.OTHER_WORKBOOKS}
    ours |= {str(path.relative_to(DATA)) for path in named.FILES_OF_SHOPS}
    ours |= set(READING_CASES)
    assert everything - ours == set()
