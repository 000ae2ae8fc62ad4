"""Products of a shop, in one shape for all providers."""

from __future__ import annotations

import dataclasses
from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import datetime
from decimal import Decimal
from functools import cache
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
    # Of a product that is not complete: where its parts (`variants`, `media`) go on, where the
    # provider answers the rest alone.
    cursors: Mapping[str, str] = field(default_factory=dict)
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


# Values that are JSON as they are.
_PLAIN_TYPES = frozenset({str, int, bool, type(None), float})


def _plain(value: Any) -> Any:
    kind: Any = type(value)
    if kind in _PLAIN_TYPES:
        return value
    known = _defaults(kind)
    if known:
        told = {}
        for name, default in known:
            inner = getattr(value, name)
            is_empty = not inner if default is _EMPTY else inner == default
            if not is_empty:
                told[name] = _plain(inner)
        return told
    if isinstance(value, Decimal):
        return str(value)
    if isinstance(value, datetime):
        return value.isoformat()
    if isinstance(value, Mapping):
        return {str(name): _plain(inner) for name, inner in value.items()}
    if isinstance(value, list | tuple):
        return [_plain(inner) for inner in value]
    return value


# The default of a field that is an empty list, tuple or mapping.
_EMPTY: Any = object()


@cache
def _defaults(kind: Any) -> tuple[tuple[str, Any], ...]:
    """The fields of a dataclass with their defaults; `dataclasses.MISSING` where there is none.
    Nothing for other classes."""
    if not dataclasses.is_dataclass(kind):
        return ()
    return tuple(
        (one.name, one.default if one.default_factory is dataclasses.MISSING else _EMPTY)
        for one in dataclasses.fields(kind)
    )


_DECIMALS = frozenset({"price", "compare_at_price", "weight"})
_TIMES = frozenset({"created_at", "updated_at"})
_TEXTS = frozenset({"categories", "tags", "values", "variant_ids"})


def _read(kind: Any, told: Mapping[str, Any]) -> dict[str, Any]:
    """The fields of ``kind`` in JSON; names that it does not know are left out, so that an item of
    a newer version can still be read."""
    known = _names(kind)
    return {name: _field(name, value) for name, value in told.items() if name in known}


@cache
def _names(kind: Any) -> frozenset[str]:
    return frozenset(name for name, _ in _defaults(kind))


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
