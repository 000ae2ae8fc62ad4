"""Products and variations as the REST API answers them."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from decimal import Decimal
from typing import Any

from penstock.providers.base import (
    ProductStatus,
    ShopImage,
    ShopOption,
    ShopProduct,
    ShopVariant,
    StockStatus,
    decimal_or_none,
    text_or_none,
    time_or_none,
)

_STATUSES: dict[str, ProductStatus] = {"publish": "active", "trash": "archived"}
_STOCK: dict[str, StockStatus] = {
    "instock": "in_stock",
    "outofstock": "out_of_stock",
    "onbackorder": "backorder",
}
# Where plug-ins keep the GTIN; WooCommerce has a field of its own since version 9.2.
_GTIN_KEYS = (
    "_global_unique_id", "_wpm_gtin_code", "_alg_ean", "_ean", "_gtin", "_barcode", "_ts_gtin",
    "hwp_product_gtin",
)  # fmt: skip


@dataclass(frozen=True, slots=True)
class Units:
    """What the shop's settings say; its products do not repeat it."""

    currency: str | None = None
    weight: str | None = None
    length: str | None = None

    @property
    def as_mapping(self) -> dict[str, str]:
        named = {"weight": self.weight, "length": self.length}
        return {name: unit for name, unit in named.items() if unit}


def product_of(
    told: Mapping[str, Any], units: Units, variations: Sequence[Mapping[str, Any]] | None = None
) -> ShopProduct:
    """``variations`` are those of a variable product; None: not asked for yet."""
    variable = told.get("type") == "variable"
    images = tuple(_image(one, place) for place, one in enumerate(told.get("images") or (), 1))
    if variable:
        variants = tuple(_variation(one, units) for one in variations or ())
    else:
        variants = (_variant(told, units, {}),)
    return ShopProduct(
        id=str(told["id"]),
        title=str(told.get("name") or ""),
        variants=variants,
        images=images,
        options=_options(told.get("attributes") or ()),
        description=str(told.get("description") or told.get("short_description") or ""),
        status=_STATUSES.get(str(told.get("status")), "draft"),
        vendor=next((text_or_none(one.get("name")) for one in told.get("brands") or ()), None),
        product_type=text_or_none(told.get("type")),
        categories=tuple(str(one["name"]) for one in told.get("categories") or ()),
        tags=tuple(str(one["name"]) for one in told.get("tags") or ()),
        currency=units.currency,
        handle=text_or_none(told.get("slug")),
        url=text_or_none(told.get("permalink")),
        created_at=time_or_none(told.get("date_created_gmt")),
        updated_at=time_or_none(told.get("date_modified_gmt")),
        complete=not variable or variations is not None,
        units=units.as_mapping,
    )


def _variation(told: Mapping[str, Any], units: Units) -> ShopVariant:
    chosen = {
        str(one["name"]): str(one["option"])
        for one in told.get("attributes") or ()
        if one.get("option")
    }
    return _variant(told, units, chosen)


def _variant(told: Mapping[str, Any], units: Units, options: Mapping[str, str]) -> ShopVariant:
    price, regular = decimal_or_none(told.get("price")), decimal_or_none(told.get("regular_price"))
    reduced = bool(told.get("on_sale")) and regular is not None and regular != price
    weight = decimal_or_none(told.get("weight"))
    dimensions = _dimensions(told.get("dimensions") or {})
    picture = told.get("image") or {}
    # A variation may share the stock of its product: then the field is the text "parent".
    counted = told.get("manage_stock") in (True, "parent")
    return ShopVariant(
        id=str(told["id"]),
        title=" / ".join(options.values()),
        sku=text_or_none(told.get("sku")),
        barcode=_barcode(told),
        price=price,
        compare_at_price=regular if reduced else None,
        stock=told.get("stock_quantity") if counted else None,
        stock_status=_STOCK.get(str(told.get("stock_status"))),
        options=options,
        weight=weight or None,
        weight_unit=units.weight if weight else None,
        dimensions=dimensions,
        dimension_unit=units.length if dimensions else None,
        image_url=text_or_none(picture.get("src")),
        updated_at=time_or_none(told.get("date_modified_gmt")),
    )


def _barcode(told: Mapping[str, Any]) -> str | None:
    found = text_or_none(told.get("global_unique_id"))
    if found is not None:
        return found
    kept = {one.get("key"): one.get("value") for one in told.get("meta_data") or ()}
    return next((text_or_none(kept[key]) for key in _GTIN_KEYS if kept.get(key)), None)


def _dimensions(told: Mapping[str, Any]) -> dict[str, Decimal]:
    read = {side: decimal_or_none(told.get(side)) for side in ("length", "width", "height")}
    return {side: length for side, length in read.items() if length}


def _image(told: Mapping[str, Any], place: int) -> ShopImage:
    return ShopImage(
        url=str(told["src"]),
        id=str(told["id"]) if told.get("id") else None,
        alt=str(told.get("alt") or ""),
        position=place,
    )


def _options(told: Sequence[Mapping[str, Any]]) -> tuple[ShopOption, ...]:
    """Attributes that variations differ in; others only describe the product."""
    return tuple(
        ShopOption(str(one["name"]), tuple(str(value) for value in one.get("options") or ()))
        for one in told
        if one.get("variation")
    )
