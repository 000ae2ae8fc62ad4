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
from penstock.catalog.pages.job_values import employment_types

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
    "name",
    [
        *("product", "more_product", "further_product", "last_product"),
        *("job", "more_job", "later_job", "latest_job", "further_job", "last_job"),
    ],
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
    assert fields >= 40
    assert right / fields >= LEAST_RIGHT


def test_part_number_is_no_price() -> None:
    """`6204-2RS` is not two rupees."""
    page = next(one for one in written_pages("product") if one.name == "b2b-de-net")
    read = extract_page(page.html, page.truth["url"])
    assert (read.fields["price"], read.fields["currency"]) == ("3.45", "EUR")


def test_list_of_products_is_no_product() -> None:
    page = next(one for one in written_pages("product") if one.name == "list-page")
    assert extract_page(page.html, page.truth["url"]).kind is None


@pytest.mark.parametrize(
    ("written", "kinds"),
    [
        ("Permanent, part time", ["PART_TIME"]),
        ("Permanent", ["FULL_TIME"]),
        ("CDD de 6 mois", ["TEMPORARY"]),
        ("CDI, temps partiel (24 h)", ["PART_TIME"]),
        ("Completamente flexible", []),
    ],
)
def test_kinds_of_employment_with_a_label(written: str, kinds: list[str]) -> None:
    assert employment_types([written], by_beginning=True) == kinds


@pytest.mark.parametrize(
    ("below", "place"),
    [
        ("Part-time · Hannover", ["Hannover"]),
        ("Boise, Idaho", ["Boise, Idaho"]),
        ("Kirkby, United Kingdom", ["Kirkby, United Kingdom"]),
        ("Engineering · Full-time", None),
        ("Marketing, Sales", None),
        ("Husum", None),
        ("📍 Husum", ["Husum"]),
    ],
)
def test_places_without_a_label(below: str, place: list[str] | None) -> None:
    """Departments and other short texts below the title are no places."""
    html = f"""<html lang=en><title>Baker</title><h1>Baker</h1><p>{below}</p>
    <h2>Your tasks</h2><ul><li>Bake bread</li></ul><a>Apply now</a></html>"""
    assert extract_page(html.encode(), "https://x.example/1").fields.get("locations") == place


@pytest.mark.parametrize(
    ("title", "company"),
    [
        ("Job Application for Baker at Acme", "Acme"),
        ("Acme GmbH Baker | Hiring Software", "Acme GmbH"),
        ("Acme - Baker - Some Board", None),
        ("Baker - Open positions", None),
        ("Careers | Acme", "Acme"),
        ("Baker | Working at Acme", "Acme"),
    ],
)
def test_company_beside_the_title(title: str, company: str | None) -> None:
    html = f"""<html lang=en><title>{title}</title><h1>Baker</h1>
    <h2>Your tasks</h2><ul><li>Bake bread</li></ul><a>Apply now</a></html>"""
    assert extract_page(html.encode(), "https://x.example/1").fields.get("company") == company


def test_button_that_cannot_be_pressed_leaves_the_stock_open() -> None:
    """Words that are not known may say that the product is sold out."""
    html = """<html lang=xx><title>Mok</title><h1>Mok</h1><p class=price>12,90 EUR</p>
    <button disabled>Neznano</button></html>"""
    read = extract_page(html.encode(), "https://x.example/1", kind="product")
    assert read.fields["price"] == "12.90"
    assert "availability" not in read.fields
