"""The two CSV files of PrestaShop: products, and combinations, which are their variants."""

from __future__ import annotations

from collections.abc import Iterator

from penstock.catalog.shop_files.shop_file import (
    Line,
    Product,
    ShopFile,
    at,
    html_of,
    image_urls,
    is_published,
    side_in,
    stock_of,
    variants_of,
    weight_in,
)

_PRODUCTS = (
    "Product ID", "Active (0/1)", "Name *", "Categories (x,y,z...)", "Price tax excluded",
    "Wholesale price", "Reference #", "Supplier", "Manufacturer", "EAN13", "MPN", "Width", "Height",
    "Depth", "Weight", "Quantity", "Minimal quantity", "Description", "Tags (x,y,z...)",
    "Image URLs (x,y,z...)",
)  # fmt: skip
_COMBINATIONS = (
    "Product ID*", "Attribute (Name:Type:Position)*", "Value (Value:Position)*", "Reference",
    "EAN13", "Wholesale price", "Quantity", "Minimal quantity", "Default (0 = No, 1 = Yes)",
)  # fmt: skip


def _products(product: Product) -> Iterator[Line]:
    yield {
        "Product ID": product.get("sourceId"),
        "Active (0/1)": "1" if is_published(product) else "0",
        "Name *": product.get("title"),
        "Categories (x,y,z...)": (product.get("category") or "").replace(" > ", "/"),
        "Price tax excluded": at(product, "price.amount"),
        "Wholesale price": at(product, "price.cost"),
        "Reference #": at(product, "identifiers.sku"),
        "Supplier": at(product, "supplier.name"),
        "Manufacturer": product.get("brand"),
        "EAN13": at(product, "identifiers.gtin"),
        "MPN": at(product, "identifiers.mpn"),
        **{side.title(): side_in(product, side, "cm") for side in ("width", "height", "depth")},
        "Weight": weight_in(product, "kg"),
        "Quantity": stock_of(product),
        "Minimal quantity": at(product, "availability.minOrder"),
        "Description": html_of(product.get("description")),
        "Tags (x,y,z...)": ",".join(at(product, "metadata.tags") or ()),
        "Image URLs (x,y,z...)": ",".join(image_urls(product)),
    }


def _combinations(product: Product) -> Iterator[Line]:
    for number, variant in enumerate(variants_of(product)):
        options = variant.get("options") or {}
        names = [f"{_bare(name)}:select:{n}" for n, name in enumerate(options)]
        values = [f"{_bare(value)}:{n}" for n, value in enumerate(options.values())]
        yield {
            "Product ID*": product.get("sourceId"),
            "Attribute (Name:Type:Position)*": ",".join(names),
            "Value (Value:Position)*": ",".join(values),
            "Reference": at(variant, "identifiers.sku"),
            "EAN13": at(variant, "identifiers.gtin"),
            "Wholesale price": at(variant, "price.cost"),
            "Quantity": stock_of(variant),
            "Minimal quantity": "1",
            "Default (0 = No, 1 = Yes)": "0" if number else "1",
        }


def _bare(text: str) -> str:
    """Commas and colons separate options and their parts."""
    return text.replace(",", " ").replace(":", " ")


PRESTASHOP = ShopFile("prestashop", "PrestaShop products", _PRODUCTS, _products, ";")
PRESTASHOP_COMBINATIONS = ShopFile(
    "prestashop-combinations", "PrestaShop combinations", _COMBINATIONS, _combinations, ";"
)
