"""What GraphQL and REST have in common."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from penstock.providers.base import ShopOption, ShopVariant, StockStatus

WEIGHT_UNITS = {
    "GRAMS": "g", "KILOGRAMS": "kg", "OUNCES": "oz", "POUNDS": "lb",
    "g": "g", "kg": "kg", "oz": "oz", "lb": "lb",
}  # fmt: skip
# Shopify gives a product without options one variant with this title.
_ONLY = "Default Title"


def is_only_variant(title: str) -> bool:
    return title == _ONLY


def stock_status(quantity: int | None, *, oversold: bool) -> StockStatus:
    """``oversold``: the shop sells on when nothing is left. None: it does not count."""
    if quantity is None or quantity > 0:
        return "in_stock"
    return "backorder" if oversold else "out_of_stock"


def plain_option(
    name: str, values: Iterable[str], variants: Sequence[ShopVariant]
) -> ShopOption | None:
    """An option with its values; None for the option that only a product without options has."""
    kept = [value for value in values if not is_only_variant(value)]
    if not kept:
        kept = list(dict.fromkeys(v.options[name] for v in variants if v.options.get(name)))
    return ShopOption(name, tuple(kept)) if kept else None
