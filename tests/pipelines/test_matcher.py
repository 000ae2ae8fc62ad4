"""Which rows of a file are duplicates, and which of them is kept."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from penstock.catalog.products.comparison import completeness
from penstock.catalog.products.matching import identifiers_of
from penstock.catalog.profiles.checks import Key, Winner
from penstock.model.effects import NameRow
from penstock.pipelines.extraction.matcher import duplicate_keys, find_duplicates, rows_to_keep

Rows = Sequence[tuple[int, dict[str, Any]]]
WINNERS: tuple[Winner, ...] = ("first", "last", "most_complete")


def product(sku: str, **more: Any) -> dict[str, Any]:
    return {"identifiers": {"sku": sku}, **more}


ROWS = [
    (1, product("A")),
    (2, product("B")),
    (3, product(" a ", title="x", description="y")),
    (4, product("A", title="x")),
    (5, {"title": "no sku"}),
]


def lost(rows: Rows, key: Key = "sku", winner: Winner = "first") -> list[tuple[int, int]]:
    """Each duplicate with the row that is kept instead."""
    products = dict(rows)
    keys = duplicate_keys({row: identifiers_of(one) for row, one in products.items()}, key)
    named = {row: NameRow([one], completeness(products[row])) for row, one in keys.items()}
    found = find_duplicates(keys, rows_to_keep(named, winner))
    return sorted((row, duplicate.kept) for row, duplicate in found.items())


@pytest.mark.parametrize(
    ("winner", "expected"),
    [
        ("first", [(3, 1), (4, 1)]),
        ("last", [(1, 4), (3, 4)]),
        ("most_complete", [(1, 3), (4, 3)]),
    ],
)
def test_which_row_wins_is_a_setting(winner: Winner, expected: list[tuple[int, int]]) -> None:
    assert lost(ROWS, "sku", winner) == expected


@given(order=st.permutations(ROWS), winner=st.sampled_from(WINNERS))
def test_rows_may_arrive_in_any_order(order: Rows, winner: Winner) -> None:
    assert lost(order, "sku", winner) == lost(ROWS, "sku", winner)


def test_gtins_of_different_length_are_the_same_article() -> None:
    rows = [
        (1, {"identifiers": {"gtin": "036000291452"}}),
        (2, {"identifiers": {"gtin": "0036000291452"}}),
    ]
    assert lost(rows, "gtin") == [(2, 1)]
    keys = duplicate_keys({row: identifiers_of(one) for row, one in rows}, "gtin")
    assert set(keys.values()) == {"gtin:00036000291452"}


def test_source_ids_and_rows_without_a_key() -> None:
    assert duplicate_keys({1: identifiers_of({"sourceId": "X"})}, "sourceId") == {1: "sourceId:x"}
    assert duplicate_keys({1: identifiers_of({})}, "sku") == {}
    assert lost([(1, {}), (2, {})], "gtin") == []
