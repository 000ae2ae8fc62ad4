"""Detect price changes that a person should confirm."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from decimal import Decimal, InvalidOperation
from typing import Any, NamedTuple

# Typical errors: a misread decimal separator, cents instead of euros, a price per thousand.
_FACTORS = tuple(map(Decimal, (10, 100, 1000)))
_NEAR = Decimal("0.05")


class PriceChange(NamedTuple):
    """``percent`` is None where the price was 0."""

    field: str
    before: str
    after: str
    currency: str | None
    percent: float | None

    def as_json(self) -> dict[str, Any]:
        return self._asdict()

    def message(self) -> str:
        money = f" {self.currency}" if self.currency else ""
        change = "" if self.percent is None else f" ({self.percent:+,.0f} %)"
        return f"The price would change from {self.before} to {self.after}{money}{change}"


def suspicious_change(
    before: Mapping[str, Any], after: Mapping[str, Any], limit: float
) -> PriceChange | None:
    """The first price of a product, or of one of its variants, that changes by more than ``limit``
    percent or by a factor near 10, 100 or 1000. ``after`` is what would be written over ``before``.
    A limit of 0 switches the guard off."""
    if not limit:
        return None
    for old_price, new_price in _prices(before, after):
        for field, old, new, currency in _comparable(old_price, new_price):
            if _is_suspicious(old, new, Decimal(str(limit))):
                percent = None if not old else round(float((new - old) / old * 100), 1)
                return PriceChange(field, _plain(old), _plain(new), currency, percent)
    return None


def _prices(
    before: Mapping[str, Any], after: Mapping[str, Any]
) -> Iterator[tuple[Mapping[str, Any], Mapping[str, Any]]]:
    yield _part(before, "price"), _part(after, "price")
    old, new = before.get("variants"), after.get("variants")
    if isinstance(old, list) and isinstance(new, list):
        known = {_variant_key(one): one for one in old if isinstance(one, Mapping)}
        for one in new:
            if isinstance(one, Mapping) and (was := known.get(_variant_key(one))) is not None:
                yield _part(was, "price"), _part(one, "price")


def _variant_key(variant: Mapping[str, Any]) -> str:
    options = _part(variant, "options")
    sku = _part(variant, "identifiers").get("sku") or variant.get("sourceId")
    return str(sku or sorted((str(name), str(value)) for name, value in options.items()))


_Pair = tuple[str, Decimal, Decimal, str | None]


def _comparable(before: Mapping[str, Any], after: Mapping[str, Any]) -> Iterator[_Pair]:
    """Comparable pairs: amounts in the same currency for the same unit. Where those differ, prices
    per unit or in the base currency."""
    currency = after.get("currency")
    same_money = _alike(before.get("currency"), currency)
    same_unit = _alike(before.get("unit"), after.get("unit"))
    if same_money and same_unit:
        yield from _pair("price.amount", before, after, currency)
        yield from _tiers(before.get("tiers"), after.get("tiers"), currency)
    elif same_money:
        old, new = _part(before, "perUnit"), _part(after, "perUnit")
        if old.get("unit") == new.get("unit"):
            yield from _pair("price.perUnit", old, new, currency)
    elif same_unit:
        old, new = _part(before, "base"), _part(after, "base")
        if old.get("currency") == new.get("currency"):
            yield from _pair("price.base.amount", old, new, new.get("currency"))


def _tiers(before: Any, after: Any, currency: str | None) -> Iterator[_Pair]:
    if not isinstance(before, list) or not isinstance(after, list):
        return
    known = {one.get("minQuantity"): one for one in before if isinstance(one, Mapping)}
    for one in after:
        if isinstance(one, Mapping) and one.get("minQuantity") in known:
            yield from _pair("price.tiers", known[one.get("minQuantity")], one, currency)


def _part(price: Mapping[str, Any], name: str) -> Mapping[str, Any]:
    found = price.get(name)
    return found if isinstance(found, Mapping) else {}


def _alike(before: Any, after: Any) -> bool:
    """A missing value counts as equal, so that doubtful changes are confirmed."""
    return before is None or after is None or before == after


def _pair(
    field: str, before: Mapping[str, Any], after: Mapping[str, Any], currency: str | None
) -> Iterator[_Pair]:
    old, new = _number(before.get("amount")), _number(after.get("amount"))
    if old is not None and new is not None:
        yield field, old, new, currency


def _number(amount: Any) -> Decimal | None:
    try:
        found = Decimal(str(amount))
    except InvalidOperation:
        return None
    return found if found.is_finite() and found >= 0 else None


def _is_suspicious(old: Decimal, new: Decimal, limit: Decimal) -> bool:
    if old == new:
        return False
    if not old or not new:
        return True
    if abs(new - old) * 100 > old * limit:
        return True
    ratio = max(old, new) / min(old, new)
    return any(abs(ratio - factor) <= factor * _NEAR for factor in _FACTORS)


def _plain(amount: Decimal) -> str:
    return format(amount, "f")
