"""Names of columns in further languages, and names that their cells explain."""

from __future__ import annotations

import pytest

from penstock.catalog.mapping.proposal import propose
from penstock.catalog.values.booleans import read_tax_included
from penstock.catalog.values.prices import read_price
from penstock.catalog.values.units import read_pack

NAMES = ("Blue mug", "Red mug", "Green mug")


def target(name: str, *cells: str, header: tuple[str, ...] = ("SKU", "Name")) -> str | None:
    known = [("A-1", "A-2", "A-3"), NAMES, ("12.50", "13.50", "14.50")][: len(header)]
    return propose([*header, name], [*known, cells or ("1", "2", "3")]).columns[-1].target


@pytest.mark.parametrize(
    ("name", "cells", "field"),
    [
        ("cantInventario", ("17", "6", "40"), "availability.quantity"),
        ("Kvantitet", ("17", "6", "40"), "availability.quantity"),
        ("Primær kategori", ("Mugs", "Mugs", "Bowls"), "category"),
        ("provider", ("Acme SA", "Blue SA", "Acme SA"), "supplier.name"),
        ("leverandoer", ("Acme AS", "Blue AS", "Acme AS"), "supplier.name"),
        ("販売会社", ("山田商店", "鈴木商店", "山田商店"), "supplier.name"),
        ("نوع الوحدة", ("قطعة", "قطعة", "علبة"), "price.unit"),
        ("Cost per Part", ("24.50", "6.80", "7.10"), "price.amount"),
        ("harga_jual_ke_pelanggan", ("125400", "96030", "88000"), "price.amount"),
        ("pack_size", ("20s", "100's", "50S"), "specifications.pack"),
    ],
)
def test_a_name_in_another_language(name: str, cells: tuple[str, ...], field: str) -> None:
    assert target(name, *cells) == field


def test_the_selling_price_comes_before_other_prices() -> None:
    header = ["SKU", "Name", "harga_dasar", "harga_jual_ke_pelanggan"]
    cells = [("A-1", "A-2", "A-3"), NAMES, ("120000", "90000", "1000"), ("125400", "96030", "1100")]
    found = [column.target for column in propose(header, cells).columns]
    assert found[2:] == [None, "price.amount"]


@pytest.mark.parametrize(
    ("name", "cells"),
    [
        ("НДС", ("с НДС", "без НДС", "с НДС")),
        ("MwSt", ("inkl. MwSt.", "zzgl. MwSt.", "inkl. MwSt.")),
        ("VAT", ("incl. VAT", "excl. VAT", "incl. VAT")),
        ("IVA", ("IVA incluido", "sin IVA", "IVA incluido")),
    ],
)
def test_a_column_of_tax_may_say_whether_it_is_included(name: str, cells: tuple[str, ...]) -> None:
    assert target(name, *cells, header=("SKU", "Name", "Price")) == "price.taxIncluded"
    assert [read_tax_included(cell).value for cell in cells] == [True, False, True]
    rates = ("19 %", "7 %", "19 %")
    assert target(name, *rates, header=("SKU", "Name", "Price")) == "price.taxRate"


@pytest.mark.parametrize(
    ("name", "cells", "field"),
    [
        ("状态", ("上架", "下架", "上架"), "published"),
        ("상태", ("판매중", "품절", "판매중"), "availability.status"),
        ("状態", ("在庫あり", "在庫切れ", "取り寄せ"), "availability.status"),
    ],
)
def test_a_status_is_what_its_cells_say(name: str, cells: tuple[str, ...], field: str) -> None:
    assert target(name, *cells, header=("SKU", "Name", "Price")) == field


@pytest.mark.parametrize(("text", "count"), [("20s", 20), ("100's", 100), ("6’s", 6), ("30S", 30)])
def test_a_count_with_an_s_is_a_pack(text: str, count: int) -> None:
    assert read_pack(text).value.count == count


@pytest.mark.parametrize(
    "text",
    ["between $10 and $20", "entre 10 $ et 20 $", "zwischen $10 und $20", "między $10 a $20",
     "entre $10 y $20", "tra $10 e $20", "between US$10 and US$20"],
)  # fmt: skip
def test_a_range_in_words(text: str) -> None:
    price = read_price(text).value
    assert (price.amount, price.upper, price.currency) == ("10.00", "20.00", "USD")


@pytest.mark.parametrize(
    "text", ["12,50 €/Tsd.", "12,50 € pro Tausend", "12,50 € / tys.", "€12.50 per thousand"]
)
def test_a_price_for_a_thousand(text: str) -> None:
    price = read_price(text).value
    assert (price.amount, price.currency, price.unit) == ("12.50", "EUR", "1000 piece")


@pytest.mark.parametrize("text", ["¥12.5", "¥12.5/件", "￥12.50"])
def test_decimals_make_yuan(text: str) -> None:
    assert read_price(text).value.currency == "CNY"


def test_a_price_struck_out_in_markdown_is_the_former_one() -> None:
    assert read_price("~~20,00 €~~ 15,00 €").value.amount == "15.00"


def test_names_of_tables_before_all_names_are_left_out() -> None:
    header = ["AR_Ref", "AR_Design", "FA_CodeFamille", "AR_PrixAch", "AR_PrixVen", "AS_QteSto"]
    cells = [("R-1", "R-2", "R-3"), NAMES, ("MUG", "MUG", "BOWL"), ("2,10", "6,50", "5,20"),
             ("4,90", "12,90", "10,90"), ("12", "4", "0")]  # fmt: skip
    assert [column.target for column in propose(header, cells).columns] == [
        "identifiers.sku", "title", "category", "price.cost", "price.amount",
        "availability.quantity",
    ]  # fmt: skip


@pytest.mark.parametrize("name", ["品番（必須）", "Artikelnummer (Pflicht)", "SKU [required]"])
def test_brackets_of_any_width_are_left_out(name: str) -> None:
    found = propose([name, "Price"], [("A-1", "A-2", "A-3"), ("12.50", "13.50", "14.50")])
    assert found.columns[0].target == "identifiers.sku"


def test_article_numbers_may_follow_each_other() -> None:
    price = ("12.50", "13.50", "14.50")
    numbers = ("1000", "1001", "1002")
    found = propose(["No.", "Description", "Price"], [numbers, NAMES, price]).columns
    assert found[0].target == "identifiers.sku"
    found = propose(["No.", "Description", "Price"], [("1", "2", "3"), NAMES, price]).columns
    assert found[0].target is None


@pytest.mark.parametrize("word", ["باركود دولي", "바코드", "バーコード", "ברקוד", "条形码"])
def test_a_barcode_in_other_scripts(word: str) -> None:
    gtins = ("4006381333931", "4006381333948", "4006381333955")
    assert target(word, *gtins) == "identifiers.gtin"


def test_offers_for_marketplaces() -> None:
    header = ["shop-sku", "product-title", "product-id", "product-id-type", "offer price",
              "quantity", "leadtime-to-ship", "state", "discount-price", "brand"]  # fmt: skip
    cells = [("M-1", "M-2", "M-3"), NAMES, ("4006381333931", "4006381333948", "4006381333955"),
             ("EAN",) * 3, ("39.90", "24.90", "59.90"), ("12", "5", "3"), ("2", "2", "4"),
             ("11",) * 3, ("34.90", "", "49.90"), ("Acme",) * 3]  # fmt: skip
    found = {column.header: column.target for column in propose(header, cells).columns}
    assert found["offer price"] == "price.amount"
    assert found["discount-price"] == "price.sale"
    assert found["product-id"] == "identifiers.gtin"
    assert found["state"] is None
