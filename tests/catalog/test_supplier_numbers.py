"""Columns with the number by which a supplier knows a product, which is not that of the maker."""

from __future__ import annotations

import pytest

from penstock.catalog.mapping.header_meaning import names_supplier_number
from penstock.catalog.mapping.proposal import propose

NAMES = [
    "Lev.artikelnr", "Lev. varenr.", "Leverandørens varenr", "Bestelnr. lev.",
    "Artikelnummer leverancier", "Toimittajan tuotenro", "Réf. fournisseur", "Cod. art. fornitore",
    "Cód. Artigo Forn.", "Indeks dostawcy", "Kod u dostawcy", "Szállítói cikkszám",
    "Kred.-Artikelnr.", "Bestellnummer beim Lieferanten", "Артикул поставщика",
    "Tedarikçi Ürün Kodu", "Supplier Part No", "Vendor Item No.",
]  # fmt: skip


@pytest.mark.parametrize("name", NAMES)
def test_beside_an_article_number_it_fills_no_field(name: str) -> None:
    cells = [["K-1", "K-2", "K-3"], ["10", "11", "12"], ["P1", "P2", "P3"]]
    columns = propose([name, "SKU", "MPN"], cells).columns
    assert [one.target for one in columns] == [None, "identifiers.sku", "identifiers.mpn"]


@pytest.mark.parametrize("name", NAMES)
def test_alone_it_is_the_article_number(name: str) -> None:
    columns = propose([name, "EAN", "Price"], [["K-1", "K-2", "K-3"], [], []]).columns
    assert columns[0].target == "identifiers.sku"
    assert columns[0].confidence < 0.7


@pytest.mark.parametrize(
    ("name", "target"),
    [
        ("Vendor Part Number", "identifiers.mpn"), ("Fabrikant artikelnr", "identifiers.mpn"),
        ("Hersteller-Artikelnr.", "identifiers.mpn"), ("Lieferantennr.", "supplier.id"),
        ("Leverancier", "supplier.name"), ("SUPPLIER_AID", "identifiers.sku"),
    ],
)  # fmt: skip
def test_other_numbers(name: str, target: str) -> None:
    assert not names_supplier_number(name)
    assert propose([name, "Name"]).columns[0].target == target


@pytest.mark.parametrize(
    ("name", "sku"),
    [("Cod furnizor", "Cod articol"), ("Kod dostawcy", "Indeks"), ("Supplier code", "Item no")],
)
def test_a_code_of_each_product_is_not_that_of_the_supplier(name: str, sku: str) -> None:
    skus = [f"A-{n}" for n in range(6)]
    different = propose([sku, name], [skus, [f"Z{n}" for n in range(6)]])
    assert different.columns[1].target is None
    same = propose([sku, name], [skus, ["Z1", "Z2"]])
    assert same.columns[1].target == "supplier.id"
