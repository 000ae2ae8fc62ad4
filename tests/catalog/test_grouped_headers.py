"""Headers below the name of a group, with a language, and with misleading names."""

from __future__ import annotations

import pytest

from penstock.catalog.mapping.proposal import ColumnProposal, propose


def column(header: str, samples: tuple[str, ...] = ()) -> ColumnProposal:
    return propose([header, "zzz"], [samples, ()]).columns[0]


@pytest.mark.parametrize(
    ("header", "target", "currency", "tax_included"),
    [
        ("Preise in EUR / VK netto", "price.amount", "EUR", False),
        ("Preise in EUR VK netto", "price.amount", "EUR", False),
        ("Preise in CHF\nVK brutto", "price.amount", "CHF", True),
        ("Verfügbarkeit / Bestand", "availability.quantity", None, None),
        ("Verfügbarkeit Lieferzeit", "availability.leadTimeDays", None, None),
        ("Lager Bestand", "availability.quantity", None, None),
        ("Ceny w PLN / netto", "price.amount", "PLN", False),
        ("Dane podstawowe EAN", "identifiers.gtin", None, None),
        ("Magazyn / Stan", "availability.quantity", None, None),
        ("Tarifs en EUR / Prix HT", "price.amount", "EUR", False),
        ("Disponibilité / Stock", "availability.quantity", None, None),
        ("Dati generali Codice articolo", "identifiers.sku", None, None),
        ("Precios en EUR PVP", "price.amount", "EUR", None),
        ("Main data EAN", "identifiers.gtin", None, None),
        ("name-en_US", "title", None, None),
        ("product_name_fr", "title", None, None),
        ("title-de_DE-web", "title", None, None),
    ],
)
def test_the_group_helps_and_does_not_hide(
    header: str, target: str, currency: str | None, tax_included: bool | None
) -> None:
    found = column(header)
    assert found.target == target
    assert (found.hints.currency, found.hints.tax_included) == (currency, tax_included)


@pytest.mark.parametrize(
    "header", ["Warehouse Name", "Lager / Name", "Delivery name", "Media name", "Customer / Name",
               "Dostawa / Kod", "Livraison / Nom"],
)  # fmt: skip
def test_general_names_below_other_groups_are_not_the_products(header: str) -> None:
    assert column(header).target is None


@pytest.mark.parametrize(
    "cells",
    [("500 g", "1 kg", "250 g"), ("6 x 330 ml", "1,5 l", "75 cl"), ("2 кг", "500 г", "1 л")],
)
def test_a_quantity_of_measures_is_a_pack(cells: tuple[str, ...]) -> None:
    assert column("quantity", cells).target == "specifications.pack"
    assert column("quantity", ("5", "0", "12 pcs")).target == "availability.quantity"


def test_categories_come_before_the_product_type() -> None:
    proposal = propose(["product_type", "sku", "categories"], [("simple",), ("A1",), ("Tools",)])
    assert proposal.targets()["categories"] == "category"


@pytest.mark.parametrize(
    ("header", "targets"),
    [
        (
            ["Art.-Nr.", "Einheiten ME", "Einheiten VPE", "Unsere Konditionen VK netto",
             "Unsere Konditionen MwSt"],
            ["identifiers.sku", "price.unit", "specifications.pack", "price.amount",
             "price.taxRate"],
        ),
        (
            ["Kod", "Jednostki J.m.", "Jednostki Opak. zb.", "Terminy Termin dostawy",
             "Terminy Data"],
            ["identifiers.sku", "price.unit", "specifications.pack", "availability.leadTimeDays",
             None],
        ),
        (
            ["SKU", "Units UOM", "Units Pack qty", "Outer EAN", "Outer SKU"],
            ["identifiers.sku", "price.unit", "specifications.pack", None, None],
        ),
        # The stock of several warehouses is not the stock of one of them.
        (
            ["SKU", "Nord Bestand", "Nord Platz", "Süd Bestand", "Süd Platz"],
            ["identifiers.sku", None, None, None, None],
        ),
    ],
)  # fmt: skip
def test_columns_side_by_side_tell_the_name_of_their_group(
    header: list[str], targets: list[str | None]
) -> None:
    assert [one.target for one in propose(header).columns] == targets


@pytest.mark.parametrize(
    ("header", "sides", "unit"),
    [
        (["Maße in mm L", "Maße in mm B", "Maße in mm H"], "length width height", "mm"),
        (["L (mm)", "B (mm)", "H (mm)"], "length width height", "mm"),
        (["Size in cm L", "Size in cm W", "Size in cm D"], "length width depth", "cm"),
        (["Wymiary [cm] dł.", "Wymiary [cm] szer.", "Wymiary [cm] wys."], "length width height",
         "cm"),
        (["Dimensions (mm) L", "Dimensions (mm) P", "Dimensions (mm) H"], "width depth height",
         "mm"),
        (["Dimensions (cm) L", "Dimensions (cm) l", "Dimensions (cm) H"], "length width height",
         "cm"),
        (["Размеры, см Д", "Размеры, см Ш", "Размеры, см В"], "length width height", "cm"),
    ],
)  # fmt: skip
def test_single_letters_below_dimensions_are_sides(
    header: list[str], sides: str, unit: str
) -> None:
    cells = [("40", "41,5")] * 3
    found = propose(["SKU", *header], [("A-1", "A-2"), *cells]).columns[1:]
    assert [one.target for one in found] == [
        f"specifications.dimensions.{side}" for side in sides.split()
    ]
    assert {one.hints.unit for one in found} == {unit}


def test_letters_with_other_cells_or_without_a_unit_are_no_sides() -> None:
    found = propose(["SKU", "L", "B", "H"], [("A-1",), ("40",), ("41",), ("42",)])
    assert not any("dimensions" in one for one in found.targets().values())
    colours = propose(["SKU", "Maße L", "Maße B"], [("A-1",), ("rot",), ("blau",)])
    assert "specifications.dimensions.length" not in colours.targets().values()
