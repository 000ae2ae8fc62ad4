"""Names of columns with a prefix in common, abbreviated words, and terms of delivery."""

from __future__ import annotations

import pytest

from penstock.catalog.mapping.proposal import propose
from penstock.catalog.mapping.shared_prefix import names_without_prefix


def test_prefix_that_most_columns_share_is_left_out() -> None:
    header = ["art_nummer", "art_bezeichnung", "art_preis", "art_ean", "art_bestand", "notiz"]
    found = [column.target for column in propose(header).columns]
    assert found == [
        "identifiers.sku",
        "title",
        "price.amount",
        "identifiers.gtin",
        "availability.quantity",
        None,
    ]


def test_few_columns_share_no_prefix() -> None:
    assert names_without_prefix(["image_url", "image_alt", "sku", "name", "price", "stock"]) == (
        [None] * 6
    )


@pytest.mark.parametrize(
    ("header", "target"),
    [
        ("Frei verw. Bestand", "availability.quantity"),
        ("FOB Ningbo (USD)", "price.amount"),
        ("EXW Shenzhen", "price.amount"),
        ("USD Unit Wholesale Price", "price.amount"),
        ("Size (mm)", "specifications.dimensions"),
        ("Digi-Key Part Number", "identifiers.sku"),
        ('מק"ט', "identifiers.sku"),
        ("판매자 상품코드", "identifiers.sku"),
        ("اسم المنتج", "title"),
        ("起订量", "availability.minOrder"),
    ],
)
def test_names_that_need_more_than_a_list(header: str, target: str) -> None:
    assert propose([header]).columns[0].target == target


def test_product_id_that_consists_of_gtins_is_the_gtin() -> None:
    cells = ["4006381333931", "4006381333948", "5901234123457"]
    assert propose(["SKU", "Product ID"], [["A", "B", "C"], cells]).columns[1].target == (
        "identifiers.gtin"
    )
    beside = propose(["EAN", "Product ID"], [cells, cells]).columns
    assert [column.target for column in beside] == ["identifiers.gtin", "sourceId"]


def test_retail_price_beside_the_cost_is_the_price() -> None:
    found = propose(["SKU", "Закупочная цена", "Розничная цена"]).targets()
    assert found["Розничная цена"] == "price.amount"
    assert found["Закупочная цена"] == "price.cost"


def test_title_taken_from_the_descriptions_leaves_them_to_another_column() -> None:
    long = "Furadeira de impacto com maleta, mandril de 13 mm e empunhadura lateral ajustável."
    found = propose(
        ["Código", "Descrição", "Descrição complementar"],
        [["1", "2", "3"], ["Furadeira", "Serra", "Lixa"], [long, long, long]],
    ).targets()
    assert found["Descrição"] == "title"
    assert found["Descrição complementar"] == "description"


def test_abbreviations_before_names_are_no_tables() -> None:
    assert names_without_prefix(["id_barang", "nm_barang", "hrg_jual", "stk_akhir"]) == [None] * 4
    assert names_without_prefix(["AR_Ref", "AR_Nom", "AR_Prix", "AR_Poids", "AS_Stock"]) == [
        "Ref", "Nom", "Prix", "Poids", "Stock",
    ]  # fmt: skip
