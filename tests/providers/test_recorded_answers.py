"""Recorded answers of the providers become the right products, compared field by field."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta, timezone
from decimal import Decimal
from pathlib import Path
from typing import Any

import orjson
import pytest
from tests.fixtures import SHARED_DATA

from penstock.providers.base import ShopImage, ShopOption, ShopProduct, ShopVariant
from penstock.providers.shopify.rest_mapping import product_of as shopify_product
from penstock.providers.woocommerce.mapping import Units
from penstock.providers.woocommerce.mapping import product_of as woo_product

SHOPIFY, WOO = SHARED_DATA / "shopify", SHARED_DATA / "woocommerce"
EUR = Units("EUR", "kg", "cm")
_CDN = "https://cdn.shopify.com/s/files/1/0005/4838/0009/products"


def recorded(folder: Path, name: str) -> Any:
    if not folder.exists():
        pytest.skip(f"the recorded answers in {folder.name} are not on this machine")
    return orjson.loads((folder / name).read_bytes())


def test_shopify_products_of_2024() -> None:
    told = recorded(SHOPIFY, "rest_2024-04_products.json")["products"]
    nano, touch = (shopify_product(one) for one in told)
    at = datetime(2024, 4, 2, 8, 59, 11, tzinfo=timezone(timedelta(hours=-5)))
    colors = ("Pink", "Red", "Green", "Black")
    ids = ("808950810", "49148385", "39072856", "457924702")
    assert nano == ShopProduct(
        id="632910392",
        title="IPod Nano - 8GB",
        variants=tuple(
            ShopVariant(
                id=one, title=color, sku=f"IPOD2008{color.upper()}",
                barcode=f"1234_{color.lower()}",
                price=Decimal("199.00"), stock=stock, stock_status="in_stock",
                options={"Color": color}, weight=Decimal("1.25"), weight_unit="lb",
                image_url=f"{_CDN}/ipod-nano-2.png?v=1704203951" if color == "Pink" else None,
                updated_at=at,
            )
            for one, color, stock in zip(ids, colors, (10, 20, 30, 40), strict=True)
        ),
        images=(
            ShopImage(f"{_CDN}/ipod-nano.png?v=1704203951", "850703190", "", 1, 123, 456),
            ShopImage(
                f"{_CDN}/ipod-nano-2.png?v=1704203951", "562641783", "", 2, 123, 456,
                ("808950810",),
            ),
            ShopImage(f"{_CDN}/ipod-nano.png?v=1704203951", "378407906", "", 3, 123, 456),
        ),
        options=(ShopOption("Color", colors),),
        description=told[0]["body_html"],
        vendor="Apple",
        product_type="Cult Products",
        tags=("Emotive", "Flash Memory", "MP3", "Music"),
        currency="USD",
        handle="ipod-nano",
        created_at=at,
        updated_at=at,
        provider_ids={"graphql": "gid://shopify/Product/632910392"},
    )  # fmt: skip
    assert (touch.id, touch.title, touch.images) == ("921728736", "IPod Touch 8GB", ())
    assert [(v.id, v.sku, v.barcode, v.price, v.stock) for v in touch.variants] == [
        ("447654529", "IPOD2009BLACK", "1234_black", Decimal("199.00"), 13)
    ]


def test_shopify_products_of_2011() -> None:
    """Without barcodes, units of weight and values of options; the option is called Title."""
    for told in recorded(SHOPIFY, "products.json"):
        read = shopify_product(told, "CAD")
        assert read.id == str(told["id"])
        assert read.currency == "CAD"
        assert [(v.id, v.price, v.sku, v.stock) for v in read.variants] == [
            ("808950810", Decimal("199.00"), "IPOD2008PINK", 10)
        ]
        [variant] = read.variants
        assert (variant.weight, variant.weight_unit) == (Decimal(200), "g")
        assert variant.options == {"Title": "Pink"}
        assert read.options == (ShopOption("Title", ("Pink",)),)
        assert [one.url for one in read.images] == [one["src"] for one in told["images"]]


def test_a_shopify_product_with_all_its_variants() -> None:
    told = recorded(SHOPIFY, "product.json")["product"]
    read = shopify_product(told)
    assert [v.sku for v in read.variants] == [
        "IPOD2008PINK", "IPOD2008RED", "IPOD2008GREEN", "IPOD2008BLACK"
    ]  # fmt: skip
    assert [v.stock for v in read.variants] == [10, 20, 30, 40]
    assert read.currency is None
    listed = recorded(SHOPIFY, "variants.json")["variants"]
    again = shopify_product({**told, "variants": listed})
    assert again.variants == read.variants


def test_shopify_product_listings() -> None:
    chair, bottle = (shopify_product(one) for one in recorded(SHOPIFY, "product_listings.json"))
    assert (chair.id, bottle.id) == ("2", "1")
    assert chair.vendor == "O'Hara, Fritsch and Hudson"
    assert [(v.id, v.price, v.sku, v.barcode) for v in chair.variants] == [
        ("3", Decimal("179.99"), None, None), ("4", Decimal("179.99"), None, None)
    ]  # fmt: skip
    # The second is not counted by the shop.
    assert [(v.stock, v.stock_status) for v in chair.variants] == [
        (810, "in_stock"), (None, "in_stock")
    ]  # fmt: skip
    assert [v.options for v in chair.variants] == [
        {"Color or something": "Aerodynamic Copper Clock"},
        {"Color or something": "Awesome Concrete Knife"},
    ]
    assert (chair.variants[0].weight, chair.variants[0].weight_unit) == (Decimal("8.4"), "kg")


def test_a_simple_woocommerce_product() -> None:
    told = recorded(WOO, "products_01.json")
    at = datetime(2017, 3, 23, 20, 1, 14, tzinfo=UTC)
    uploads = "https://example.com/wp-content/uploads/2017/03"
    assert woo_product(told, EUR) == ShopProduct(
        id="794",
        title="Premium Quality",
        variants=(
            ShopVariant(
                "794", price=Decimal("21.99"), stock=None, stock_status="in_stock", updated_at=at
            ),
        ),
        images=(
            ShopImage(f"{uploads}/T_2_front-4.jpg", "792", "", 1),
            ShopImage(f"{uploads}/T_2_back-2.jpg", "793", "", 2),
        ),
        description=told["description"],
        product_type="simple",
        categories=("Clothing", "T-shirts"),
        currency="EUR",
        handle="premium-quality-19",
        url="https://example.com/product/premium-quality-19/",
        created_at=at,
        updated_at=at,
        units={"weight": "kg", "length": "cm"},
    )


def test_a_variable_woocommerce_product_needs_its_variations() -> None:
    told = recorded(WOO, "products_04.json")[0]
    listed = woo_product(told, EUR)
    assert (listed.id, listed.complete, listed.variants) == ("799", False, ())
    assert listed.options == (
        ShopOption("Color", ("Black", "Green")), ShopOption("Size", ("S", "M"))
    )  # fmt: skip
    variations = recorded(WOO, "product-variations_03.json")
    whole = woo_product(told, EUR, variations)
    assert whole.complete
    assert [(v.id, v.title, v.price, v.options) for v in whole.variants] == [
        ("733", "Green", Decimal("9.00"), {"Color": "Green"}),
        ("732", "Black", Decimal("9.00"), {"Color": "Black"}),
    ]
    assert [v.image_url for v in whole.variants] == [one["image"]["src"] for one in variations]


@pytest.mark.parametrize("number", range(1, 8))
def test_every_recorded_woocommerce_product_keeps_its_values(number: int) -> None:
    told = recorded(WOO, f"products_{number:02}.json")
    if isinstance(told, dict) and "create" in told:
        told = [one for change in ("create", "update", "delete") for one in told[change]]
    for one in told if isinstance(told, list) else [told]:
        read = woo_product(one, EUR, [] if one["type"] == "variable" else None)
        assert (read.id, read.title) == (str(one["id"]), one["name"])
        assert [image.url for image in read.images] == [image["src"] for image in one["images"]]
        assert read.categories == tuple(group["name"] for group in one["categories"])
        if one["type"] != "variable":
            [variant] = read.variants
            assert str(variant.price) == one["price"]
            assert (variant.sku or "") == one["sku"]


@pytest.mark.parametrize("number", range(1, 7))
def test_every_recorded_woocommerce_variation_keeps_its_values(number: int) -> None:
    told = recorded(WOO, f"product-variations_{number:02}.json")
    if isinstance(told, dict) and "create" in told:
        told = [one for change in ("create", "update", "delete") for one in told[change]]
    told = told if isinstance(told, list) else [told]
    read = woo_product({"id": 22, "type": "variable"}, EUR, told).variants
    assert [v.id for v in read] == [str(one["id"]) for one in told]
    for variant, one in zip(read, told, strict=True):
        assert str(variant.price) == one["price"]
        assert variant.options == {a["name"]: a["option"] for a in one["attributes"]}
        assert variant.image_url == (one["image"]["src"] if one["image"] else None)
