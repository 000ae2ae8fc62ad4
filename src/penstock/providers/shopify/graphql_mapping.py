"""Products as GraphQL answers them."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
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

_STATUSES: dict[str, ProductStatus] = {"DRAFT": "draft", "ARCHIVED": "archived"}


def number(gid: Any) -> str:
    """The number at the end of `gid://shopify/Product/123`, which REST uses as the id."""
    return str(gid).rpartition("/")[2].partition("?")[0]


def product_of(
    node: Mapping[str, Any], variants: Sequence[Mapping[str, Any]],
    media: Sequence[Mapping[str, Any]], currency: str | None,
    cursors: Mapping[str, str] | None = None,
) -> ShopProduct:  # fmt: skip
    """With ``cursors`` the product has more parts than these."""
    category = (node.get("category") or {}).get("fullName")
    read = tuple(_variant(one) for one in variants)
    shown = {one["image"]["url"]: number(one["id"]) for one in variants if one.get("image")}
    return ShopProduct(
        id=number(node["id"]),
        title=str(node.get("title") or ""),
        variants=read,
        images=_images(media, shown),
        options=_options(node.get("options") or (), read),
        description=str(node.get("descriptionHtml") or ""),
        status=_STATUSES.get(str(node.get("status")), "active"),
        vendor=text_or_none(node.get("vendor")),
        product_type=text_or_none(node.get("productType")),
        categories=(category,) if category else (),
        tags=tuple(node.get("tags") or ()),
        currency=currency,
        handle=text_or_none(node.get("handle")),
        url=text_or_none(node.get("onlineStoreUrl")),
        created_at=time_or_none(node.get("createdAt")),
        updated_at=time_or_none(node.get("updatedAt")),
        complete=not cursors,
        cursors=cursors or {},
        provider_ids={"graphql": str(node["id"])},
    )


def with_rest(listed: ShopProduct, rest: ShopProduct) -> ShopProduct:
    """A product of a list, with the variants and images that the list left out."""
    variants = (*listed.variants, *rest.variants)
    shown = {one.image_url: one.id for one in variants if one.image_url}
    images = tuple(
        replace(one, position=place, variant_ids=(shown[one.url],) if one.url in shown else ())
        for place, one in enumerate((*listed.images, *rest.images), start=1)
    )
    return replace(rest, variants=variants, images=images)


def _variant(node: Mapping[str, Any]) -> ShopVariant:
    item = node.get("inventoryItem") or {}
    weight = (item.get("measurement") or {}).get("weight") or {}
    counted = bool(item.get("tracked", True))
    quantity = node.get("inventoryQuantity")
    oversold = str(node.get("inventoryPolicy") or "").upper() == "CONTINUE"
    title = str(node.get("title") or "")
    return ShopVariant(
        id=number(node["id"]),
        title="" if is_only_variant(title) else title,
        sku=text_or_none(node.get("sku")),
        barcode=text_or_none(node.get("barcode")),
        price=decimal_or_none(node.get("price")),
        compare_at_price=decimal_or_none(node.get("compareAtPrice")),
        stock=quantity if counted else None,
        stock_status=stock_status(quantity if counted else None, oversold=oversold),
        options={
            one["name"]: one["value"]
            for one in node.get("selectedOptions") or ()
            if not is_only_variant(one["value"])
        },
        weight=decimal_or_none(weight.get("value")) or None,
        weight_unit=WEIGHT_UNITS.get(str(weight.get("unit"))) if weight.get("value") else None,
        image_url=(node.get("image") or {}).get("url"),
        updated_at=time_or_none(node.get("updatedAt")),
    )


def _images(
    media: Sequence[Mapping[str, Any]], variant_of_url: Mapping[str, str]
) -> tuple[ShopImage, ...]:
    """Videos and models are left out."""
    found = [one for one in media if (one.get("image") or {}).get("url")]
    return tuple(
        ShopImage(
            url=one["image"]["url"],
            id=number(one["id"]),
            alt=str(one.get("alt") or ""),
            position=place,
            width=one["image"].get("width"),
            height=one["image"].get("height"),
            variant_ids=(variant_of_url[one["image"]["url"]],)
            if one["image"]["url"] in variant_of_url
            else (),
        )
        for place, one in enumerate(found, start=1)
    )


def _options(
    told: Sequence[Mapping[str, Any]], variants: Sequence[ShopVariant]
) -> tuple[ShopOption, ...]:
    found = (plain_option(str(one["name"]), one.get("values") or (), variants) for one in told)
    return tuple(one for one in found if one is not None)
