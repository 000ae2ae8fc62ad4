"""The order of options is recovered from the order of the variants."""

from __future__ import annotations

from itertools import product

import pytest
from hypothesis import given
from hypothesis import strategies as st

from penstock.catalog.products.option_order import variants_in_order
from penstock.catalog.shop_files.registry import SHOP_FILES


def listed(options: dict[str, list[str]]) -> list[dict[str, object]]:
    """All variants as a shop lists them; each with its options as the catalog returns them."""
    return [
        {"options": dict(sorted(zip(options, values, strict=True), key=lambda one: len(one[0])))}
        for values in product(*options.values())
    ]


@pytest.mark.parametrize(
    "options",
    [
        {"Color": ["Red", "Blue"], "Size": ["S", "M", "L"]},
        {"Kolor": ["biały", "czarny"], "Rozmiar": ["S", "M"], "Typ": ["a", "b", "c"]},
        {"Werkstoff": ["Stahl", "Messing"], "Länge": ["40", "60"], "Form": ["rund", "flach"]},
    ],
)
def test_the_option_that_changes_least_comes_first(options: dict[str, list[str]]) -> None:
    for one in variants_in_order(listed(options)):
        assert list(one["options"]) == list(options)


def test_variants_with_different_options_stay_as_they_are() -> None:
    variants = [{"options": {"Size": "S", "Color": "Red"}}, {"options": {"Size": "S"}}, {}]
    assert variants_in_order(variants) is variants
    assert variants_in_order([]) == []


@given(st.lists(st.fixed_dictionaries({"a": st.sampled_from("xyz"), "b": st.sampled_from("12")})))
def test_no_value_changes(options: list[dict[str, str]]) -> None:
    variants = [{"sku": str(n), "options": one} for n, one in enumerate(options)]
    assert variants_in_order(variants) == variants


def test_shopify_gets_the_options_in_their_order() -> None:
    variants = listed({"Color": ["Red", "Blue"], "Size": ["S", "M"]})
    lines = list(SHOP_FILES["shopify"].lines({"sourceId": "shirt", "variants": variants}))
    names = [(line.get("Option1 Name"), line.get("Option2 Name")) for line in lines]
    assert names[0] == ("Color", "Size")
    values = [(line["Option1 Value"], line["Option2 Value"]) for line in lines]
    assert values == [("Red", "S"), ("Red", "M"), ("Blue", "S"), ("Blue", "M")]
