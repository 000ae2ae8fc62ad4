"""Products of a shop, in one shape for all providers."""

from __future__ import annotations

import dataclasses
from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import datetime
from decimal import Decimal
from typing import Any, Literal

ProductStatus = Literal["active", "draft", "archived"]
StockStatus = Literal["in_stock", "out_of_stock", "backorder"]


@dataclass(frozen=True, slots=True)
class ShopImage:
    """A picture of a product. ``variant_ids`` are the variants that it shows; empty: the product
    as a whole."""

    url: str
    id: str | None = None
    alt: str = ""
    position: int = 1
    width: int | None = None
    height: int | None = None
    variant_ids: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class ShopOption:
    """What the variants of a product differ in, such as the color."""

    name: str
    values: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class ShopVariant:
    """What a customer buys. A product without options has exactly one, with its title empty."""

    id: str
    title: str = ""
    sku: str | None = None
    barcode: str | None = None
    price: Decimal | None = None
    # The price before a reduction.
    compare_at_price: Decimal | None = None
    # None: the shop does not count it.
    stock: int | None = None
    stock_status: StockStatus | None = None
    options: Mapping[str, str] = field(default_factory=dict)
    weight: Decimal | None = None
    weight_unit: str | None = None
    # In the provider's unit of length.
    dimensions: Mapping[str, Decimal] = field(default_factory=dict)
    dimension_unit: str | None = None
    image_url: str | None = None
    updated_at: datetime | None = None


@dataclass(frozen=True, slots=True)
class ShopProduct:
    """A product with its variants. ``id`` is the provider's, unique in the shop. A product that is
    not ``complete`` came from a list that leaves out variants or images: `Provider.complete` asks
    for the rest."""

    id: str
    title: str
    variants: tuple[ShopVariant, ...] = ()
    images: tuple[ShopImage, ...] = ()
    options: tuple[ShopOption, ...] = ()
    # As the shop has it, often HTML.
    description: str = ""
    status: ProductStatus = "active"
    vendor: str | None = None
    product_type: str | None = None
    # From the general to the special where the provider knows an order: `Clothing > Shirts`.
    categories: tuple[str, ...] = ()
    tags: tuple[str, ...] = ()
    # ISO 4217; of all prices of the product.
    currency: str | None = None
    handle: str | None = None
    url: str | None = None
    created_at: datetime | None = None
    updated_at: datetime | None = None
    complete: bool = True
    # Ids under which the provider's other interfaces know it, such as Shopify's GraphQL.
    provider_ids: Mapping[str, str] = field(default_factory=dict)
    # The shop's units (`weight`, `length`), for parts of the product that are asked for later.
    units: Mapping[str, str] = field(default_factory=dict)

    def as_json(self) -> dict[str, Any]:
        """For the input of an item. Values that are empty are left out."""
        plain: dict[str, Any] = _plain(self)
        return plain

    @staticmethod
    def from_json(told: Mapping[str, Any]) -> ShopProduct:
        fields = _read(ShopProduct, told)
        for name, kind in _PARTS.items():
            fields[name] = tuple(kind(**_read(kind, one)) for one in told.get(name) or ())
        return ShopProduct(**fields)


_PARTS: dict[str, type[Any]] = {
    "variants": ShopVariant,
    "images": ShopImage,
    "options": ShopOption,
}


def _plain(value: Any) -> Any:
    if dataclasses.is_dataclass(value):
        named = ((one.name, getattr(value, one.name), one) for one in dataclasses.fields(value))
        return {name: _plain(inner) for name, inner, one in named if not _is_default(one, inner)}
    if isinstance(value, Decimal):
        return str(value)
    if isinstance(value, datetime):
        return value.isoformat()
    if isinstance(value, Mapping):
        return {str(name): _plain(inner) for name, inner in value.items()}
    if isinstance(value, list | tuple):
        return [_plain(inner) for inner in value]
    return value


def _is_default(field_: dataclasses.Field[Any], value: Any) -> bool:
    if field_.default is not dataclasses.MISSING:
        return bool(value == field_.default)
    return field_.default_factory is not dataclasses.MISSING and not value


_DECIMALS = frozenset({"price", "compare_at_price", "weight"})
_TIMES = frozenset({"created_at", "updated_at"})
_TEXTS = frozenset({"categories", "tags", "values", "variant_ids"})


def _read(kind: type[Any], told: Mapping[str, Any]) -> dict[str, Any]:
    """The fields of ``kind`` in JSON; names that it does not know are left out, so that an item of
    a newer version can still be read."""
    known = {one.name for one in dataclasses.fields(kind)}
    return {name: _field(name, value) for name, value in told.items() if name in known}


def _field(name: str, value: Any) -> Any:
    if value is None:
        return None
    if name in _DECIMALS:
        return Decimal(value)
    if name in _TIMES:
        return datetime.fromisoformat(value)
    if name in _TEXTS:
        return tuple(value)
    if name == "dimensions":
        return {side: Decimal(length) for side, length in value.items()}
    return value
