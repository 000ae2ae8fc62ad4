"""Files for shop systems: what is exported and imported again is the same product."""

from __future__ import annotations

import csv
import io
from pathlib import Path
from typing import Any

import pytest
from benchmarks.gold.run import products_of

from penstock.api.catalog.shop_writers import SHOP_WRITERS
from penstock.catalog.products.grid import SECTIONS
from penstock.model.export import ExportRow

Product = dict[str, Any]


def price(amount: str, **more: str) -> dict[str, str]:
    return {"amount": amount, "currency": "EUR", "unit": "piece", **more}


def stock(quantity: int) -> dict[str, Any]:
    return {"status": "in_stock" if quantity else "out_of_stock", "quantity": quantity}


def variant(sku: str, size: str, color: str, amount: str, quantity: int) -> Product:
    return {
        "options": {"color": color, "size": size},
        "identifiers": {"sku": sku},
        "price": price(amount, cost="4.10"),
        "availability": stock(quantity),
    }


PRODUCTS: list[Product] = [
    {
        "sourceId": "mug-blue",
        "title": "Tasse, blau & groß",
        "description": "Erste Zeile\nzweite < dritte",
        "brand": "Keram",
        "category": "Küche > Tassen",
        "price": price("12.00", compareAt="15.00", cost="5.20"),
        "availability": stock(30),
        "identifiers": {"sku": "mug-blue", "gtin": "4006381333931"},
        "images": [
            {"url": "https://img.invalid/1.jpg", "type": "primary"},
            {"url": "https://img.invalid/2.jpg", "type": "secondary"},
        ],
        "specifications": {"weight": {"value": 310, "unit": "g"}},
        "metadata": {"tags": ["kitchen", "blue"]},
        "published": True,
    },
    {
        "sourceId": "plat",
        "title": "Assiette creuse",
        "brand": "Céram",
        "category": "Cuisine",
        "price": price("9.50"),
        "availability": stock(0),
        "identifiers": {"sku": "plat"},
        "published": False,
    },
    {
        "sourceId": "bluza",
        "title": "Bluza z kapturem",
        "category": "Odzież > Bluzy",
        "price": price("49.00", cost="4.10"),
        "availability": stock(7),
        "identifiers": {"sku": "bluza"},
        "variants": [
            variant("bluza-s", "S", "green", "49.00", 3),
            variant("bluza-m", "M", "green", "52.00", 4),
        ],
        "published": True,
    },
]
ABOUT = ("published", "2026-11-16T00:00:00+00:00")


def written(name: str, products: list[Product]) -> bytes:
    writer = SHOP_WRITERS[name]([*SECTIONS, "status", "updatedAt"])
    rows = []
    for product in products:
        status = "published" if product["published"] else "unpublished"
        cells = [product.get(section) for section in SECTIONS]
        rows.append(ExportRow([*cells, status, ABOUT[1]]))
    return writer.head() + writer.page(rows[:2]) + writer.page(rows[2:]) + writer.end()


def imported(tmp_path: Path, content: bytes) -> dict[str, Product]:
    path = tmp_path / "shop.csv"
    path.write_bytes(content)
    return {one["title"]: one for one in products_of(path)}


def comparable(product: Product, name: str) -> Product:
    """The fields that the format can hold."""
    found: Product = {
        key: product.get(key) for key in ("title", "description", "brand", "category")
    }
    found["published"] = product.get("published") is not False
    found["price"] = {
        key: product.get("price", {}).get(key) for key in ("amount", "compareAt", "cost")
    }
    found["stock"] = product.get("availability", {}).get("quantity")
    found["gtin"] = product.get("identifiers", {}).get("gtin")
    found["tags"] = product.get("metadata", {}).get("tags")
    found["images"] = [image["url"] for image in product.get("images", ())]
    found["variants"] = [
        (one["identifiers"]["sku"], sorted(one["options"].items()), one["price"]["amount"],
         one["availability"]["quantity"])
        for one in product.get("variants", ())
    ]  # fmt: skip
    if name == "magento" and found["category"]:
        found["category"] = found["category"].removeprefix("Default Category > ")
    lost = {
        "prestashop": ("variants",), "akeneo": ("category", "tags", "images"),
        "woocommerce": (),
    }  # fmt: skip
    for key in lost.get(name, ()):
        del found[key]
    if name in ("akeneo", "prestashop"):
        del found["price"]["compareAt"]
    return found


@pytest.mark.parametrize("name", ["shopify", "woocommerce", "magento", "prestashop", "akeneo"])
def test_round_trip(tmp_path: Path, name: str) -> None:
    found = imported(tmp_path, written(name, PRODUCTS))
    assert set(found) == {one["title"] for one in PRODUCTS}
    for product in PRODUCTS:
        got = comparable(found[product["title"]], name)
        wanted = comparable(product, name)
        if name in ("woocommerce", "magento", "akeneo") and product.get("variants"):
            # These systems keep the price with the variants.
            got["price"].pop("cost"), wanted["price"].pop("cost")
        assert got == wanted, name


@pytest.mark.parametrize("name", ["shopify", "woocommerce", "magento", "prestashop", "akeneo"])
def test_ids_and_weights(tmp_path: Path, name: str) -> None:
    found = imported(tmp_path, written(name, PRODUCTS))
    ids = {one["sourceId"] for one in found.values()}
    assert ids == {"mug-blue", "plat", "bluza"}
    weight = found["Tasse, blau & groß"]["specifications"]["weight"]
    unit = {"g": 310, "kg": 0.31, None: 0.31}
    assert weight["value"] == unit[weight.get("unit")]


def test_combinations(tmp_path: Path) -> None:
    path = tmp_path / "combinations.csv"
    path.write_bytes(written("prestashop-combinations", PRODUCTS))
    (product,) = products_of(path)
    assert product["sourceId"] == "bluza"
    assert [one["options"] for one in product["variants"]] == [
        {"color": "green", "size": "S"},
        {"color": "green", "size": "M"},
    ]
    assert product["availability"]["quantity"] == 7


def test_a_catalog_without_products_has_a_header() -> None:
    for name, kind in SHOP_WRITERS.items():
        writer = kind([*SECTIONS, "status", "updatedAt"])
        made = writer.head() + writer.page([]) + writer.end()
        (line,) = csv.reader(io.StringIO(made.decode()), delimiter=kind.shop.delimiter)
        assert len(line) > 5, name


def test_formulas_are_not_run_by_spreadsheets() -> None:
    product = {**PRODUCTS[1], "title": '=HYPERLINK("http://evil.invalid")'}
    assert "'=HYPERLINK" in written("shopify", [product]).decode()


def test_prices_of_several_currencies() -> None:
    other = {**PRODUCTS[1], "sourceId": "x", "price": {"amount": "3.00", "currency": "PLN"}}
    made = written("akeneo", [PRODUCTS[0], other]).decode()
    lines = list(csv.DictReader(io.StringIO(made), delimiter=";"))
    assert [(line["price-EUR"], line["price-PLN"]) for line in lines] == [
        ("12.00", ""),
        ("", "3.00"),
    ]
