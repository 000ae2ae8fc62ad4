"""Filters of a research request: price, region, suppliers and categories."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from decimal import Decimal
from typing import Any, Literal

from penstock.catalog.research.regions import is_in_region
from penstock.catalog.values.currencies import Rates

Reason = Literal["price", "region", "supplier", "category"]


@dataclass(frozen=True, slots=True)
class OfferFilter:
    """``delivers`` is where the source of an offer delivers to, by its name. Offers without a
    price are left out where a price is asked for. Those in a currency without a rate are kept,
    since they may fit, and marked (`has_no_rate`); those without a category are kept, because the
    source was asked for the category."""

    price_min: Decimal | None = None
    price_max: Decimal | None = None
    currency: str = ""
    region: str = ""
    suppliers: Sequence[str] = ()
    categories: Sequence[str] = ()

    def reason_against(
        self, product: Mapping[str, Any], rates: Rates, delivers: Sequence[str] = ()
    ) -> Reason | None:
        """Why an offer does not fit; None if it does."""
        if not self._price_fits(product, rates):
            return "price"
        supplier = product.get("supplier", {})
        if self.region and not _in_region(str(supplier.get("location") or ""), self, delivers):
            return "region"
        name = str(supplier.get("name") or "").casefold()
        if self.suppliers and not any(one.casefold() in name for one in self.suppliers):
            return "supplier"
        category = str(product.get("category") or "").casefold()
        wanted = [one.casefold() for one in self.categories]
        if wanted and category and not any(one in category for one in wanted):
            return "category"
        return None

    def _price_fits(self, product: Mapping[str, Any], rates: Rates) -> bool:
        if self.price_min is None and self.price_max is None:
            return True
        amount = amount_in(product, self.currency or rates.base, rates)
        if amount is None:
            return has_no_rate(product, self.currency or rates.base, rates)
        low = self.price_min is None or amount >= self.price_min
        return low and (self.price_max is None or amount <= self.price_max)


def _in_region(place: str, asked: OfferFilter, delivers: Sequence[str]) -> bool:
    if place:
        return is_in_region(place, asked.region)
    return any(is_in_region(one, asked.region) for one in delivers)


def amount_in(product: Mapping[str, Any], currency: str, rates: Rates) -> Decimal | None:
    """The price of one unit in a currency; None if it has none or a rate is missing."""
    price = product.get("price", {})
    told, known = price.get("amount"), price.get("currency")
    if told is None or known is None:
        return None
    amount = Decimal(told)
    if known == currency:
        return amount
    worth, target = _worth(known, rates), _worth(currency, rates)
    if worth is None or not target:
        return None
    return amount * worth / target


def has_no_rate(product: Mapping[str, Any], currency: str, rates: Rates) -> bool:
    """Whether there is a price that cannot be compared in this currency."""
    price = product.get("price", {})
    has_price = price.get("amount") is not None and price.get("currency") is not None
    return has_price and amount_in(product, currency, rates) is None


def _worth(currency: str, rates: Rates) -> Decimal | None:
    if currency == rates.base:
        return Decimal(1)
    rate = rates.per.get(currency)
    return None if rate is None else rate.worth
