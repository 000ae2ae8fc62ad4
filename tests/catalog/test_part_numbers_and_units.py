"""Names that mean one thing in some files and another in others: part numbers, `kpl`."""

from __future__ import annotations

import pytest

from penstock.catalog.mapping.column_decisions import UNDECIDED
from penstock.catalog.mapping.proposal import propose
from penstock.catalog.products.normalise import normalise
from penstock.catalog.products.plan import compile_plan
from penstock.catalog.profiles.profile import from_proposal


@pytest.mark.parametrize("name", ["Part no", "Parça No", "Teilenummer", "型番", "رقم القطعة"])
def test_the_part_number_of_products_without_a_maker_is_the_sku(name: str) -> None:
    assert propose([name, "Price"]).columns[0].target == "identifiers.sku"
    beside_maker = propose([name, "Brand", "SKU", "Price"]).columns
    assert [one.target for one in beside_maker[:3]] == [
        "identifiers.mpn", "brand", "identifiers.sku",
    ]  # fmt: skip


@pytest.mark.parametrize(
    ("header", "cell", "unit"),
    [
        ("Yksikkö", "kpl", "piece"), ("Yks.", "KPL.", "piece"), ("Myyntiyksikkö", "kg", "kg"),
        ("JM", "kpl.", "set"), ("MJ", "kpl", "set"), ("Unit", "kpl", "set"),
    ],
)  # fmt: skip
def test_units_of_finnish_columns(header: str, cell: str, unit: str) -> None:
    names = ["SKU", "Name", "Price", header]
    profile = from_proposal("acme", propose(names), source="acme")
    plan = compile_plan(names, profile, [UNDECIDED] * 4)
    row = normalise(plan, ["A-1", "Saw", "12.50", cell])
    assert row.product["price"]["unit"] == unit
