"""What all files of shops have in common."""

from __future__ import annotations

import html
import re
import unicodedata
from collections.abc import Callable, Iterable, Mapping, Sequence
from decimal import Decimal
from typing import Any, NamedTuple

from penstock.catalog.products.option_order import variants_in_order
from penstock.catalog.values.unit_names import FACTORS, KINDS

Product = Mapping[str, Any]
Line = dict[str, Any]

_NOT_IN_HANDLES = re.compile(r"[^a-z0-9]+")
_NOT_IN_CODES = re.compile(r"[^A-Za-z0-9]+")


class ShopFile(NamedTuple):
    """A file of a shop system: its columns, and the lines of each product. ``priced`` is a column
    that the file has for each currency of its first products, as `price-EUR`."""

    name: str
    title: str
    columns: Sequence[str]
    lines: Callable[[Product], Iterable[Line]]
    delimiter: str = ","
    priced: str | None = None


def columns_of(shop: ShopFile, products: Iterable[Product]) -> list[str]:
    """The columns of a file that begins with these products."""
    if shop.priced is None:
        return list(shop.columns)
    found = {at(thing, "price.currency") for one in products for thing in (one, *variants_of(one))}
    named = [f"{shop.priced}-{currency}" for currency in sorted(found - {None})]
    at_price = shop.columns.index(shop.priced)
    return [*shop.columns[:at_price], *named, *shop.columns[at_price + 1 :]]


def at(product: Product, path: str) -> Any:
    found: Any = product
    for name in path.split("."):
        found = found.get(name) if isinstance(found, Mapping) else None
    return found


def handle_of(product: Product) -> str:
    """The name of a product in addresses: its id, in letters that addresses may contain."""
    text = unicodedata.normalize("NFKD", str(product.get("sourceId") or product.get("title") or ""))
    return _NOT_IN_HANDLES.sub("-", text.lower()).strip("-")


def code_of(text: str) -> str:
    return _NOT_IN_CODES.sub("_", unicodedata.normalize("NFKD", text)).strip("_").lower()


def html_of(text: str | None) -> str | None:
    """Plain text as HTML, with its lines kept."""
    return None if not text else html.escape(text, quote=False).replace("\n", "<br>")


def is_published(product: Product) -> bool:
    return product.get("published") is not False


def weight_in(product: Product, unit: str) -> str | None:
    """The weight in another unit; without a unit as it is."""
    weight = at(product, "specifications.weight")
    if not isinstance(weight, Mapping) or weight.get("value") is None:
        return None
    return _in_unit(weight["value"], weight.get("unit"), unit, "mass")


def side_in(product: Product, side: str, unit: str) -> str | None:
    sides = at(product, "specifications.dimensions") or {}
    if sides.get(side) is None:
        return None
    return _in_unit(sides[side], sides.get("unit"), unit, "length")


def _in_unit(value: Any, own: str | None, unit: str, kind: str) -> str:
    exact = Decimal(str(value))
    if own is not None and KINDS.get(own) == kind:
        exact = exact * FACTORS[own] / FACTORS[unit]
    return format(exact.normalize(), "f")


def image_urls(product: Product) -> list[str]:
    return [image["url"] for image in product.get("images") or ()]


def regular_and_sale(price: Mapping[str, Any] | None) -> tuple[str | None, str | None]:
    """The usual price, and the reduced one where a former price is shown."""
    amount, former = (price or {}).get("amount"), (price or {}).get("compareAt")
    if former is None or amount is None or Decimal(former) <= Decimal(amount):
        return amount, None
    return former, amount


def stock_of(thing: Product) -> int | None:
    found: int | None = at(thing, "availability.quantity")
    return found


def in_stock(thing: Product) -> str | None:
    status = at(thing, "availability.status")
    return None if status is None else "0" if status == "out_of_stock" else "1"


def variants_of(product: Product) -> Sequence[Mapping[str, Any]]:
    return variants_in_order(product.get("variants") or ())
