"""Columns whose field depends on the other columns of the file, or on what their cells contain."""

from __future__ import annotations

import pytest

from penstock.catalog.mapping.header_meaning import fields_meant
from penstock.catalog.mapping.proposal import propose
from penstock.catalog.mapping.synonyms import candidates

TEXT = "Solid oak board with a groove, oiled by hand and made to last for many years"


def targets(**columns: str) -> dict[str, str]:
    """The fields of columns, given with three cells each, divided by `|`."""
    cells = [text.split("|") for text in columns.values()]
    return propose(list(columns), cells).targets()


def test_price_is_the_column_that_has_a_word_for_price() -> None:
    found = targets(codigo="A|B|C", costo="5|6|7", precio_gremio="9,50|11|12")
    assert found == {
        "codigo": "identifiers.sku",
        "costo": "price.cost",
        "precio_gremio": "price.amount",
    }


@pytest.mark.parametrize("name", ["precio_grupo_codigo", "price_type", "price_valid_date"])
def test_other_words_beside_price_name_no_price(name: str) -> None:
    found = targets(sku="A|B|C", cost="5.10|6.20|7.30", **{name: "1.10|1.20|1.30"})
    assert found == {"sku": "identifiers.sku", "cost": "price.amount"}


def test_only_price_of_a_file_may_be_the_reduced_one() -> None:
    assert targets(sku="A|B|C", sale_price="5.10|6.20|7.30")["sale_price"] == "price.amount"


def test_reduced_price_beside_the_recommended_one_is_the_price() -> None:
    found = targets(sku="A|B|C", MRP="50|85|160", **{"Discounted Price": "45|75|135"})
    assert found == {
        "sku": "identifiers.sku",
        "MRP": "price.recommended",
        "Discounted Price": "price.amount",
    }


@pytest.mark.parametrize("name", ["STOCK_BLOQUE", "Stock blocked", "Bestand gesperrt"])
def test_blocked_stock_hides_no_product(name: str) -> None:
    found = targets(sku="A|B|C", stock="5|0|7", **{name: "0|1|0"})
    assert found == {"sku": "identifiers.sku", "stock": "availability.quantity"}


@pytest.mark.parametrize("name", ["inventory_Main_Street", "Current Quantity Harbour Shop"])
def test_stock_of_the_only_place_is_the_stock(name: str) -> None:
    found = targets(sku="A|B|C", **{name: "5|0|-2"})
    assert found == {"sku": "identifiers.sku", name: "availability.quantity"}
    assert targets(sku="A|B|C", **{name: "5|0|-2", f"{name} 2": "1|0|3"}) == {
        "sku": "identifiers.sku"
    }


@pytest.mark.parametrize("name", ["inventory_tracked_Main", "reorder_stock_Main", "stock_value_x"])
def test_other_words_beside_stock_name_no_stock(name: str) -> None:
    assert targets(sku="A|B|C", **{name: "5|0|7"}) == {"sku": "identifiers.sku"}


def test_language_before_a_name() -> None:
    found = targets(
        SKU="A|B|C",
        NL_Title_Short="Bowl|Cloth|Spoon",
        NL_Description_Long="|".join([TEXT] * 3),
        NL_Category_1="Kitchen|Kitchen|Table",
    )
    assert found == {
        "SKU": "identifiers.sku",
        "NL_Title_Short": "title",
        "NL_Description_Long": "description",
        "NL_Category_1": "category",
    }


def test_code_named_sku_wins_over_another_code() -> None:
    found = targets(**{"Product Code": "400001|400002|400003", "SKU": "CF-1|MF-1|TE-1"})
    assert found == {"SKU": "identifiers.sku"}


def test_minimum_beside_maximum_is_no_least_order() -> None:
    found = targets(sku="A|B|C", minimo="5|2|7", maximo="20|8|30", price="5.10|6.20|7.30")
    assert found == {"sku": "identifiers.sku", "price": "price.amount"}


def test_least_stock_is_no_least_order() -> None:
    found = targets(**{"sku": "A|B|C", "Current Quantity": "5|2|7", "Minimum Quantity": "3|3|9"})
    assert found == {"sku": "identifiers.sku", "Current Quantity": "availability.quantity"}
    assert targets(**{"sku": "A|B|C", "Store Minimum": "3|3|9"}) == {"sku": "identifiers.sku"}
    kept = targets(**{"sku": "A|B|C", "Stock": "5|2|7", "Minimum Quantity": "3|3|9"})
    assert kept["Minimum Quantity"] == "availability.minOrder"


def test_status_of_publication_in_a_column_that_names_either() -> None:
    assert targets(kod="A|B|C", stav="Aktivní|Neaktivní|Aktivní")["stav"] == "published"
    assert targets(kod="A|B|C", stav="skladem|na objednávku|skladem")["stav"] == (
        "availability.status"
    )


def test_selling_price_wins_over_a_column_named_price() -> None:
    found = targets(sku="A|B|C", Preis="5|6|7", **{"VK-Preis": "9|10|11"})
    assert found == {"sku": "identifiers.sku", "VK-Preis": "price.amount"}


def test_short_description_is_the_description_of_a_file_without_another() -> None:
    found = targets(name="Board|Tray|Bowl", short_description="|".join([TEXT] * 3))
    assert found == {"name": "title", "short_description": "description"}
    both = targets(
        name="Board|Tray|Bowl",
        short_description="|".join([TEXT] * 3),
        description="|".join([TEXT * 2] * 3),
    )
    assert both == {"name": "title", "description": "description"}


def test_available_pieces_are_the_stock_beside_those_on_hand() -> None:
    found = targets(SKU="A|B|C", On_Hand="12|40|7", Reserved="2|0|1", Available="10|40|6")
    assert found == {"SKU": "identifiers.sku", "Available": "availability.quantity"}


def test_stars_are_those_of_the_supplier_only_where_the_file_names_one() -> None:
    assert targets(name="Board|Tray|Bowl", rating="4.5|3.9|5.0") == {"name": "title"}
    found = targets(name="Board|Tray|Bowl", supplier="Oak Ltd|Elm Ltd|Ash Ltd", rating="4.5|3.9|5")
    assert found["rating"] == "supplier.rating"


@pytest.mark.parametrize(("stock", "least"), [("estoque", "minimo"), ("qtd", "qtd_min")])
def test_minimum_beside_the_stock_is_no_least_order(stock: str, least: str) -> None:
    found = targets(codigo="A|B|C", **{stock: "12|40|7", least: "2|5|1"})
    assert found == {"codigo": "identifiers.sku", stock: "availability.quantity"}


def test_models_are_the_titles_of_a_file_without_others() -> None:
    found = targets(id="7|8|9", model="Aero X1|Luna Pro|Terra 5 S", price="9.90|8.90|7.90")
    assert found == {"id": "sourceId", "model": "title", "price": "price.amount"}


def test_names_are_the_titles_of_a_file_that_calls_them_otherwise() -> None:
    lists = {"Apfel": "Roter Boskoop|Gelbe Linzer|Blauer Alba", "Preis": "2,90|3,10|4,00"}
    found = targets(SKU="A1|A2|A3", **lists)
    assert found == {"SKU": "identifiers.sku", "Apfel": "title", "Preis": "price.amount"}
    # Without an identifier a person is asked.
    assert targets(**lists) == {"Preis": "price.amount"}


def test_codes_are_no_titles_where_the_description_contains_names() -> None:
    found = targets(Bezeichnung="NX-100|NX-200|NX-300", Beschreibung="Oak board|Elm tray|Ash bowl")
    assert found == {"Bezeichnung": "identifiers.sku", "Beschreibung": "title"}
    found = targets(Name="NX-100|NX-200|NX-300", Description="|".join([TEXT * 2] * 3))
    assert found == {"Name": "title", "Description": "description"}


@pytest.mark.parametrize(
    ("name", "currency"),
    [("Prix (DH)", "MAD"), ("Harga (Rp)", "IDR"), ("Preis (Fr.)", "CHF"), ("Price (Tk)", "BDT")],
)
def test_currency_in_brackets_need_not_be_a_code(name: str, currency: str) -> None:
    assert propose([name]).columns[0].hints.currency == currency
    assert propose(["Length (m)"]).columns[0].hints.currency is None


def test_column_with_values_wins_over_an_empty_one() -> None:
    names = ["Product ID", "Title", "Source ID"]
    found = propose(names, [["71", "72", "73"], ["Board", "Tray", "Bowl"], []]).targets()
    assert found == {"Product ID": "sourceId", "Title": "title"}


def test_further_pictures_are_read_by_the_words_of_their_names() -> None:
    names = ["kod", "obrazek", "obrazek_dalsi_1", "obrazek_dalsi_2"]
    cells = [["A", "B"], *([f"https://x.invalid/{n}.jpg"] * 2 for n in range(3))]
    assert list(propose(names, cells).targets().values())[1:] == ["images", "images.2", "images.3"]


def test_words_in_names_begin_with_capitals_in_any_alphabet() -> None:
    found = targets(Артикул="А-1|А-2|А-3", СтавкаНДС="20%|10%|20%", EANCode="4006381333931|2|3")
    assert list(found.values()) == ["identifiers.sku", "price.taxRate", "identifiers.gtin"]


def test_own_numbers_in_a_column_of_barcodes_are_barcodes() -> None:
    found = targets(name="Board|Tray|Bowl", barcode="100200300|100200301|100200302")
    assert found == {"name": "title", "barcode": "identifiers.gtin"}
    assert targets(name="Board|Tray|Bowl", barcode="red|blue|red") == {"name": "title"}


def test_status_without_a_word_for_publication_is_another_one() -> None:
    assert targets(sku="A|B|C", status="OK|OK|OK") == {"sku": "identifiers.sku"}
    assert targets(sku="A|B|C", status="draft|active|active")["status"] == "published"


def test_kinds_and_addresses_are_nothing_that_variants_share() -> None:
    assert targets(sku="A|B|C", style="Modern|Rustic|Modern") == {"sku": "identifiers.sku"}
    assert targets(sku="A|B|C", slug="oak-board|oak-tray|oak-bowl") == {"sku": "identifiers.sku"}
    assert targets(sku="A|B|C", slug="oak-board|oak-board|oak-bowl")["slug"] == "variants.group"


def test_columns_without_names_are_told_apart_by_their_cells() -> None:
    names = [f"Column {number}" for number in range(1, 6)]
    cells = [
        ["ACME", "ACME", "BOLT", "ACME"],
        ["68377850AA", "55038003AG", "ZX1405", "B986"],
        ["16400", "6270", "2900", "1800"],
        ["1", "2", "1", "25"],
        ["Front brake pads", "Rear brake pads, ceramic", "Water pump", "Oil filter"],
    ]
    assert propose(names, cells).targets() == {
        "Column 2": "identifiers.sku",
        "Column 3": "price.amount",
        "Column 4": "availability.quantity",
        "Column 5": "title",
    }


@pytest.mark.parametrize(
    ("name", "target"),
    [
        ("codigobarras", "identifiers.gtin"), ("prodcd", "identifiers.sku"),
        ("Item Nm", "title"), ("Nama Barang", "title"), ("Giá bán", "price.amount"),
        ("Harga Jual", "price.amount"), ("iva_percentuale", "price.taxRate"),
        ("opening_stock", "availability.quantity"), ("Số lượng tồn", "availability.quantity"),
        ("仕入先名", "supplier.name"), ("Setor", "category"), ("Primary UOM", "price.unit"),
        ("Dop. MOC", "price.recommended"), ("precio_oferta", "price.sale"),
        ("Kolor podstawowy", "variants.color"), ("detail_desc", "description"),
    ],
)  # fmt: skip
def test_names_in_databases_and_programs(name: str, target: str) -> None:
    found, _ = candidates(name)
    assert (found or fields_meant(name))[0].target == target


@pytest.mark.parametrize(
    ("stock", "least", "most"),
    [
        ("Quantità", "Quantità Minima", "Quantità Target"),
        ("Quantity", "Minimum Quantity", "Maximum Quantity"),
        ("Menge", "Mindestmenge", "Maximale Menge"),
        ("Cantidad", "Cantidad mínima", "Cantidad máxima"),
    ],
)
def test_a_least_quantity_beside_the_most_is_that_of_the_stock(
    stock: str, least: str, most: str
) -> None:
    cells = [("A-1", "A-2", "A-3"), ("12", "30", "18"), ("6", "12", "12"), ("24", "48", "36")]
    found = [column.target for column in propose(["SKU", stock, least, most], cells).columns]
    assert found == ["identifiers.sku", "availability.quantity", None, None]
    orders = ["SKU", stock, "Min order qty", "Max order qty"]
    assert propose(orders, cells).columns[2].target == "availability.minOrder"
