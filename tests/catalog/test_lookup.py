"""Queries, scores and tries of lookups: pure functions."""

from __future__ import annotations

from uuid import UUID

import pytest
from hypothesis import given
from hypothesis import strategies as st

from penstock.catalog.lookup.queries import WantedProduct, queries_of, wanted_of
from penstock.catalog.lookup.scoring import ScoredCandidate, Thresholds, judge, score
from penstock.catalog.lookup.tries import MAX_TRIES, plan_try
from penstock.catalog.lookup.words import relaxed_words, similarity, strict_words, title_words
from penstock.model.lookup import VARIANTS, CatalogCandidate


def candidate(number: int = 1, **given: str) -> CatalogCandidate:
    return CatalogCandidate(
        UUID(int=number), "file", str(number), given.get("sku"), given.get("gtin"),
        given.get("mpn"), given.get("brand"), given.get("title"), published=True,
    )  # fmt: skip


def test_queries_go_from_the_most_certain_variant_to_the_least() -> None:
    wanted = wanted_of(
        {
            "title": "Claw hammer", "brand": "Hultafors", "sourceId": "T-1",
            "identifiers": {"gtin": "4006381333931", "mpn": "HF-820", "sku": "T-1"},
        }
    )  # fmt: skip
    queries = queries_of(wanted)
    assert tuple(queries) == VARIANTS
    assert queries["gtin"] == "04006381333931"
    assert queries["brandTitle"] == "Hultafors Claw hammer"
    assert queries_of(WantedProduct(title="- / -")) == {}
    assert WantedProduct.of_json(wanted.as_json()) == wanted


@given(st.text(max_size=60))
def test_words_are_stable_and_never_empty(title: str) -> None:
    words = title_words(title)
    assert all(words)
    assert title_words(" ".join(words)) == words
    strict = strict_words(title)
    assert set(strict) <= set(words)
    for some in relaxed_words(strict):
        assert some
        assert set(some) < set(strict)


@given(st.text(max_size=40), st.text(max_size=40))
def test_similarity_is_symmetric_and_bounded(one: str, two: str) -> None:
    assert 0 <= similarity(one, two) <= 1
    assert similarity(one, two) == pytest.approx(similarity(two, one))


def test_other_numbers_make_titles_differ() -> None:
    bolt = "Hex bolt M8x20 stainless"
    assert similarity(bolt, "stainless hex-bolt M8x20") == 1
    assert similarity(bolt, "Hex bolt M8x30 stainless") < 0.7
    assert similarity(bolt, "Hex bolt stainless") > similarity(bolt, "Hex bolt M6x20 stainless")


def test_another_gtin_is_another_product() -> None:
    wanted = WantedProduct(gtin="04006381333931", sku="A-1", title="Claw hammer")
    same = candidate(gtin="04006381333948", sku="A-1", title="Claw hammer")
    for variant in VARIANTS[1:]:
        assert score(wanted, same, variant) == 0


def test_near_scores_of_different_products_are_a_question() -> None:
    limits = Thresholds()
    one, two = candidate(1, sku="A"), candidate(2, sku="A")
    both = [ScoredCandidate(each, 0.88, "sku") for each in (one, two)]
    assert judge(both, limits).outcome == "ambiguous"
    assert judge(both[:1], limits).outcome == "found"
    assert judge([ScoredCandidate(one, 0.6, "title")], limits).outcome == "weak"
    assert judge([ScoredCandidate(one, 0.3, "title")], limits).outcome == "notFound"
    same = [
        ScoredCandidate(candidate(n, gtin="04006381333931"), 1.0, "gtin") for n in (1, 2)
    ]  # fmt: skip
    assert judge(same, limits).outcome == "found"


@given(st.integers(0, 5), st.integers(0, 4))
def test_the_tries_ask_every_source_by_every_variant_once(variants: int, sources: int) -> None:
    names = VARIANTS[:variants]
    asked = [f"source {n}" for n in range(sources)]
    made: list[tuple[str, str]] = []
    number = 0
    while True:
        one = plan_try(number, names, asked)
        made += one.searches
        number += 1
        if one.is_last:
            break
    assert number <= MAX_TRIES
    assert sorted(made) == sorted((source, name) for source in asked for name in names)


def test_each_try_begins_with_another_source() -> None:
    tries = [plan_try(number, VARIANTS, ["a", "b", "c"]) for number in range(3)]
    assert [one.searches[0].source for one in tries] == ["a", "b", "c"]
    assert [one.searches[0].variant for one in tries] == ["gtin", "mpnBrand", "sku"]
    assert [one.is_last for one in tries] == [False, False, True]
