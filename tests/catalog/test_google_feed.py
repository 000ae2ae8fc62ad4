"""Offers by the rules of Google's product data specification."""

from __future__ import annotations

import copy
import csv
import io
import xml.etree.ElementTree as ET
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from penstock.catalog.feeds.google import COLUMNS, CsvFeed, FeedOptions, XmlFeed, offer_of

GOOD: dict[str, Any] = {
    "id": "acme:1", "title": "Claw hammer", "description": "Strong & <light>", "brand": "Hultafors",
    "category": "Tools > Hammers", "price": {"amount": "9.9", "currency": "EUR"},
    "availability": {"status": "limited"}, "identifiers": {"sku": "T-1", "gtin": "4006381333931"},
    "images": [{"url": f"https://shop.example/{n}.jpg"} for n in range(14)],
    "metadata": {"url": "https://shop.example/p/1"},
    "specifications": {"weight": {"value": 0.5, "unit": "kg"}},
}  # fmt: skip
NAMESPACE = "{http://base.google.com/ns/1.0}"


def changed(**more: Any) -> dict[str, Any]:
    return copy.deepcopy(GOOD) | more


def test_a_whole_offer() -> None:
    offer = offer_of(GOOD, FeedOptions())
    assert isinstance(offer, dict)
    extra = offer.pop("additional_image_link")
    assert len(extra) == 10
    assert offer == {
        "id": "T-1", "title": "Claw hammer", "description": "Strong & <light>",
        "link": "https://shop.example/p/1", "image_link": "https://shop.example/0.jpg",
        "availability": "in_stock", "price": "9.90 EUR", "brand": "Hultafors",
        "gtin": "4006381333931", "condition": "new", "product_type": "Tools > Hammers",
        "shipping_weight": "0.5 kg",
    }  # fmt: skip


@pytest.mark.parametrize(
    ("change", "reason"),
    [
        ({"title": " \x00 "}, "NO_TITLE"),
        ({"metadata": {}}, "NO_LINK"),
        ({"metadata": {"url": "javascript:alert(1)"}}, "NO_LINK"),
        ({"images": []}, "NO_IMAGE"),
        ({"images": [{"url": "ftp://x/y.jpg"}]}, "NO_IMAGE"),
        ({"price": {}}, "NO_PRICE"),
        ({"price": {"amount": "0", "currency": "EUR"}}, "NO_PRICE"),
        ({"price": {"amount": "NaN", "currency": "EUR"}}, "NO_PRICE"),
        ({"price": {"amount": "5"}}, "NO_CURRENCY"),
        ({"availability": {}}, "NO_AVAILABILITY"),
    ],
)
def test_what_lacks_a_required_attribute_is_left_out(change: dict[str, Any], reason: str) -> None:
    assert offer_of(changed(**change), FeedOptions()) == reason


def test_lengths_identity_and_templates() -> None:
    offer = offer_of(
        changed(
            title="x" * 500, brand="", identifiers={"sku": "a b/ü", "gtin": "123"}, metadata={}
        ),
        FeedOptions(link="https://shop.example/p/{sku}", availability="in_stock"),
    )
    assert isinstance(offer, dict)
    assert len(offer["title"]) == 150
    assert offer["identifier_exists"] == "no"
    assert "gtin" not in offer
    assert offer["link"] == "https://shop.example/p/a%20b%2F%C3%BC"
    long = offer_of(changed(identifiers={"sku": "S" * 80}), FeedOptions())
    assert isinstance(long, dict)
    assert len(long["id"]) == 50
    later = changed(availability={"status": "preorder", "deliveryDate": "2027-01-02"})
    coming = offer_of(later, FeedOptions())
    assert isinstance(coming, dict)
    assert (coming["availability"], coming["availability_date"]) == ("preorder", "2027-01-02")


@given(st.text(max_size=60), st.text(max_size=60), st.text(max_size=30))
def test_any_text_gives_valid_files(title: str, description: str, sku: str) -> None:
    made = offer_of(
        changed(title=title, description=description, identifiers={"sku": sku}), FeedOptions()
    )
    if isinstance(made, str):
        assert made == "NO_TITLE"
        return
    xml = XmlFeed(FeedOptions(title="A & B"))
    root = ET.fromstring(xml.head() + xml.page([made, made]) + xml.end())
    items = root.findall("channel/item")
    assert [item.findtext(f"{NAMESPACE}title") for item in items] == [made["title"]] * 2
    assert len(items[0].findall(f"{NAMESPACE}additional_image_link")) == 10
    text = (CsvFeed(FeedOptions()).head() + CsvFeed(FeedOptions()).page([made])).decode()
    [row] = csv.DictReader(io.StringIO(text))
    assert tuple(row) == COLUMNS
    assert (row["title"], row["description"]) == (made["title"], made["description"])
    assert row["additional_image_link"].count(",") == 9
