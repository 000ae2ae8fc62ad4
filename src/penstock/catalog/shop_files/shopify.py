"""The product CSV of Shopify."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from itertools import zip_longest
from typing import Any

from penstock.catalog.shop_files.shop_file import (
    Line,
    Product,
    ShopFile,
    at,
    handle_of,
    html_of,
    is_published,
    stock_of,
    variants_of,
    weight_in,
)

_COLUMNS = (
    "Handle", "Title", "Body (HTML)", "Vendor", "Type", "Tags", "Published", "Option1 Name",
    "Option1 Value", "Option2 Name", "Option2 Value", "Option3 Name", "Option3 Value",
    "Variant SKU", "Variant Grams", "Variant Inventory Tracker", "Variant Inventory Qty",
    "Variant Inventory Policy", "Variant Fulfillment Service", "Variant Price",
    "Variant Compare At Price", "Variant Barcode", "Image Src", "Image Alt Text",
    "Variant Weight Unit", "Cost per item", "Status",
)  # fmt: skip
_MAX_OPTIONS = 3


def _lines(product: Product) -> Iterator[Line]:
    """A line for each variant or picture, whichever are more; the first has the product."""
    handle = handle_of(product)
    variants = [*variants_of(product)] or [product]
    pictures = product.get("images") or ()
    for number, (variant, picture) in enumerate(zip_longest(variants, pictures)):
        line: Line = {"Handle": handle}
        if number == 0:
            line |= _product(product)
        if variant is not None:
            line |= _variant(product, variant, names=number == 0)
        if picture is not None:
            line |= {"Image Src": picture["url"], "Image Alt Text": picture.get("alt")}
        yield line


def _product(product: Product) -> Line:
    return {
        "Title": product.get("title"),
        "Body (HTML)": html_of(product.get("description")),
        "Vendor": product.get("brand"),
        "Type": product.get("category"),
        "Tags": ", ".join(at(product, "metadata.tags") or ()),
        "Published": "true" if is_published(product) else "false",
        "Status": "active" if is_published(product) else "draft",
    }


def _variant(product: Product, variant: Mapping[str, Any], *, names: bool) -> Line:
    line: Line = {
        "Variant SKU": at(variant, "identifiers.sku"),
        "Variant Price": at(variant, "price.amount") or at(product, "price.amount"),
        "Variant Compare At Price": at(variant, "price.compareAt"),
        "Variant Barcode": at(variant, "identifiers.gtin"),
        "Cost per item": at(variant, "price.cost"),
        "Variant Inventory Policy": "deny",
        "Variant Fulfillment Service": "manual",
    }
    if (stock := stock_of(variant)) is not None:
        line |= {"Variant Inventory Tracker": "shopify", "Variant Inventory Qty": stock}
    if (grams := weight_in(product, "g")) is not None:
        line |= {"Variant Grams": grams, "Variant Weight Unit": "g"}
    options = variant.get("options") or {"Title": "Default Title"}
    for number, (name, value) in enumerate([*options.items()][:_MAX_OPTIONS], start=1):
        line[f"Option{number} Value"] = value
        if names:
            line[f"Option{number} Name"] = name
    return line


SHOPIFY = ShopFile("shopify", "Shopify", _COLUMNS, _lines)
