"""Differences between a product and the known one."""

from __future__ import annotations

from penstock.catalog.products.comparison import Change, diff

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
