"""A shop's product as a product of the catalog, field by field."""

from __future__ import annotations

from datetime import UTC, date, datetime
from decimal import Decimal

from hypothesis import given
from hypothesis import strategies as st

from penstock.model.shops.products import ShopImage, ShopProduct, ShopVariant
from penstock.pipelines.shop_import.mapping import MappedProduct, RateTable, map_product

SHIRT = ShopProduct(
    "7001",
    "Linen Shirt",
    (
        ShopVariant(
            "1", "Red / S", "S-1", "4006381333931", Decimal("19.90"), Decimal("24.90"), 3,
            "in_stock", {"Color": "Red", "Size": "S"}, Decimal("0.25"), "kg",
        ),
        ShopVariant(
            "2", "Blue / S", "S-2", "no code", Decimal("21.00"), None, None, "backorder",
            {"Color": "Blue", "Size": "S"}, image_url="https://cdn.example/2.jpg",
        ),
    ),
    (
        ShopImage("https://cdn.example/2.jpg", position=2),
        ShopImage("https://cdn.example/1.jpg?v=1,2", alt="Front", position=1),
    ),
    description="<p>Airy &amp; <b>light</b></p>", vendor="Larch & Co", product_type="Shirts",
    categories=("Clothing", "Shirts"), tags=("linen", "summer"), currency="EUR",
    url="https://shop.example/products/linen", updated_at=datetime(2026, 3, 1, 12, tzinfo=UTC),
)  # fmt: skip


def mapped(shop: ShopProduct, rates: RateTable = ()) -> MappedProduct:
    return map_product(shop, "shopify:shop.example", "USD", rates)


def test_every_field_has_its_place() -> None:
    product = mapped(SHIRT).document["product"]
    assert product["id"] == "shopify:shop.example:7001"
    assert (product["source"], product["sourceId"]) == ("shopify:shop.example", "7001")
    assert (product["title"], product["description"]) == ("Linen Shirt", "Airy & light")
    assert (product["brand"], product["category"]) == ("Larch & Co", "Clothing > Shirts")
    assert product["price"] == {"amount": "19.90", "currency": "EUR", "unit": "piece"}
    assert product["availability"] == {"status": "in_stock", "quantity": 3}
    assert product["identifiers"] == {"sku": "S-1", "gtin": "4006381333931"}
    assert product["specifications"]["weight"] == {"value": 0.25, "unit": "kg"}
    assert product["images"] == [
        {"url": "https://cdn.example/1.jpg?v=1,2", "type": "primary", "alt": "Front"},
        {"url": "https://cdn.example/2.jpg", "type": "secondary"},
    ]
    assert product["metadata"]["tags"] == ["linen", "summer"]
    assert product["metadata"]["url"] == "https://shop.example/products/linen"


def test_variants_keep_what_is_their_own() -> None:
    red, blue = mapped(SHIRT).document["product"]["variants"]
    assert red["identifiers"] == {"sku": "S-1", "gtin": "4006381333931"}
    assert red["options"] == {"Color": "Red", "Size": "S"}
    assert blue["price"] == {"amount": "21.00", "currency": "EUR", "unit": "piece"}
    assert blue["availability"] == {"status": "backorder"}
    assert (blue["sourceId"], blue["image"]) == ("2", "https://cdn.example/2.jpg")
    # A barcode that is no GTIN is none of the variant's identifiers, and no error.
    assert blue["identifiers"] == {"sku": "S-2"}


def test_a_barcode_that_is_no_gtin_is_kept_beside() -> None:
    shop = ShopProduct("1", "Mug", (ShopVariant("1", barcode="MUG-1", price=Decimal(5)),))
    found = mapped(shop)
    assert found.error is None
    assert found.document["product"]["specifications"]["customFields"]["barcode"] == "MUG-1"


def test_prices_are_converted_where_there_is_a_rate() -> None:
    rates = ((date(2026, 3, 1), "EUR", Decimal("1.10")),)
    base = mapped(SHIRT, rates).document["product"]["price"]["base"]
    assert base["currency"] == "USD"
    assert Decimal(base["amount"]) > 0


def test_a_product_without_a_title_is_an_error() -> None:
    error = mapped(ShopProduct("1", "")).error
    assert error is not None
    assert error.code == "REQUIRED_MISSING"


VARIANTS = st.builds(
    ShopVariant,
    id=st.text(min_size=1, max_size=5),
    sku=st.none() | st.text(max_size=20),
    barcode=st.none() | st.text(max_size=20),
    price=st.none() | st.decimals(0, 10**6, places=2),
    stock=st.none() | st.integers(-5, 10**6),
    options=st.dictionaries(st.text(min_size=1, max_size=5), st.text(max_size=5), max_size=2),
)


@given(
    st.builds(
        ShopProduct,
        id=st.text(min_size=1, max_size=20),
        title=st.text(max_size=40),
        variants=st.lists(VARIANTS, max_size=3).map(tuple),
        description=st.text(max_size=100),
        vendor=st.none() | st.text(max_size=10),
        currency=st.sampled_from([None, "EUR", "USD", "XXQ"]),
        tags=st.lists(st.text(max_size=5), max_size=3).map(tuple),
    )
)
def test_any_product_can_be_mapped_and_stored(shop: ShopProduct) -> None:
    stored = ShopProduct.from_json(shop.as_json())
    assert stored == shop
    first, second = mapped(shop), mapped(stored)
    assert first.document == second.document
