"""Prices beside the price: list price, recommended price, former price, cost, tax."""

from __future__ import annotations

from typing import Any

import pytest

from penstock.catalog.mapping.proposal import propose
from penstock.catalog.products.normalise import normalise
from penstock.catalog.products.plan import compile_plan
from penstock.catalog.profiles.profile import from_proposal

FILES: list[tuple[list[str], list[str], dict[str, Any]]] = [
    (
        ["Artikelnr", "Bezeichnung", "EK netto EUR", "VK netto EUR", "UVP EUR", "MwSt-Satz"],
        ["A-1", "Zange", "7,20", "12,50", "14,99", "19 %"],
        {"amount": "12.50", "cost": "7.20", "recommended": "14.99", "taxRate": 19},
    ),
    (
        ["Indeks", "Nazwa", "Cena katalogowa PLN", "Cena netto PLN", "Grupa rabatowa", "VAT"],
        ["K-1", "Klucz", "100,00", "80,00", "B2", "23%"],
        {"amount": "80.00", "list": "100.00", "discountGroup": "B2", "taxRate": 23},
    ),
    (
        ["SKU", "Title", "Price USD", "Compare at price", "Cost"],
        ["B-1", "Wrench", "19.90", "24.90", "9.5"],
        {"amount": "19.90", "compareAt": "24.90", "cost": "9.50"},
    ),
]


@pytest.mark.parametrize(("header", "cells", "expected"), FILES)
def test_each_price_has_a_field_of_its_own(
    header: list[str], cells: list[str], expected: dict[str, Any]
) -> None:
    plan = compile_plan(header, from_proposal("file", propose(header, [[one] for one in cells])))
    row = normalise(plan, cells)
    price = row.product["price"]
    assert {name: price.get(name) for name in expected} == expected
    assert not [one for one in row.problems if one.severity == "error"]


def test_a_file_without_another_price_has_its_only_one() -> None:
    header = ["SKU", "Title", "UVP EUR"]
    plan = compile_plan(header, from_proposal("file", propose(header)))
    assert normalise(plan, ["A", "Saw", "9,90"]).product["price"]["amount"] == "9.90"
