"""The product CSV of Magento 2 and Adobe Commerce."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from penstock.catalog.shop_files.shop_file import (
    Line,
    Product,
    ShopFile,
    at,
    code_of,
    html_of,
    image_urls,
    in_stock,
    is_published,
    regular_and_sale,
    stock_of,
    variants_of,
    weight_in,
)

_COLUMNS = (
    "sku", "attribute_set_code", "product_type", "categories", "product_websites", "name",
    "description", "weight", "product_online", "visibility", "price", "special_price", "cost",
    "base_image", "additional_images", "qty", "is_in_stock", "meta_keywords",
    "additional_attributes", "configurable_variations",
)  # fmt: skip
_ROOT = "Default Category"


def _lines(product: Product) -> Iterator[Line]:
    """The variants first, since the import needs them before the product that lists them."""
    variants = variants_of(product)
    sku = at(product, "identifiers.sku") or product.get("sourceId")
    if sku in [at(one, "identifiers.sku") for one in variants]:
        sku = product.get("sourceId") if product.get("sourceId") != sku else f"{sku}-parent"
    for variant in variants:
        options = {code_of(name): value for name, value in (variant.get("options") or {}).items()}
        name = "-".join([str(product.get("title")), *options.values()])
        yield {
            **_common(product), "sku": at(variant, "identifiers.sku"), "name": name,
            "product_type": "simple", "visibility": "Not Visible Individually", **_offer(variant),
            "additional_attributes": _attributes({**options, **_identity(product, variant)}),
        }  # fmt: skip
    urls = image_urls(product)
    yield {
        **_common(product),
        "sku": sku,
        "name": product.get("title"),
        "product_type": "configurable" if variants else "simple",
        "visibility": "Catalog, Search",
        **_offer(product),
        "base_image": next(iter(urls), None),
        "additional_images": ",".join(urls[1:]),
        "additional_attributes": _attributes(_identity(product, {} if variants else product)),
        "configurable_variations": "|".join(map(_listed, variants)),
    }


def _common(product: Product) -> Line:
    return {
        "attribute_set_code": "Default",
        "categories": _category(product.get("category")),
        "product_websites": "base",
        "description": html_of(product.get("description")),
        "weight": weight_in(product, "kg"),
        "product_online": "1" if is_published(product) else "2",
        "meta_keywords": ", ".join(at(product, "metadata.tags") or ()),
    }


def _category(path: str | None) -> str | None:
    if not path:
        return None
    levels = [level.replace("/", "-") for level in path.split(" > ")]
    return "/".join(levels if levels[0] == _ROOT else [_ROOT, *levels])


def _offer(thing: Mapping[str, Any]) -> Line:
    regular, sale = regular_and_sale(thing.get("price"))
    return {
        "price": regular,
        "special_price": sale,
        "cost": at(thing, "price.cost"),
        "qty": stock_of(thing),
        "is_in_stock": in_stock(thing),
    }


def _identity(product: Product, thing: Mapping[str, Any]) -> dict[str, str | None]:
    return {
        "manufacturer": product.get("brand"),
        "gtin": at(thing, "identifiers.gtin"),
        "mpn": at(thing, "identifiers.mpn"),
    }


def _attributes(values: Mapping[str, str | None]) -> str:
    return ",".join(f"{name}={value}" for name, value in values.items() if value)


def _listed(variant: Mapping[str, Any]) -> str:
    options = {code_of(name): value for name, value in (variant.get("options") or {}).items()}
    return _attributes({"sku": at(variant, "identifiers.sku"), **options})


MAGENTO = ShopFile("magento", "Magento 2", _COLUMNS, _lines)
