"""Fields of pages as products of the catalog."""

from __future__ import annotations

from typing import Any

from penstock.pipelines.crawl.products import product_of, source_id_of

URL = "https://shop.example/p/1"


def _product(fields: dict[str, Any], **origins: Any) -> dict[str, Any]:
    page = product_of(fields, URL, "acme", "USD", (), origins)
    assert page.error is None
    return page.document


def test_all_fields_find_their_place() -> None:
    document = _product({
        "name": "Lamp", "brand": "Lumina", "price": "1299.00", "currency": "EUR",
        "listPrice": "1499.00", "availability": "LimitedAvailability", "sku": "A-1",
        "gtin": "4006381333931", "mpn": "M9", "images": ["https://shop.example/1.jpg"],
        "description": "A lamp.", "breadcrumb": ["Home", "Lamps"],
        "rating": {"value": "4.5", "count": 12}, "attributes": {"Colour": "red", "nested": {}},
        "variants": [
            {"sku": "A-1-r", "price": "9.90", "attributes": {"Colour": "red"},
             "availability": "OutOfStock"},
            {"sku": "A-1-b", "price": "8.90", "name": "blue"},
        ],
    })  # fmt: skip
    product = document["product"]
    assert (product["title"], product["brand"]) == ("Lamp", "Lumina")
    assert (product["source"], product["sourceId"]) == ("crawl:acme", URL)
    assert (product["price"]["amount"], product["price"]["currency"]) == ("1299.00", "EUR")
    assert product["availability"]["status"] == "limited"
    assert product["identifiers"] == {"sku": "A-1", "gtin": "4006381333931", "mpn": "M9"}
    assert product["category"] == "Home > Lamps"
    assert [image["url"] for image in product["images"]] == ["https://shop.example/1.jpg"]
    custom = product["specifications"]["customFields"]
    assert (custom["Colour"], custom["listPrice"]) == ("red", "1499.00")
    red, blue = product["variants"]
    assert (red["options"], red["availability"]["status"]) == ({"Colour": "red"}, "out_of_stock")
    assert (blue["options"], blue["price"]["amount"]) == ({"variant": "blue"}, "8.90")


def test_lineage_names_the_part_of_the_page() -> None:
    origin = {"source": "json-ld", "confidence": 0.9}
    document = _product({"name": "Lamp", "price": "9.90", "currency": "EUR"}, price=origin)
    column, raw, _, sure = document["lineage"]["price.amount"]
    assert (column, raw, sure) == ("price (json-ld)", "9.90", 0.9)
    assert document["lineage"]["title"][0] == "name"
    assert document["product"]["metadata"]["confidence"] < 1


def test_what_cannot_be_is_left_out_or_an_error() -> None:
    document = _product({"name": "Lamp", "gtin": "123", "currency": "coins", "variants": ["x", 1]})
    assert "gtin" not in document["product"].get("identifiers", {})
    page = product_of({"price": "9.90"}, URL, "acme", "USD", ())
    assert page.error is not None
    assert page.error.code == "REQUIRED_MISSING"
    long = f"{URL}?{'x' * 600}"
    assert len(source_id_of(long)) == 500
    assert source_id_of(long) != source_id_of(f"{long}y")
