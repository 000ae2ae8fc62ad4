"""Headers that no list contains, read by what their words mean."""

from __future__ import annotations

import pytest
from tests.catalog.test_normalise import products

from penstock.catalog.mapping.header_meaning import meaning
from penstock.catalog.mapping.proposal import propose
from penstock.catalog.mapping.synonyms import header_key

PRICES = ("12,50", "8,90", "14,00", "3,20")
COUNTS = ("12", "0", "45", "7")


def target_of(header: str, cells: tuple[str, ...] = ()) -> str | None:
    (column,) = propose([header], [cells]).columns
    return column.target


def test_order_and_language_of_words_do_not_matter() -> None:
    said = {meaning(header_key(one)) for one in (
        "Kod producenta", "manufacturer code", "Herstellercode", "код производителя",
        "Valmistajan koodi",
    )}  # fmt: skip
    assert said == {frozenset({"manufacturer", "code"})}


def test_a_price_unit_is_not_a_unit_price() -> None:
    assert meaning("price unit") == frozenset()
    assert meaning("unit price") == frozenset({"price"})
    assert target_of("Preis/Einheit", PRICES) != "price.unit.count"


@pytest.mark.parametrize(
    ("header", "target"),
    [
        ("Czas wysyłki", "availability.leadTimeDays"),
        ("Planlieferzeit", "availability.leadTimeDays"),
        ("Leveringstid dage", "availability.leadTimeDays"),
        ("Kod producenta", "identifiers.mpn"),
        ("Koodi valmistajan", "identifiers.mpn"),
        ("Zdjęcie główne", "images"),
        ("Hovedbillede", "images"),
        ("Lagerbestand Gesamt", "availability.quantity"),
        ("Skladová zásoba", "availability.quantity"),
        ("Lagerbest.", "availability.quantity"),
        ("Purchases unit price", "price.amount"),  # the only price of the file
        ("Categoria merceologica", "category"),
        ("Custom SKU", "identifiers.sku"),
        ("SKU del vendedor", "identifiers.sku"),
        ("Tên sản phẩm", "title"),
        ("Harga Jual", "price.amount"),
    ],
)
def test_words_that_are_known_one_by_one(header: str, target: str) -> None:
    assert target_of(header) == target


@pytest.mark.parametrize(
    "header",
    ["Parent article code", "Customer SKU", "EAN Karton", "Zolltarifnummer", "Serial number",
     "Reorder level", "Kupfergewicht", "Alternative Artikelnummer", "Brand image"],
)  # fmt: skip
def test_words_that_make_another_field(header: str) -> None:
    assert target_of(header) not in (
        "identifiers.sku", "identifiers.gtin", "identifiers.mpn", "availability.quantity",
        "specifications.weight", "brand",
    )  # fmt: skip


def test_gross_and_net_beside_a_discount() -> None:
    proposal = propose(["Art.-Nr.", "Bezeichnung", "Bruttopreis", "Rabatt %", "Nettopreis"])
    targets = proposal.targets()
    assert targets["Bruttopreis"] == "price.list"
    assert targets["Nettopreis"] == "price.amount"


def test_in_stock_with_numbers_is_a_quantity() -> None:
    assert target_of("Skladem", COUNTS) == "availability.quantity"
    said = ("skladem", "vyprodáno", "skladem", "skladem")
    assert target_of("Skladem", said) == "availability.status"


def test_a_second_quantity_is_not_a_status() -> None:
    targets = propose(["Stock", "@ qty"], [COUNTS, ("1", "1", "10", "1")]).targets()
    assert targets == {"Stock": "availability.quantity"}


def test_addresses_of_documents_are_not_the_page_of_the_product() -> None:
    sheets = tuple(f"https://files.example/sheet-{n}.pdf" for n in range(4))
    assert target_of("Datenblatt", sheets) is None


def test_names_win_over_codes_in_a_column_called_item() -> None:
    assert target_of("Item", ("Bike pump", "Bike lock small", "Front light", "Bell")) == "title"
    assert target_of("Item", ("BP-100", "BL-200", "FL-300", "BE-400")) == "identifiers.sku"


@pytest.mark.parametrize(
    ("header", "unit", "currency", "tax_included"),
    [
        ("Cena za 100 ks bez DPH", "100 piece", None, False),
        ("Preis/100 Stk netto", "100 piece", None, False),
        ("Price per 1000 (USD)", "1000 piece", "USD", None),
        ("Precio por 100 uds sin IVA", "100 piece", None, False),
        ("Hinta / 100 kpl (alv 0)", "100 piece", None, False),
        ("Цена за 100 шт.", "100 piece", None, None),
        ("Ár / 100 db nettó", "100 piece", None, False),
        ("Prix HT les 100", "100 piece", None, False),
        ("EUR/100", "100 piece", "EUR", None),
        ("€ / 100 kg", "100 kg", "EUR", None),
        ("Preis je VPE", "pack", None, None),
        ("Cena za bal.", "pack", None, None),
        ("Cena netto/szt.", "piece", None, False),
        ("Netto €", None, "EUR", False),
        ("Px net", None, None, False),
    ],
)
def test_what_a_price_is_for(
    header: str, unit: str | None, currency: str | None, tax_included: bool | None
) -> None:
    (column,) = propose([header], [PRICES]).columns
    assert column.target == "price.amount"
    assert (column.hints.unit, column.hints.currency) == (unit, currency)
    assert column.hints.tax_included is tax_included


@pytest.mark.parametrize(
    ("column", "unit"), [("ks", "100 piece"), ("m", "100 m"), ("", "100 piece")]
)
def test_a_price_for_a_hundred_beside_a_column_of_units(column: str, unit: str) -> None:
    table = [["Kód", "Cena za 100 ks", "MJ"], ["A", "340,00 Kč", column], ["B", "95,00 Kč", column]]
    assert products(table)[0]["price"]["unit"] == unit


@pytest.mark.parametrize("header", ["Pieces per pack", "Stück pro VE", "Ks za balení"])
def test_pieces_in_a_pack_are_not_a_price(header: str) -> None:
    assert target_of(header, COUNTS) != "price.amount"


@pytest.mark.parametrize(
    "headers",
    [
        "Cena netto 1-9 szt.; 10-49 szt.; 50+ szt.",
        "Preise in EUR ab 1 Stk.; Preise in EUR ab 10 Stk.; Preise in EUR ab 50 Stk.",
        "Prix HT 1 pce; à partir de 10 pcs; à partir de 50 pcs",
        "Price 1 pc (USD); Price 10+ pcs (USD); Price 50+ pcs (USD)",
        "Цена от 1 шт.; от 10 шт.; от 50 шт.",
    ],
)
def test_prices_from_a_quantity_up(headers: str) -> None:
    names = ["SKU", *headers.split("; ")]
    cells = [("A-1", "B-2", "C-3"), ("3,90", "5,00", "7,10"), ("3,50", "4,50", "6,00"),
             ("3,10", "4,10", "5,50")]  # fmt: skip
    targets = [column.target for column in propose(names, cells).columns]
    assert targets[1:] == ["price.amount", "price.tiers.10", "price.tiers.50"]


def test_the_code_of_a_carton_is_not_that_of_the_product() -> None:
    gtins = ["14006381333938", "14006381333945", "14006381333952"]
    for name in ("EAN (Outer)", "UPC (Case)", "EAN (Karton)", "Barcode (caja)", "EAN (короб)"):
        assert propose([name], [gtins]).columns[0].target is None
    assert propose(["EAN (13)"], [["4006381333931"] * 3]).columns[0].target == "identifiers.gtin"


def test_a_status_of_nothing_but_n_hides_no_products() -> None:
    assert propose(["status"], [["N", "N", "N"]]).columns[0].target is None
    assert propose(["status"], [["active", "draft", "active"]]).columns[0].target == "published"


def test_the_column_with_values_fills_a_field_of_two_columns() -> None:
    found = propose(["upc", "ean"], [["", "", ""], ["4006381333931"] * 3]).columns
    assert [one.target for one in found] == [None, "identifiers.gtin"]


def test_further_columns_of_pictures_need_no_known_name() -> None:
    urls = [[f"https://x.invalid/{n}-{row}.jpg" for row in range(3)] for n in range(3)]
    names = ["product_media_main_image_url", "shop gallery image url 1", "shop gallery image url 2"]
    found = [one.target for one in propose(names, urls).columns]
    assert found == ["images", "images.2", "images.3"]
