"""Products as the REST Admin API answers them."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from penstock.providers.base import (
    ProductStatus,
    ShopImage,
    ShopOption,
    ShopProduct,
    ShopVariant,
    decimal_or_none,
    text_or_none,
    time_or_none,
)
from penstock.providers.shopify.rules import (
    WEIGHT_UNITS,
    is_only_variant,
    plain_option,
    stock_status,
)

_STATUSES: dict[str, ProductStatus] = {"draft": "draft", "archived": "archived"}
_MOST_OPTIONS = 3


def product_of(told: Mapping[str, Any], currency: str | None = None) -> ShopProduct:
    """A product, or a product listing, whose id has another name. ``currency`` is the shop's."""
    names = [str(one["name"]) for one in told.get("options") or ()]
    urls = {one["id"]: one["src"] for one in told.get("images") or () if one.get("id")}
    variants = tuple(_variant(one, names, urls) for one in told.get("variants") or ())
    graphql = told.get("admin_graphql_api_id")
    return ShopProduct(
        id=str(told["id"] if "id" in told else told["product_id"]),
        title=str(told.get("title") or ""),
        variants=variants,
        images=_images(told.get("images") or ()),
        options=_options(told.get("options") or (), variants),
        description=str(told.get("body_html") or ""),
        status=_STATUSES.get(str(told.get("status")), "active"),
        vendor=text_or_none(told.get("vendor")),
        product_type=text_or_none(told.get("product_type")),
        tags=tuple(tag.strip() for tag in str(told.get("tags") or "").split(",") if tag.strip()),
        currency=_currency(told) or currency,
        handle=text_or_none(told.get("handle")),
        created_at=time_or_none(told.get("created_at")),
        updated_at=time_or_none(told.get("updated_at")),
        provider_ids={"graphql": graphql} if graphql else {},
    )


def _currency(told: Mapping[str, Any]) -> str | None:
    """Of the price that the variant itself has: others are converted for other markets."""
    for variant in told.get("variants") or ():
        for one in variant.get("presentment_prices") or ():
            if one["price"]["amount"] == variant.get("price"):
                return str(one["price"]["currency_code"])
    return None


def _variant(told: Mapping[str, Any], names: Sequence[str], urls: Mapping[Any, str]) -> ShopVariant:
    title = str(told.get("title") or "")
    counted = bool(told.get("inventory_management"))
    quantity = told.get("inventory_quantity")
    weight, unit = _weight(told)
    return ShopVariant(
        id=str(told["id"]),
        title="" if is_only_variant(title) else title,
        sku=text_or_none(told.get("sku")),
        barcode=text_or_none(told.get("barcode")),
        price=decimal_or_none(told.get("price")),
        compare_at_price=decimal_or_none(told.get("compare_at_price")),
        stock=quantity if counted else None,
        stock_status=stock_status(
            quantity if counted else None, oversold=told.get("inventory_policy") == "continue"
        ),
        options=_chosen(told, names),
        weight=weight,
        weight_unit=unit,
        image_url=urls.get(told.get("image_id")),
        updated_at=time_or_none(told.get("updated_at")),
    )


def _weight(told: Mapping[str, Any]) -> tuple[Any, str | None]:
    """Without a unit only the grams are known; zero means that the shop has not weighed it."""
    unit = WEIGHT_UNITS.get(str(told.get("weight_unit")))
    weight = decimal_or_none(told.get("weight") if unit else told.get("grams"))
    return (weight, unit or "g") if weight else (None, None)


def _chosen(told: Mapping[str, Any], names: Sequence[str]) -> dict[str, str]:
    if told.get("option_values"):
        pairs = [(one["name"], one["value"]) for one in told["option_values"]]
    else:
        values = [told.get(f"option{place}") for place in range(1, _MOST_OPTIONS + 1)]
        pairs = [(name, value) for name, value in zip(names, values, strict=False) if value]
    return {name: value for name, value in pairs if not is_only_variant(value)}


def _images(told: Sequence[Mapping[str, Any]]) -> tuple[ShopImage, ...]:
    return tuple(
        ShopImage(
            url=one["src"],
            id=str(one["id"]) if one.get("id") else None,
            alt=str(one.get("alt") or ""),
            position=one.get("position") or place,
            width=one.get("width"),
            height=one.get("height"),
            variant_ids=tuple(str(variant) for variant in one.get("variant_ids") or ()),
        )
        for place, one in enumerate(told, start=1)
    )


def _options(
    told: Sequence[Mapping[str, Any]], variants: Sequence[ShopVariant]
) -> tuple[ShopOption, ...]:
    found = (plain_option(str(one["name"]), one.get("values") or (), variants) for one in told)
    return tuple(one for one in found if one is not None)
