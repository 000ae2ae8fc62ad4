"""Generated products as Shopify's GraphQL and REST APIs show them."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from penstock.providers.sandbox.catalog import MadeProduct, MadeVariant
from penstock.providers.sandbox.graphql import connection
from penstock.providers.sandbox.shop import Shop

FIRST_ID = 7_000_000_000
CURRENCY = "EUR"
_ONLY = "Default Title"


def _option_values(product: MadeProduct, variant: MadeVariant) -> list[tuple[str, str]]:
    if not product.has_options:
        return [("Title", _ONLY)]
    return [("Color", variant.color), ("Size", variant.size)]


def _title(product: MadeProduct, variant: MadeVariant) -> str:
    return f"{variant.color} / {variant.size}" if product.has_options else _ONLY


def _options(product: MadeProduct) -> list[dict[str, Any]]:
    values: dict[str, dict[str, None]] = {}
    for variant in product.variants:
        for name, value in _option_values(product, variant):
            values.setdefault(name, {})[value] = None
    return [{"name": name, "values": list(found)} for name, found in values.items()]


def graphql_product(shop: Shop, product: MadeProduct) -> Mapping[str, Any]:
    variants = [_graphql_variant(shop, product, one) for one in product.variants]
    media = [
        {
            "__typename": "MediaImage",
            "id": f"gid://shopify/MediaImage/{(FIRST_ID + product.number) * 100 + place}",
            "alt": product.title,
            "image": {"url": shop.picture_url(name), "width": None, "height": None},
        }
        for place, name in enumerate(product.pictures)
    ]
    return {
        "__typename": "Product",
        "id": f"gid://shopify/Product/{FIRST_ID + product.number}",
        "title": product.title,
        "descriptionHtml": product.description,
        "vendor": product.vendor,
        "productType": product.kind,
        "tags": list(product.tags),
        "status": product.status.upper(),
        "handle": product.title.lower().replace(" ", "-"),
        "onlineStoreUrl": f"{shop.base}/products/{product.number}",
        "createdAt": product.created_at.isoformat(),
        "updatedAt": product.updated_at.isoformat(),
        "category": {"fullName": f"Home > {product.category}"},
        "options": _options(product),
        "variants": connection(variants),
        "media": connection(media),
    }


def _graphql_variant(shop: Shop, product: MadeProduct, one: MadeVariant) -> dict[str, Any]:
    picture = None
    if product.pictures:
        url = shop.picture_url(product.pictures[0])
        picture = {"id": "gid://shopify/ProductImage/1", "url": url}
    return {
        "__typename": "ProductVariant",
        "id": f"gid://shopify/ProductVariant/{FIRST_ID * 10 + one.number}",
        "title": _title(product, one),
        "sku": one.sku,
        "barcode": one.barcode,
        "price": str(one.price),
        "compareAtPrice": None if one.was is None else str(one.was),
        "inventoryQuantity": one.stock,
        "inventoryPolicy": "DENY",
        "updatedAt": product.updated_at.isoformat(),
        "selectedOptions": [
            {"name": name, "value": value} for name, value in _option_values(product, one)
        ],
        "inventoryItem": {
            "tracked": True,
            "measurement": {"weight": {"value": one.grams, "unit": "GRAMS"}},
        },
        "image": picture,
    }


def rest_product(shop: Shop, product: MadeProduct) -> dict[str, Any]:
    options = _options(product)
    return {
        "id": FIRST_ID + product.number,
        "title": product.title,
        "body_html": product.description,
        "vendor": product.vendor,
        "product_type": product.kind,
        "created_at": product.created_at.isoformat(),
        "handle": product.title.lower().replace(" ", "-"),
        "updated_at": product.updated_at.isoformat(),
        "tags": ", ".join(product.tags),
        "status": product.status,
        "admin_graphql_api_id": f"gid://shopify/Product/{FIRST_ID + product.number}",
        "variants": [_rest_variant(product, one) for one in product.variants],
        "options": [
            {"id": place, "name": one["name"], "position": place, "values": one["values"]}
            for place, one in enumerate(options, start=1)
        ],
        "images": [
            {
                "id": (FIRST_ID + product.number) * 100 + place,
                "alt": product.title,
                "position": place + 1,
                "src": shop.picture_url(name),
                "width": None,
                "height": None,
                "variant_ids": [],
            }
            for place, name in enumerate(product.pictures)
        ],
    }


def _rest_variant(product: MadeProduct, one: MadeVariant) -> dict[str, Any]:
    chosen = dict(enumerate((value for _, value in _option_values(product, one)), start=1))
    return {
        "id": FIRST_ID * 10 + one.number,
        "product_id": FIRST_ID + product.number,
        "title": _title(product, one),
        "price": str(one.price),
        "sku": one.sku,
        "inventory_policy": "deny",
        "compare_at_price": None if one.was is None else str(one.was),
        "inventory_management": "shopify",
        "option1": chosen.get(1),
        "option2": chosen.get(2),
        "option3": None,
        "updated_at": product.updated_at.isoformat(),
        "barcode": one.barcode,
        "grams": one.grams,
        "weight": one.grams,
        "weight_unit": "g",
        "image_id": (FIRST_ID + product.number) * 100 if product.pictures else None,
        "inventory_quantity": one.stock,
    }
