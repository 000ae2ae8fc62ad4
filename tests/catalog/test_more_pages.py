"""Pages as themes of shop systems and job boards write them, many without any markup: see
`unseen/README.md`."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any, NamedTuple

import pytest
from tests.catalog.pages_set import same

from penstock.catalog.pages.extract import extract_page

FOLDER = Path(__file__).parent / "unseen"
LEAST_RIGHT = 0.97


class WrittenPage(NamedTuple):
    name: str
    truth: dict[str, Any]
    html: str


def written_pages(name: str) -> Iterator[WrittenPage]:
    for block in (FOLDER / f"{name}_pages.txt").read_text("utf-8").split("=== ")[1:]:
        name, truth, html = block.split("\n", 2)
        yield WrittenPage(name, json.loads(truth), html)


@pytest.mark.parametrize(
    "name", ["product", "job", "more_product", "more_job", "later_job", "latest_job"]
)
def test_fields_are_read_right(name: str) -> None:
    fields = right = 0
    for page in written_pages(name):
        read = extract_page(page.html.encode(), page.truth["url"])
        assert read.kind == page.truth["kind"], page.name
        for field, wanted in page.truth["fields"].items():
            got = read.fields.get(field)
            fields += 1
            right += same(field, got, wanted)
            if not same(field, got, wanted):
                print(page.name, field, wanted, got)
    print(f"{right} of {fields} right")
    assert fields > 40
    assert right / fields >= LEAST_RIGHT


def test_part_number_is_no_price() -> None:
    """`6204-2RS` is not two rupees."""
    page = next(one for one in written_pages("product") if one.name == "b2b-de-net")
    read = extract_page(page.html, page.truth["url"])
    assert (read.fields["price"], read.fields["currency"]) == ("3.45", "EUR")


def test_list_of_products_is_no_product() -> None:
    page = next(one for one in written_pages("product") if one.name == "list-page")
    assert extract_page(page.html, page.truth["url"]).kind is None
