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
