"""The product CSV of Akeneo, with variants below their parent."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from penstock.catalog.shop_files.shop_file import (
    Line,
    Product,
    ShopFile,
    at,
    code_of,
    image_urls,
    is_published,
    variants_of,
    weight_in,
)

_COLUMNS = (
    "sku", "parent", "categories", "enabled", "family", "name", "description", "brand", "ean",
    "mpn", "price", "cost", "stock", "weight", "weight-unit", "color", "size", "image",
)  # fmt: skip


def _lines(product: Product) -> Iterator[Line]:
    variants = variants_of(product)
    sku = at(product, "identifiers.sku") or product.get("sourceId")
    if sku in [at(one, "identifiers.sku") for one in variants]:
        sku = product.get("sourceId") if product.get("sourceId") != sku else f"{sku}-parent"
    weight = weight_in(product, "kg")
    yield {
        "sku": sku,
        "categories": code_of(product.get("category") or ""),
        "enabled": "1" if is_published(product) else "0",
        "family": "default",
        "name": product.get("title"),
        "description": product.get("description"),
        "brand": product.get("brand"),
        "weight": weight,
        "weight-unit": weight and "KILOGRAM",
        "image": next(iter(image_urls(product)), None),
        **({} if variants else _offer(product)),
    }
    for variant in variants:
        options = {code_of(name): value for name, value in (variant.get("options") or {}).items()}
        yield {
            "sku": at(variant, "identifiers.sku"), "parent": sku, "family": "default",
            "enabled": "1" if is_published(product) else "0", **_offer(variant),
            "color": options.get("color") or options.get("colour"), "size": options.get("size"),
        }  # fmt: skip


def _offer(thing: Mapping[str, Any]) -> Line:
    return {
        "ean": at(thing, "identifiers.gtin"),
        "mpn": at(thing, "identifiers.mpn"),
        f"price-{at(thing, 'price.currency')}": at(thing, "price.amount"),
        "cost": at(thing, "price.cost"),
        "stock": at(thing, "availability.quantity"),
    }


AKENEO = ShopFile("akeneo", "Akeneo", _COLUMNS, _lines, ";", "price")
