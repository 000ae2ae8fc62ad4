"""The product CSV of WooCommerce."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from penstock.catalog.shop_files.shop_file import (
    Line,
    Product,
    ShopFile,
    at,
    html_of,
    image_urls,
    in_stock,
    is_published,
    regular_and_sale,
    side_in,
    stock_of,
    variants_of,
    weight_in,
)

_MAX_OPTIONS = 3
_COLUMNS = (
    "Type", "SKU", "GTIN, UPC, EAN, or ISBN", "Name", "Published", "Description", "In stock?",
    "Stock", "Weight (kg)", "Length (cm)", "Width (cm)", "Height (cm)", "Sale price",
    "Regular price", "Categories", "Tags", "Images", "Parent", "Brands", "Cost of goods",
    *(
        f"Attribute {n} {part}"
        for n in range(1, _MAX_OPTIONS + 1)
        for part in ("name", "value(s)", "visible", "global")
    ),
)  # fmt: skip


def _lines(product: Product) -> Iterator[Line]:
    variants = variants_of(product)
    parent = at(product, "identifiers.sku") or product.get("sourceId")
    if variants and parent in [at(one, "identifiers.sku") for one in variants]:
        # The product has the SKU of one of its variants, which must be unique in the shop.
        parent = (
            product.get("sourceId") if product.get("sourceId") != parent else f"{parent}-parent"
        )
    line = {
        "Type": "variable" if variants else "simple",
        "SKU": parent if variants else at(product, "identifiers.sku"),
        "Name": product.get("title"),
        "Published": "1" if is_published(product) else "-1",
        "Description": html_of(product.get("description")),
        "Weight (kg)": weight_in(product, "kg"),
        **{
            f"{side.title()} (cm)": side_in(product, side, "cm")
            for side in ("length", "width", "height")
        },
        "Categories": (product.get("category") or "").replace(",", "\\,"),
        "Tags": ", ".join(at(product, "metadata.tags") or ()),
        "Images": ", ".join(image_urls(product)),
        "Brands": product.get("brand"),
    }
    if variants:
        yield line | _options_of_all(variants)
    else:
        yield line | _offer(product)
    for variant in variants:
        options = variant.get("options") or {}
        name = " - ".join([str(product.get("title")), ", ".join(options.values())])
        yield {
            "Type": "variation", "Name": name, "Published": "1", "Parent": parent,
            "SKU": at(variant, "identifiers.sku"), **_offer(variant),
            **_attributes({name: [value] for name, value in options.items()}, visible=None),
        }  # fmt: skip


def _offer(thing: Mapping[str, Any]) -> Line:
    regular, sale = regular_and_sale(thing.get("price"))
    return {
        "GTIN, UPC, EAN, or ISBN": at(thing, "identifiers.gtin"),
        "In stock?": in_stock(thing),
        "Stock": stock_of(thing),
        "Regular price": regular,
        "Sale price": sale,
        "Cost of goods": at(thing, "price.cost"),
    }


def _options_of_all(variants: Any) -> Line:
    """All values of each option, as the parent of variations lists them."""
    values: dict[str, list[str]] = {}
    for variant in variants:
        for name, value in (variant.get("options") or {}).items():
            if value not in values.setdefault(name, []):
                values[name].append(value)
    return _attributes(values, visible="1")


def _attributes(values: Mapping[str, list[str]], visible: str | None) -> Line:
    line: Line = {}
    for number, (name, found) in enumerate([*values.items()][:_MAX_OPTIONS], start=1):
        line |= {
            f"Attribute {number} name": name,
            f"Attribute {number} value(s)": ", ".join(found),
            f"Attribute {number} visible": visible,
            f"Attribute {number} global": "1",
        }
    return line


WOOCOMMERCE = ShopFile("woocommerce", "WooCommerce", _COLUMNS, _lines)
