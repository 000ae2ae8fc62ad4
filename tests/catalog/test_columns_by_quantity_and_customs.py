"""Columns named by a range of quantities, and columns of customs tariff numbers."""

from __future__ import annotations

import pytest

from penstock.catalog.mapping.proposal import propose

HIGH, LOW = ("10,00", "12,00", "9,50"), ("9,00", "11,00", "8,50")


def targets(**columns: tuple[str, ...]) -> dict[str, str | None]:
    header = ["SKU", "Name", *columns]
    cells = [("A-1", "A-2", "A-3"), ("Blue mug", "Red mug", "Green mug"), *columns.values()]
    return {column.header: column.target for column in propose(header, cells).columns}


@pytest.mark.parametrize(
    ("name", "target"),
    [
        ("Cena netto 10-49 szt.", "price.tiers.10"),
        ("Price 10-49", "price.tiers.10"),
        ("Preis netto 10 bis 49 Stk", "price.tiers.10"),
        ("Prix HT 10 à 49", "price.tiers.10"),
        ("Precio 100-499 uds", "price.tiers.100"),
        ("Prezzo da 50 a 99 pz", "price.tiers.50"),
        ("Cena 10-49 ks [CZK]", "price.tiers.10"),
        ("Цена 10-49 шт", "price.tiers.10"),
        ("Preis ab 10 Stk", "price.tiers.10"),
    ],
)
def test_a_price_of_a_range_is_a_tier_beside_another_price(name: str, target: str) -> None:
    found = targets(**{"Price": HIGH, name: LOW})
    assert found["Price"] == "price.amount"
    assert found[name] == target


def test_the_first_range_is_the_price_or_the_first_tier() -> None:
    ranges = {"Cena netto 1-9 szt.": HIGH, "Cena netto 10-49 szt.": LOW}
    found = targets(**ranges)
    assert list(found.values())[2:] == ["price.amount", "price.tiers.10"]
    found = targets(**{"Cena netto": HIGH}, **ranges)
    assert list(found.values())[2:] == ["price.amount", "price.tiers.1", "price.tiers.10"]


def test_discounts_of_ranges_are_tiers() -> None:
    found = targets(**{"Preis": HIGH, "Rabatt 10-49": ("5 %", "5 %", "4 %")})
    assert found["Rabatt 10-49"] == "price.tiers.10.discount"


def test_amounts_that_fall_with_the_quantity_are_tiers() -> None:
    lowest = ("8,00", "10,00", "7,50")
    found = targets(**{"Cena detal": HIGH, "Cena 10 szt": LOW, "Cena 100 szt": lowest})
    assert list(found.values())[2:] == ["price.amount", "price.tiers.10", "price.tiers.100"]
    packs = {"Cena 10 szt": ("90,00", "99,00", "80,00"), "Cena 100 szt": ("800", "900", "700")}
    assert list(targets(**{"Cena detal": HIGH}, **packs).values())[3:] == [None, None]


def test_years_are_no_quantities() -> None:
    assert targets(**{"Price": HIGH, "Price 2025-2026": LOW})["Price 2025-2026"] is None


@pytest.mark.parametrize(
    "name",
    ["Product Hs Code", "HS Code", "Item HTS Code", "Variant HS code", "Zolltarifnummer",
     "Artikel Zolltarifnr", "Nomenclature douanière", "Kod CN", "Código arancelario",
     "Codice doganale", "Код ТН ВЭД", "GTIP No", "海关编码", "Commodity code"],
)  # fmt: skip
def test_a_customs_tariff_number_is_no_article_number(name: str) -> None:
    numbers = ("61091000", "65050030", "62034231")
    header = ["Name", "Price", name]
    found = propose(header, [("Blue mug", "Red mug", "Green mug"), HIGH, numbers]).columns
    assert found[2].target is None
