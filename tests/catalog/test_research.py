"""Deduplication, filters, regions and ranking of offers."""

from __future__ import annotations

from decimal import Decimal
from typing import Any

import pytest
from benchmarks.entries.research import best_of_rapidfuzz, by_gtin, f1, ours
from benchmarks.research_offers import offers
from hypothesis import given, settings
from hypothesis import strategies as st

from penstock.catalog.research.dedup import deduplicate
from penstock.catalog.research.filters import OfferFilter, has_no_rate
from penstock.catalog.research.merge import SourceOffer, merge_offers
from penstock.catalog.research.ranking import WEIGHTS, score_of
from penstock.catalog.research.regions import countries_of, is_in_region
from penstock.catalog.values.currencies import Rate, Rates

RATES = Rates("USD", {"EUR": Rate(Decimal("1.1"), "1.1", "2026-11-16")})


def offer(source: str, title: str, **more: Any) -> dict[str, Any]:
    identifiers = {name: more.pop(name) for name in ("gtin", "mpn", "sku") if name in more}
    price = more.pop("price", None)
    product: dict[str, Any] = {
        "id": f"{source}:{title}", "source": source, "sourceId": title, "title": title,
        "identifiers": identifiers, **more,
    }  # fmt: skip
    if price is not None:
        product["price"] = {"amount": str(price), "currency": "EUR"}
    return product


def together(*products: dict[str, Any]) -> list[tuple[int, ...]]:
    return [cluster.members for cluster in deduplicate(products)]


@pytest.mark.slow
@pytest.mark.parametrize("seed", [21, 22, 23])
def test_made_offers_are_told_apart(seed: int) -> None:
    """Sets that no rule was written for."""
    made = offers(130, seed)
    products = [one.product for one in made]
    found = f1(made, ours(products))
    assert found >= 0.95
    assert found > f1(made, by_gtin(products))
    assert found > best_of_rapidfuzz(made)


def test_identifiers_decide() -> None:
    one = offer("a", "Bolt M8", gtin="4006381333931", brand="Acme")
    assert together(one, offer("b", "Something else", gtin="4006381333931")) == [(0, 1)]
    assert together(one, offer("b", "Bolt M8", gtin="4006381333948", brand="Acme")) == [(0,), (1,)]
    part = offer("a", "Drill", mpn="GSB-18/55", brand="Bosch")
    assert together(part, offer("b", "Bohrer", mpn="gsb 1855", brand="BOSCH")) == [(0, 1)]
    assert together(part, offer("b", "Drill", mpn="GSB-18/55", brand="Makita")) == [(0,), (1,)]


@pytest.mark.parametrize(
    "other",
    [
        "Hex bolt M8 x 50 stainless", "Hex bolt M6 x 40 stainless", "Hex bolt M8 x 40 brass",
        "Hex bolt M8 x 40 stainless 100 pcs extra long black box",
    ],
)  # fmt: skip
def test_attributes_that_differ_are_other_products(other: str) -> None:
    one = offer("a", "Hex bolt M8 x 40 stainless", brand="Acme")
    assert together(one, offer("b", "stainless hex bolt M8x40", brand="ACME")) == [(0, 1)]
    assert together(one, offer("b", other, brand="Acme")) == [(0,), (1,)]


def test_two_offers_of_one_source_stay_apart() -> None:
    title = "Hex bolt M8 x 40 stainless"
    assert together(offer("a", title), offer("a", title)) == [(0,), (1,)]


@settings(max_examples=40, deadline=None)
@given(st.randoms(use_true_random=False))
def test_the_order_of_offers_changes_no_group_by_gtin(chance: Any) -> None:
    made = [one.product for one in offers(20, 5)]
    shuffled = made[:]
    chance.shuffle(shuffled)

    def groups(products: list[dict[str, Any]]) -> set[frozenset[str]]:
        return {
            frozenset(gtin for n in one.members if (gtin := products[n]["identifiers"].get("gtin")))
            for one in deduplicate(products)
        } - {frozenset()}

    assert groups(made) == groups(shuffled)


@pytest.mark.parametrize(
    ("place", "region", "expected"),
    [
        ("DE", "Germany", True), ("Munich, Germany", "de", True), ("Deutschland", "EU", True),
        ("CN", "EU", False), ("Zürich, Schweiz", "DACH", True), ("Springfield", "Germany", False),
        ("Bavaria", "bavaria", True), ("", "Germany", False),
    ],
)  # fmt: skip
def test_regions(place: str, region: str, expected: bool) -> None:
    assert is_in_region(place, region) is expected


def test_countries_are_codes() -> None:
    assert countries_of("united states") == {"US"}
    assert countries_of("nowhere") == frozenset()


def test_filters_say_why() -> None:
    wanted = OfferFilter(
        price_max=Decimal("0.20"), currency="EUR", region="Germany", suppliers=("Acme",),
        categories=("bolts",),
    )  # fmt: skip
    good = offer("a", "Bolt", price="0.19", supplier={"name": "Acme AG", "location": "DE"})
    assert wanted.reason_against(good, RATES) is None
    assert wanted.reason_against(
        {**good, "price": {"amount": "0.21", "currency": "EUR"}}, RATES
    ) == ("price")
    dollars = {**good, "price": {"amount": "0.21", "currency": "USD"}}
    assert wanted.reason_against(dollars, RATES) is None
    unknown = {**good, "price": {"amount": "0.10", "currency": "SEK"}}
    # There is no rate: it may fit, and is marked.
    assert wanted.reason_against(unknown, RATES) is None
    assert has_no_rate(unknown, "EUR", RATES)
    assert wanted.reason_against({**good, "price": {}}, RATES) == "price"
    far = {**good, "supplier": {"name": "Acme", "location": "CN"}}
    assert wanted.reason_against(far, RATES) == "region"
    silent = {**good, "supplier": {"name": "Acme"}}
    assert wanted.reason_against(silent, RATES) == "region"
    assert wanted.reason_against(silent, RATES, ["EU"]) is None
    assert wanted.reason_against({**good, "category": "Nuts"}, RATES) == "category"


def test_a_score_is_the_sum_of_its_parts() -> None:
    product = offer("a", "Hex bolt M8", availability={"status": "in_stock", "leadTimeDays": 0})
    score, parts = score_of(
        product, "hex bolt", price=Decimal(2), lowest=Decimal(1), sources=3, confidence=1.0
    )
    assert parts == {"relevance": 1.0, "price": 0.5, "availability": 1.0, "delivery": 1.0,
                     "sources": 1.0, "confidence": 1.0}  # fmt: skip
    assert score == sum(WEIGHTS.values()) - 12.5


def test_merged_products_have_the_best_price_and_all_sources() -> None:
    dear = offer("a", "Bolt M8", gtin="4006381333931", price=3, description="A bolt.")
    cheap = offer("b", "BOLT M8", gtin="4006381333931", price=2, brand="Acme")
    lineage = {
        "price.amount": ("price", "2", "price", 1.0),
        "brand": ("brand", "Acme", "line", 1.0),
    }
    [merged] = merge_offers(
        [SourceOffer(dear), SourceOffer(cheap, lineage)], "bolt", OfferFilter(currency="EUR"), RATES
    ).products
    assert merged.product["price"]["amount"] == "2"
    assert merged.product["brand"] == "Acme"
    assert merged.product["description"] == "A bolt."
    assert [one["source"] for one in merged.sources] == ["b", "a"]
    assert merged.sources[0]["comparablePrice"] == {"amount": "2", "currency": "EUR"}
    assert merged.lineage["price.amount"][0] == "b: price"
    assert merged.sources[0]["matchedBy"] == ["gtin"]


def test_offers_in_a_currency_without_a_rate_are_kept_and_marked() -> None:
    strange = offer("a", "Bolt M8", gtin="4006381333931", price=3)
    strange["price"]["currency"] = "XPF"
    cheap = offer("b", "Bolt M9", gtin="4006381333948", price=2)
    dear = offer("b", "Bolt M10", gtin="4006381333955", price=9)
    without = {**offer("c", "Bolt M11", gtin="4006381333962"), "price": {}}
    wanted = OfferFilter(price_max=Decimal(5), currency="EUR")
    merged = merge_offers(
        [SourceOffer(one) for one in (strange, cheap, dear, without)], "bolt", wanted, RATES
    )
    by_source = {one.sources[0]["source"]: one.sources[0] for one in merged.products}
    assert set(by_source) == {"a", "b"}
    assert by_source["a"]["noRate"]
    assert "comparablePrice" not in by_source["a"]
    assert "noRate" not in by_source["b"]
    assert (merged.no_rate, merged.left_out) == ({"a": 1}, {"b": {"price": 1}, "c": {"price": 1}})
