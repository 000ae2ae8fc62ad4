"""Files as suppliers send them: what the columns are called, and what then becomes of the cells."""

from __future__ import annotations

from typing import Any

import pytest
from tests.catalog.test_normalise import codes, plan_of, products

from penstock.catalog.mapping.proposal import propose
from penstock.catalog.mapping.synonyms import read_hints
from penstock.catalog.products.normalise import normalise
from penstock.catalog.products.plan import compile_plan
from penstock.catalog.profiles.profile import Profile, rule_for


def targets(*header: str, cells: tuple[tuple[str, ...], ...] = ()) -> list[str | None]:
    samples = list(zip(*cells, strict=True)) if cells else []
    return [column.target for column in propose(header, samples).columns]


@pytest.mark.parametrize(
    ("header", "target"),
    [
        ("Mfr", "brand"),
        ("Mfr Part #", "identifiers.mpn"),
        ("Item #", "identifiers.sku"),
        ("Qty Avail", "availability.quantity"),
        ("Art.Nr", "identifiers.sku"),
        ("Artikel-No.", "identifiers.sku"),
        ("Währg", "price.currency"),
        ("U.M.", "price.unit"),
        ("E.A.N.", "identifiers.gtin"),
        ("Conf.", "specifications.pack"),
        ("Unidades por caja", "specifications.pack"),
        ("Levertijd (dagen)", "availability.leadTimeDays"),
        ("Afmetingen (LxBxH cm)", "specifications.dimensions"),
        ("Gewicht netto in g", "specifications.weight"),
        ("Inhalt in ml", "specifications.pack"),
        ("Grundpreis je kg", "price.perUnit"),
        ("ARTICLE_DETAILS.EAN", "identifiers.gtin"),
        ("product.details.manufacturerName", "brand"),
        ("商品名", "title"),
        ("السعر", "price.amount"),
        ("Цена", "price.amount"),
        ("Preis ab 10 Stk.", "price.tiers.10"),
        ("100+", "price.tiers.100"),
        ("Preis ab 1 Stück", "price.amount"),
        ("Logistik VPE", "specifications.pack"),
        ("Ship Wt.", "specifications.weight"),
        ("Dim L (in)", "specifications.dimensions.length"),
        ("attributes.price.value", "price.amount"),
        ("Lager- bestand", "availability.quantity"),
        ("RRP inc VAT", "price.amount"),
        ("Цена, руб.", "price.amount"),
        ("Stan magazynowy", "availability.quantity"),
        ("Saldo Atual", "availability.quantity"),
        ("VariationNumber", "identifiers.sku"),
        ("Giá so sánh", "price.compareAt"),
        ("Foto Sampul", "images"),
        ("Units per package", "specifications.pack"),
        ("Vnt.", "price.unit"),
        ("Tồn hiện tại", "availability.quantity"),
        ("מלאי עדכני", "availability.quantity"),
        ("قیمت پایه", "price.amount"),
        ("кольори", "variants.color"),
        ("jelenlegi készlet", "availability.quantity"),
        ("المخزون الحالي", "availability.quantity"),
        ("Текущая цена", "price.amount"),
        ("id_barang", "sourceId"),
        ("affiliate_url", "metadata.url"),
        ("Cijena za jedinicu mjere", "price.perUnit"),
        ("AntalPåLager", "availability.quantity"),
        ("標準単価", "price.amount"),
        ("Venda Unitário", "price.amount"),
        ("Termékcsalád", "category"),
        ("Adı", "title"),
        ("Имя", "title"),
        ("Размер вещи", "variants.size"),
        # What only sounds alike, or belongs to something else, is nothing.
        ("supplier.price", None),
        ("shipping.price", None),
        ("tax.country", None),
        ("product_online", "published"),
        ("Grouped products", None),
        ("Art", None),
        ("Sales", None),
        ("Adresse", None),
        ("longitude", None),
        ("100", None),
    ],
)
def test_one_header(header: str, target: str | None) -> None:
    assert targets(header) == [target]


def test_a_column_of_codes_is_no_name() -> None:
    """What German and Swiss lists call `Artikel` is a name in one and a number in the next."""
    rows = (("A1", "Fondue"), ("A2", "Raclette"), ("A3", "Gabel"))
    assert targets("Artikel", "Bezeichnung", cells=rows) == ["identifiers.sku", "title"]
    assert targets("Material", "Materialkurztext", cells=rows) == ["identifiers.sku", "title"]
    assert targets("Artikel", "Preis") == ["title", "price.amount"]
    named = (("Fondue", "1"), ("Raclette", "2"), ("Gabel", "3"))
    assert targets("Artikel", "Nr", cells=named)[0] == "title"


def test_stock_in_words_is_availability() -> None:
    rows = (("Sí",), ("No",), ("Agotado",))
    assert targets("Stock", cells=rows) == ["availability.status"]
    assert targets("Stock", cells=(("12",), ("0",), ("7",))) == ["availability.quantity"]
    mixed = [["SKU", "Name", "Stock"], ["a", "A", "12"], ["b", "B", "rupture"], ["c", "C", "3"]]
    assert [one.get("availability") for one in products(mixed)] == [
        {"status": "in_stock", "quantity": 12},
        {"status": "out_of_stock"},
        {"status": "in_stock", "quantity": 3},
    ]


def test_words_in_a_column_of_numbers_beside_one_of_words() -> None:
    rows = [["SKU", "Name", "Qty", "Availability"], ["a", "A", "sold out", "out of stock"]]
    plan = plan_of(rows)
    row = normalise(plan, rows[1])
    assert (row.product["availability"], codes(row)) == ({"status": "out_of_stock"}, [])


def test_wrong_numbers_do_not_hide_a_column_of_gtins() -> None:
    rows = (("8410010255014",), ("8410010255021",), ("4.00638E+12",), ("n/a",))
    assert targets("Código de barras", cells=rows) == ["identifiers.gtin"]


def test_numbers_of_categories_give_way_to_names() -> None:
    header = ("google_product_category", "product_type")
    assert targets(*header, cells=(("187", "Shoes > Running"),)) == [None, "category"]


def test_headers_give_units_to_cells_without_any() -> None:
    rows = [
        ["SKU", "Name", "Volumen (l)", "Grundpreis je 100 g", "Preis inkl. MwSt. €",
         "Lieferzeit (Wochen)", "Maße (HxBxT) mm"],
        ["a", "Kiste", "9", "1,25", "25,00", "2", "300 x 200 x 150"],
    ]  # fmt: skip
    (product,) = products(rows)
    assert product["specifications"]["pack"] == {
        "count": 1, "size": 9, "unit": "l", "total": 9, "totalUnit": "l",
    }  # fmt: skip
    assert product["price"]["perUnit"] == {"amount": "1.25", "unit": "100 g"}
    assert (product["price"]["currency"], product["price"]["taxIncluded"]) == ("EUR", True)
    assert product["availability"]["leadTimeDays"] == 14
    assert product["specifications"]["dimensions"] == {
        "height": 300, "width": 200, "depth": 150, "unit": "mm",
    }  # fmt: skip


def test_a_price_for_one_is_not_shared_out_over_the_pack() -> None:
    each = [["SKU", "Name", "PU HT", "Conditionnement"], ["a", "Café", "3,45", "Carton de 12"]]
    assert "perUnit" not in products(each)[0]["price"]
    whole = [["SKU", "Name", "Prix", "Conditionnement"], ["a", "Café", "36,00", "Carton de 12"]]
    assert products(whole)[0]["price"]["perUnit"] == {"amount": "3.00", "unit": "piece"}


def test_a_price_for_a_hundred() -> None:
    rows = [
        ["Material", "Kurztext", "Preis", "Währg", "Preiseinh."],
        ["1", "N", "3,20", "EUR", "100"],
    ]
    (product,) = products(rows)
    assert product["price"]["unit"] == "100 piece"
    assert product["price"]["perUnit"] == {"amount": "0.032", "unit": "piece"}


def test_a_unit_in_its_own_column_is_not_missing() -> None:
    rows = [["SKU", "Name", "Weight", "Weight unit"], ["a", "A", "800", "GR"]]
    row = normalise(plan_of(rows), rows[1])
    assert row.product["specifications"]["weight"] == {"value": 800, "unit": "g"}
    assert "UNIT_MISSING" not in codes(row)


def test_dates_with_twelve_hour_clocks_begin_with_the_month() -> None:
    rows = [
        ["SKU", "Name", "Updated at"],
        ["a", "A", "1/5/26, 8:40 PM"],
        ["b", "B", "1/15/26, 8:40 PM"],
    ]
    assert products(rows)[0]["metadata"]["lastUpdated"] == "2026-01-05T20:40:00"


def test_prices_from_a_quantity_up_in_columns_of_their_own() -> None:
    rows = [["sku", "name", "preis", "ab 50", "ab 10"], ["a", "A", "1,20 €", "1,00", "1,10"]]
    (product,) = products(rows)
    assert product["price"]["amount"] == "1.20"
    assert product["price"]["currency"] == "EUR"
    assert product["price"]["tiers"] == [
        {"minQuantity": 1, "amount": "1.20"},
        {"minQuantity": 10, "amount": "1.10"},
        {"minQuantity": 50, "amount": "1.00"},
    ]
    rows[1][3:] = ["", ""]
    assert "tiers" not in products(rows)[0]["price"]


def test_the_currency_of_one_price_is_that_of_the_others() -> None:
    rows = [["SKU", "Name", "Net price", "List price (USD)"], ["a", "A", "10", "12"]]
    assert products(rows)[0]["price"]["currency"] == "USD"
    rows[0].append("UVP (EUR)")
    assert "currency" not in products([rows[0], [*rows[1], "9"]])[0]["price"]


def test_codes_with_letters_of_currencies_are_no_prices() -> None:
    rows = (("R3DO",), ("FR*E23*P1",), ("R4DO",))
    assert targets("Org", cells=rows) == [None]
    assert targets("Org", cells=(("12,50 €",), ("€ 3",), ("1.234,00 EUR",))) == ["price.amount"]


def test_without_a_header_the_cells_are_all_there_is() -> None:
    rows = (
        ("A-100", "Hammer", "12.50", "EUR", "4006381333931", "5"),
        ("A-101", "Zange", "8.90", "EUR", "4006381333948", "7"),
        ("A-102", "Säge", "22.00", "EUR", "4006381333962", "12"),
    )
    header = [f"Column {n}" for n in range(1, 7)]
    assert targets(*header, cells=rows) == [
        "identifiers.sku", "title", "price.amount", "price.currency", "identifiers.gtin", None,
    ]  # fmt: skip
    assert targets("x", "y", cells=tuple(row[:2] for row in rows)) == [None, None]


def test_rows_are_told_apart_by_what_they_have() -> None:
    assert plan_of([["id", "title"], ["1", "A"]]).profile.key == "sourceId"
    assert plan_of([["EAN", "title"], ["4006381333931", "A"]]).profile.key == "gtin"
    assert plan_of([["sku", "EAN", "title"], ["1", "4006381333931", "A"]]).profile.key == "sku"


def test_no_parent_is_no_group() -> None:
    rows = [["id", "name", "parent_id"], ["1", "A", "0"], ["2", "B", "0"], ["3", "C", "1"]]
    plan = plan_of(rows)
    assert [normalise(plan, row).group for row in rows[1:]] == [None, None, "1"]


def test_yen_with_cents_are_yuan() -> None:
    rows = [["sku", "name", "price"], ["1", "A", "¥128.50"], ["2", "B", "¥3"]]
    assert [one["price"]["currency"] for one in products(rows)] == ["CNY", "CNY"]
    rows[1][2] = "¥128"
    assert [one["price"]["currency"] for one in products(rows)] == ["JPY", "JPY"]


def test_columns_called_by_quantities_hold_the_prices_from_there_up() -> None:
    rows = (("X1", "0.45", "0.38", "0.21"), ("X2", "0.39", "0.33", "0.20"), ("X3", "1", "2", "3"))
    named = targets("Mfr. P/N", "1", "10", "100", cells=rows)
    assert named == ["identifiers.mpn", "price.amount", "price.tiers.10", "price.tiers.100"]
    months = ("sku", "1", "2", "3")
    assert targets(*months, cells=rows) == ["identifiers.sku", None, None, None]


def test_content_and_unit_in_two_columns_are_one_pack() -> None:
    rows = [["sku", "name", "Inhalt", "Einheit", "Preis"], ["1", "Joghurt", "500", "g", "1,29 €"]]
    (product,) = products(rows)
    assert product["price"]["unit"] == "500 g"
    assert product["price"]["perUnit"] == {"amount": "2.58", "unit": "kg"}
    assert product["specifications"]["pack"]["total"] == 0.5
    rows[0][2] = "VE"
    assert products([rows[0], ["1", "Kabel", "100", "m", "1,29 €"]])[0]["price"]["unit"] == "m"


def bmecat() -> list[list[str]]:
    prices = '[{"PRICE_AMOUNT":"9.90","PRICE_CURRENCY":"EUR"},' \
        '{"PRICE_AMOUNT":"8.50","PRICE_CURRENCY":"EUR","LOWER_BOUND":"10"}]'  # fmt: skip
    return [
        ["SUPPLIER_AID", "ARTICLE_DETAILS.DESCRIPTION_SHORT", "ARTICLE_DETAILS.MANUFACTURER_AID",
         "ARTICLE_PRICE_DETAILS.ARTICLE_PRICE",
         "ARTICLE_PRICE_DETAILS.ARTICLE_PRICE.PRICE_AMOUNT",
         "ARTICLE_PRICE_DETAILS.ARTICLE_PRICE.PRICE_CURRENCY", "MIME_INFO.MIME.MIME_SOURCE"],
        ["P-1", "Pumpe", "M1", prices, "", "", "https://x.example/p.jpg"],
        ["P-2", "Welle", "M2", "", "99.00", "EUR", ""],
    ]  # fmt: skip


def test_a_catalog_of_several_and_of_single_prices() -> None:
    first, second = products(bmecat())
    assert first["price"]["amount"] == "9.90"
    assert first["price"]["currency"] == "EUR"
    assert [tier["minQuantity"] for tier in first["price"]["tiers"]] == [1, 10]
    assert (second["price"]["amount"], second["price"]["currency"]) == ("99.00", "EUR")
    assert (first["identifiers"]["sku"], first["title"]) == ("P-1", "Pumpe")
    assert first["images"][0]["url"] == "https://x.example/p.jpg"


def test_a_column_that_is_mapped_by_hand_keeps_what_its_header_says() -> None:
    rule: Any = rule_for("price.amount", read_hints("UVP brutto (CHF)")[0])
    plan = compile_plan(["UVP brutto (CHF)"], Profile("t", columns={"UVP brutto (CHF)": rule}))
    price = normalise(plan, ["12.50"]).product["price"]
    assert (price["currency"], price["taxIncluded"]) == ("CHF", True)
