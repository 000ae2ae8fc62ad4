"""Abbreviated names of columns, and columns that say for how many of which unit a price is."""

from __future__ import annotations

import pytest

from penstock.catalog.mapping.proposal import propose


@pytest.mark.parametrize(
    ("name", "target"),
    [
        ("Eenh.", "price.unit"), ("Preisbasis Einheit", "price.unit"), ("หน่วย", "price.unit"),
        ("Verp. eenh.", "specifications.pack"), ("Ant. pr. pakn.", "specifications.pack"),
        ("Szt/opak", "specifications.pack"), ("Кол. в уп.", "specifications.pack"),
        ("箱规", "specifications.pack"), ("SPQ", "specifications.pack"),
        ("Planlieferz.", "availability.leadTimeDays"),
        ("Lev.tid veckor", "availability.leadTimeDays"),
        ("交货期", "availability.leadTimeDays"), ("Min. zamów.", "availability.minOrder"),
        ("Bruttogew.", "specifications.weight"), ("Maße LxBxH", "specifications.dimensions"),
        ("Réf. OEM", "identifiers.mpn"), ("HAN/MPN", "identifiers.mpn"),
        ("Price @25", "price.tiers.25"), ("Preis @ 100", "price.tiers.100"),
    ],
)  # fmt: skip
def test_names(name: str, target: str) -> None:
    columns = propose(["SKU", "Name", "Price", name]).columns
    assert columns[3].target == target


@pytest.mark.parametrize(
    ("count", "unit"), [("Prisenhed", "Enhed"), ("Prijseenheid", "Eenh."), ("Preiseinh.", "ME")]
)
def test_a_unit_of_numbers_is_a_count(count: str, unit: str) -> None:
    columns = propose(
        ["SKU", count, unit], [["A1", "A2", "A3"], ["1", "100", "1000"], ["ST", "M", "KG"]]
    ).columns
    assert [one.target for one in columns[1:]] == ["price.unit.count", "price.unit"]


@pytest.mark.parametrize(
    ("discount", "other", "net"),
    [("Rabattgruppe", "Grundpreis", "Nettopreis"), ("Rabatt %", "Brutto €/PE", "Netto €/PE"),
     ("Kortingsgroep", "Bruto prijs", "Netto prijs"), ("Rabattkod", "Bruttopris", "Ert nettopris")],
)  # fmt: skip
def test_beside_a_discount_the_net_price_is_paid(discount: str, other: str, net: str) -> None:
    cells = [
        ["A1", "A2", "A3"],
        ["1", "2", "3"],
        ["20,00", "30,00", "40,50"],
        ["9,00", "8,50", "7,00"],
    ]
    columns = propose(["SKU", discount, other, net], cells).columns
    assert columns[3].target == "price.amount"


def test_without_a_title_the_articles_are_the_names() -> None:
    cells = [
        ["A1", "A2", "A3"],
        ["Чук 500 г", "Рулетка 5 м", "Клещи 180 мм"],
        ["3,00", "4,10", "5,20"],
    ]
    columns = propose(["Код", "Артикул", "Цена"], cells).columns
    assert [one.target for one in columns] == ["identifiers.sku", "title", "price.amount"]
