"""Duplicates in a file, and differences to what is known."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any, Literal

import pytest
from hypothesis import given
from hypothesis import strategies as st

from penstock.catalog.products.duplicates import (
    Change,
    Duplicate,
    Duplicates,
    diff,
    key_of,
)
from penstock.catalog.profiles.checks import Key, Winner


def find_duplicates(
    rows: Iterable[tuple[int, Mapping[str, Any]]], key: Key = "sku", winner: Winner = "first"
) -> list[Duplicate]:
    duplicates = Duplicates(key, winner)
    for row, content in rows:
        duplicates.add(row, content)
    return duplicates.losers()


def product(sku: str, **more: Any) -> dict[str, Any]:
    return {"identifiers": {"sku": sku}, **more}


ROWS = [
    (1, product("A")),
    (2, product("B")),
    (3, product(" a ", title="x", description="y")),
    (4, product("A", title="x")),
    (5, {"title": "no sku"}),
]


@pytest.mark.parametrize(
    ("winner", "lost"),
    [
        ("first", [(3, 1), (4, 1)]),
        ("last", [(1, 4), (3, 4)]),
        ("most_complete", [(1, 3), (4, 3)]),
    ],
)
def test_which_row_wins_is_a_setting(
    winner: Literal["first", "last", "most_complete"], lost: list[tuple[int, int]]
) -> None:
    assert [(d.row, d.kept) for d in find_duplicates(ROWS, "sku", winner)] == lost


@given(order=st.permutations(ROWS), winner=st.sampled_from(["first", "last", "most_complete"]))
def test_rows_may_arrive_in_any_order(
    order: list[tuple[int, dict[str, Any]]], winner: Literal["first", "last", "most_complete"]
) -> None:
    assert find_duplicates(order, "sku", winner) == find_duplicates(ROWS, "sku", winner)


def test_gtins_of_different_length_are_the_same_article() -> None:
    rows = [
        (1, {"identifiers": {"gtin": "036000291452"}}),
        (2, {"identifiers": {"gtin": "0036000291452"}}),
    ]
    assert find_duplicates(rows, "gtin") == [Duplicate(2, 1, "00036000291452")]


def test_source_ids_and_rows_without_a_key() -> None:
    assert key_of({"sourceId": "X"}, "sourceId") == "x"
    assert key_of({}, "sku") is None
    assert find_duplicates([(1, {}), (2, {})], "gtin") == []


def test_a_duplicate_says_where_the_other_one_is() -> None:
    assert "is in row 1" in Duplicate(3, 1, "a").problem("sku").message


KNOWN = {
    "title": "Bolt",
    "price": {"amount": "9.99", "currency": "EUR", "base": {"amount": "10.84"}},
    "images": [{"url": "https://x.example/1.png"}],
    "metadata": {"confidence": 0.9, "tags": ["a"]},
}


def test_what_is_new_changed_and_unchanged() -> None:
    assert diff(None, KNOWN) == ("new", [])
    assert diff(KNOWN, KNOWN) == ("unchanged", [])
    dearer = {**KNOWN, "price": {"amount": "10.99", "currency": "EUR"}}
    assert diff(KNOWN, dearer) == ("changed", [Change("price.amount", "9.99", "10.99")])
    more = {**KNOWN, "brand": "Spax"}
    assert diff(KNOWN, more) == ("changed", [Change("brand", None, "Spax")])


def test_blanks_leave_as_is_unless_they_count() -> None:
    less = {"title": "Bolt"}
    assert diff(KNOWN, less) == ("unchanged", [])
    state, changes = diff(KNOWN, less, blanks_count=True)
    assert state == "changed"
    assert {change.field for change in changes} == {
        "price.amount", "price.currency", "images", "metadata.tags",
    }  # fmt: skip


def test_confidence_and_rates_of_the_day_are_no_changes() -> None:
    later = {
        **KNOWN,
        "price": {**KNOWN["price"], "base": {"amount": "11.00"}},  # type: ignore[dict-item]
        "metadata": {"confidence": 0.5, "tags": ["a"]},
    }
    assert diff(KNOWN, later) == ("unchanged", [])
