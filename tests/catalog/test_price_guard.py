"""Which changes of a price are asked about."""

from __future__ import annotations

from decimal import Decimal
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from penstock.catalog.products.price_guard import suspicious_change
from penstock.catalog.profiles import profile as profiles
from penstock.catalog.profiles.profile import Profile
from penstock.model.errors import BadInput


def product(amount: str, currency: str | None = "EUR", **more: Any) -> dict[str, Any]:
    return {"price": {"amount": amount, "currency": currency, "unit": "piece", **more}}


@pytest.mark.parametrize(
    ("before", "after", "limit", "asked"),
    [
        ("10.00", "15.00", 50, False),
        ("10.00", "15.01", 50, True),
        ("10.00", "5.00", 50, False),
        ("10.00", "4.99", 50, True),
        ("10.00", "10.00", 50, False),
        ("12.50", "1250.00", 50, True),
        # A limit that lets it pass: still a decimal separator that was misread.
        ("12.50", "125.00", 5000, True),
        ("12.50", "1.28", 5000, True),
        ("1.00", "1000.00", 100_000, True),
        ("12.50", "100.00", 5000, False),
        ("10.00", "0", 50, True),
        ("0", "10.00", 50, True),
        ("12.50", "1250.00", 0, False),
    ],
)
def test_what_is_asked_about(before: str, after: str, limit: float, asked: bool) -> None:
    change = suspicious_change(product(before), product(after), limit)
    assert (change is not None) == asked


def test_only_like_is_compared_with_like() -> None:
    euro = product("10.00")
    assert suspicious_change(euro, product("1000", "JPY"), 50) is None
    assert suspicious_change(euro, product("1000", unit="100 pieces"), 50) is None
    assert suspicious_change(euro, product("100.00", None), 50) is not None
    based = product("10.00", base={"amount": "11.00", "currency": "USD"})
    more = product("1650", "JPY", base={"amount": "1100", "currency": "USD"})
    assert suspicious_change(based, more, 50) is not None
    same = product("1650", "JPY", base={"amount": "11.00", "currency": "USD"})
    assert suspicious_change(based, same, 50) is None
    each = product("10.00", perUnit={"amount": "10.00", "unit": "kg"})
    sack = product("250", unit="25 kg", perUnit={"amount": "10.00", "unit": "kg"})
    dear = product("2500", unit="25 kg", perUnit={"amount": "100.00", "unit": "kg"})
    assert suspicious_change(each, sack, 50) is None
    assert suspicious_change(each, dear, 50) is not None


def test_tiers_and_variants_are_looked_at_too() -> None:
    def tiers(amount: str) -> dict[str, Any]:
        steps = [{"minQuantity": 1, "amount": "10"}, {"minQuantity": 10, "amount": amount}]
        return product("10", tiers=steps)

    assert suspicious_change(tiers("9"), tiers("900"), 50) is not None
    assert suspicious_change(tiers("9"), tiers("8"), 50) is None

    def variant(amount: str) -> dict[str, Any]:
        own = {"identifiers": {"sku": "A-1"}, "price": {"amount": amount}, "options": {}}
        return product("10") | {"variants": [own]}

    assert suspicious_change(variant("9"), variant("900"), 50) is not None
    assert suspicious_change(variant("9"), variant("9.5"), 50) is None


amounts = st.decimals(min_value=Decimal("0.01"), max_value=10**6, places=2)


@given(amounts, amounts, st.integers(1, 500))
def test_what_passes_is_within_the_limit(before: Decimal, after: Decimal, limit: int) -> None:
    change = suspicious_change(product(str(before)), product(str(after)), limit)
    beyond = abs(after - before) * 100 > before * limit
    if change is None:
        assert not beyond
    else:
        ratio = max(before, after) / min(before, after)
        near = any(abs(ratio - ten) <= ten * Decimal("0.05") for ten in (10, 100, 1000))
        assert beyond or near


@given(st.sampled_from([None, "", "abc", "NaN", "-1", [], {}]))
def test_what_is_no_amount_is_not_compared(odd: Any) -> None:
    assert suspicious_change({"price": {"amount": odd}}, product("10"), 50) is None
    assert suspicious_change(product("10"), {"price": {"amount": odd}}, 50) is None
    assert suspicious_change({"price": odd}, product("10"), 50) is None


def test_a_profile_keeps_its_limit() -> None:
    assert Profile("acme").price_guard == 50
    assert "price_guard" not in profiles.to_json(Profile("acme"))
    for given_limit, kept in ((20, 20), (0, 0), (None, 0)):
        read = profiles.from_json({"name": "acme", "price_guard": given_limit})
        assert read.price_guard == kept
        assert profiles.from_json(profiles.to_json(read)) == read
        assert profiles.from_toml(read.to_toml()) == read
    for wrong in (-1, "much", True, float("nan")):
        with pytest.raises(BadInput, match="price_guard"):
            profiles.from_json({"name": "acme", "price_guard": wrong})
