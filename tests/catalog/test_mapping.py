"""Headers of seven languages and six systems find their fields."""

from __future__ import annotations

import jsonschema_rs
import pytest

from penstock.catalog.fields import FIELDS, MAPPED, full_target, json_schema
from penstock.catalog.mapping.assign import assign
from penstock.catalog.mapping.proposal import fingerprint, propose
from penstock.catalog.mapping.synonyms import header_key, platform_of, read_hints

LANGUAGES = {
    "en": """
        SKU=identifiers.sku; Product name=title; Description=description;
        Unit price=price.amount; Currency=price.currency; Barcode=identifiers.gtin;
        Stock=availability.quantity; Brand=brand; Lead time=availability.leadTimeDays;
        MOQ=availability.minOrder; Weight=specifications.weight;
        Pack size=specifications.pack; Image URL=images; MPN=identifiers.mpn;
        Category=category""",
    "de": """
        Artikelnummer=identifiers.sku; Bezeichnung=title; Langtext=description;
        VK=price.amount; Währung=price.currency; EAN=identifiers.gtin;
        Lagerbestand=availability.quantity; Hersteller=brand;
        Lieferzeit=availability.leadTimeDays; Warengruppe=category;
        Mindestbestellmenge=availability.minOrder; Gewicht=specifications.weight;
        VE=specifications.pack; Abmessungen=specifications.dimensions;
        Verfügbarkeit=availability.status; Farbe=variants.color; Bild=images;
        Staffelpreise=price.tiers; Einheit=price.unit; Lieferant=supplier.name""",
    "fr": """
        Référence=identifiers.sku; Désignation=title; Descriptif=description;
        Prix HT=price.amount; Devise=price.currency; Code barres=identifiers.gtin;
        Quantité=availability.quantity; Marque=brand;
        Délai de livraison=availability.leadTimeDays; Famille=category;
        Poids=specifications.weight; Conditionnement=specifications.pack;
        Disponibilité=availability.status; Fournisseur=supplier.name;
        Matière=specifications.material; Taille=variants.size""",
    "es": """
        Código=identifiers.sku; Nombre=title; Descripción=description; Precio=price.amount;
        Moneda=price.currency; Código de barras=identifiers.gtin;
        Existencias=availability.quantity; Marca=brand;
        Plazo de entrega=availability.leadTimeDays; Categoría=category;
        Peso=specifications.weight; Disponibilidad=availability.status;
        Proveedor=supplier.name; Imagen=images; Medidas=specifications.dimensions""",
    "it": """
        Codice articolo=identifiers.sku; Nome prodotto=title; Descrizione=description;
        Prezzo=price.amount; Valuta=price.currency; Codice a barre=identifiers.gtin;
        Giacenza=availability.quantity; Produttore=brand;
        Tempi di consegna=availability.leadTimeDays; Categoria=category;
        Peso=specifications.weight; Disponibilità=availability.status;
        Fornitore=supplier.name; Immagine=images; Confezione=specifications.pack""",
    "nl": """
        Artikelnummer=identifiers.sku; Productnaam=title; Omschrijving=description;
        Prijs=price.amount; Valuta=price.currency; Streepjescode=identifiers.gtin;
        Voorraad=availability.quantity; Merk=brand; Levertijd=availability.leadTimeDays;
        Productgroep=category; Gewicht=specifications.weight;
        Beschikbaarheid=availability.status; Leverancier=supplier.name; Afbeelding=images;
        Kleur=variants.color""",
    "pt": """
        Código do produto=identifiers.sku; Nome do produto=title; Descrição=description;
        Preço=price.amount; Moeda=price.currency; Código de barras=identifiers.gtin;
        Estoque=availability.quantity; Marca=brand;
        Prazo de entrega=availability.leadTimeDays; Categoria=category;
        Peso=specifications.weight; Disponibilidade=availability.status;
        Fornecedor=supplier.name; Imagem=images; Tamanho=variants.size""",
}
SYSTEMS = {
    "shopify": """
        Handle=variants.group; Title=title; Body (HTML)=description; Vendor=brand;
        Tags=metadata.tags; Option1 Name=variants.option1.name;
        Option1 Value=variants.option1.value; Variant SKU=identifiers.sku;
        Variant Grams=specifications.weight; Variant Inventory Qty=availability.quantity;
        Variant Price=price.amount; Variant Barcode=identifiers.gtin; Image Src=images;
        Image Alt Text=images.alt; Variant Compare At Price=price.compareAt;
        Image Position=; Published=published""",
    "woocommerce": """
        ID=sourceId; Type=; SKU=identifiers.sku; Name=title; Short description=;
        Description=description; In stock?=availability.status; Stock=availability.quantity;
        Weight (kg)=specifications.weight; Length (cm)=specifications.dimensions.length;
        Sale price=price.sale; Regular price=price.amount; Categories=category; Tags=metadata.tags;
        Images=images; Parent=variants.group; Attribute 1 name=variants.option1.name;
        Attribute 1 value(s)=variants.option1.value""",
    "magento": """
        sku=identifiers.sku; name=title; categories=category; description=description;
        weight=specifications.weight; price=price.amount; qty=availability.quantity;
        is_in_stock=availability.status; base_image=images; updated_at=metadata.lastUpdated;
        special_price=price.sale""",
    "google": """
        id=sourceId; title=title; description=description; link=metadata.url;
        image_link=images; availability=availability.status; price=price.amount;
        google_product_category=category; brand=brand; gtin=identifiers.gtin;
        mpn=identifiers.mpn; item_group_id=variants.group; sale_price=price.sale""",
    "amazon": """
        item_sku=identifiers.sku; item_name=title; external_product_id=identifiers.gtin;
        brand_name=brand; product_description=description; standard_price=price.amount;
        quantity=availability.quantity; main_image_url=images; other_image_url2=images.3;
        parent_sku=variants.group; part_number=identifiers.mpn;
        fulfillment_latency=availability.leadTimeDays""",
}


def pairs(text: str) -> dict[str, str | None]:
    found: dict[str, str | None] = {}
    for pair in text.split(";"):
        header, _, target = pair.strip().partition("=")
        found[header] = target or None
    return found


@pytest.mark.parametrize("language", LANGUAGES)
def test_headers_of_each_language(language: str) -> None:
    wanted = pairs(LANGUAGES[language])
    proposal = propose(list(wanted))
    assert {c.header: c.target for c in proposal.columns} == wanted
    assert all(c.how == "exact" for c in proposal.columns)


@pytest.mark.parametrize("system", SYSTEMS)
def test_headers_of_each_system(system: str) -> None:
    wanted = pairs(SYSTEMS[system])
    proposal = propose(list(wanted))
    assert {c.header: c.target for c in proposal.columns} == wanted


@pytest.mark.parametrize("system", ["shopify", "woocommerce", "amazon"])
def test_the_system_is_known_by_its_headers(system: str) -> None:
    assert platform_of(list(pairs(SYSTEMS[system]))) == system


@pytest.mark.parametrize(
    ("header", "target"),
    [
        ("Currncy", "price.currency"),
        ("Artikelbezeichung", "title"),
        ("Barcde", "identifiers.gtin"),
        ("Verfügbarkiet", "availability.status"),
        ("Manufacturer part nummber", "identifiers.mpn"),
    ],
)
def test_misspelt_headers_are_found_with_less_confidence(header: str, target: str) -> None:
    (column,) = propose([header]).columns
    assert (column.target, column.how) == (target, "fuzzy")
    assert 0.5 <= column.confidence < 0.95


@pytest.mark.parametrize("header", ["Supplier", "Vendor name", "Lieferant"])
def test_a_supplier_is_no_sku(header: str) -> None:
    assert propose([header]).columns[0].target == "supplier.name"


@pytest.mark.parametrize(
    "header", ["Foo", "Internal remark", "Type Id", "Tax status", "HS Code", ""]
)
def test_what_nobody_knows_stays_a_custom_field(header: str) -> None:
    (column,) = propose([header]).columns
    assert (column.target, column.how) == (None, "custom")


GTINS = ["4006381333931", "036000291452", "9783161484100", "96385074"]


@pytest.mark.parametrize(
    ("cells", "target"),
    [
        (GTINS, "identifiers.gtin"),
        (
            ["https://a.example/1.jpg", "https://a.example/2.png", "https://a.example/3.webp"],
            "images",
        ),
        ([f"https://a.example/{n}" for n in range(3)], "metadata.url"),
        (["12,50 €", "9,99 €", "1.234,00 €"], "price.amount"),
        (["EUR", "EUR", "USD"], "price.currency"),
        (["auf Lager", "ausverkauft", "auf Lager"], "availability.status"),
        (["kg", "Stück", "kg"], "price.unit"),
        (["red", "green", "blue"], None),
        (["true", "false", "true"], None),
        (["12", "13", "14"], None),
        (["4006381333931", "x"], None),
    ],
)
def test_unknown_headers_are_judged_by_their_cells(cells: list[str], target: str | None) -> None:
    (column,) = propose(["???"], [cells]).columns
    assert column.target == target
    assert column.how == ("content" if target else "custom")


def test_cells_that_do_not_fit_take_the_promise_of_a_name_back() -> None:
    header = ["EAN", "zzz"]
    column, other = propose(header, [["red", "green", "blue"], GTINS]).columns
    assert column.target is None
    assert other.target == "identifiers.gtin"


def test_an_exact_name_outweighs_two_resemblances() -> None:
    targets = {c.header: c.target for c in propose(["Price", "Prise", "Prices"]).columns}
    assert targets["Price"] == "price.amount"
    assert list(targets.values()).count("price.amount") == 1


def test_the_rest_is_listed_as_alternatives() -> None:
    first, second = propose(["Price", "Unit price"]).columns
    assert first.target == "price.amount"
    assert second.target is None
    assert "price.amount" in {other.target for other in second.alternatives}


@pytest.mark.parametrize(
    ("header", "expected"),
    [
        (["EK netto", "VK netto", "UVP"], ["price.cost", "price.amount", "price.recommended"]),
        (["Listenpreis", "Rabattgruppe", "Nettopreis", "MwSt-Satz"],
         ["price.list", "price.discountGroup", "price.amount", "price.taxRate"]),
        (["Cena zakupu", "Cena netto", "Cena sugerowana", "Stawka VAT"],
         ["price.cost", "price.amount", "price.recommended", "price.taxRate"]),
        (["Prix d'achat", "Prix de vente", "Prix public conseillé", "TVA"],
         ["price.cost", "price.amount", "price.recommended", "price.taxRate"]),
        (["Cost", "Price", "MSRP", "Compare at price"],
         ["price.cost", "price.amount", "price.recommended", "price.compareAt"]),
        (["UVP"], ["price.amount"]),
        (["EK"], ["price.amount"]),
        (["MSRP", "Cost"], ["price.recommended", "price.amount"]),
        (["List price"], ["price.amount"]),
    ],
)  # fmt: skip
def test_prices_of_several_kinds(header: list[str], expected: list[str]) -> None:
    assert [one.target for one in propose(header).columns] == expected


def test_numbered_columns_add_to_one_list() -> None:
    header = ["Bild 1", "Bild 2", "Additional image 3", "Tag 1", "Tag 2"]
    targets = [c.target for c in propose(header).columns]
    assert targets == ["images", "images.2", "images.3", "metadata.tags", "metadata.tags.2"]


def test_an_id_goes_before_a_product_id() -> None:
    targets = {c.header: c.target for c in propose(["product_id", "id"]).columns}
    assert targets == {"product_id": None, "id": "sourceId"}
    assert propose(["product_id"]).columns[0].target == "sourceId"


def test_a_column_that_lost_a_list_adds_to_it() -> None:
    header = ["image_link", "additional_image_link", "Bild 3", "Photo"]
    targets = [c.target for c in propose(header).columns]
    assert targets == ["images", "images.2", "images.3", "images.4"]


def test_a_short_description_is_the_title_where_there_is_none() -> None:
    names = ["Bolt", "Nut", "Screw"]
    assert propose(["Omschrijving"], [names]).columns[0].target == "title"
    assert propose(["Omschrijving"], [["word " * 60] * 3]).columns[0].target == "description"


@pytest.mark.parametrize(
    ("header", "currency", "unit", "tax"),
    [
        ("Preis netto (EUR)", "EUR", None, False),
        ("Price USD", "USD", None, None),
        ("Precio (€)", "EUR", None, None),
        ("Prix TTC", None, None, True),
        ("Preis in CHF", "CHF", None, None),
        ("Weight (kg)", None, "kg", None),
        ("Gewicht [g]", None, "g", None),
        ("Länge mm", None, "mm", None),
        ("Variant Grams", None, "g", None),
        ("grams", None, "g", None),
        ("special_price_to", None, None, None),
    ],
)
def test_headers_also_tell_currency_unit_and_tax(
    header: str, currency: str | None, unit: str | None, tax: bool | None
) -> None:
    hints, _ = read_hints(header)
    assert (hints.currency, hints.unit, hints.tax_included) == (currency, unit, tax)


def test_headers_are_equal_but_for_spelling() -> None:
    names = ("Item-Name", "item_name", "itemName", " ITEM  NAME ", "g:item_name")
    assert {header_key(name) for name in names} == {"item name"}


def test_fingerprints_ignore_order_and_see_differences() -> None:
    one = fingerprint(["SKU", "Price"])
    assert one == fingerprint(["price", "Sku "])
    assert one != fingerprint(["SKU", "Price", "Price"])


def test_the_assignment_is_the_best_as_a_whole() -> None:
    """Greedy would take a's best and leave b with nothing."""
    assert assign([{"x": 3.0, "y": 2.0}, {"x": 2.5}]) == ["y", "x"]
    assert assign([{}, {"x": 1.0}, {"x": 2.0}]) == [None, None, "x"]
    assert assign([]) == []


def test_people_may_use_short_names_of_fields() -> None:
    assert full_target("sku") == "identifiers.sku"
    assert full_target("price") == "price.amount"
    assert full_target("images.2") == "images.2"
    assert full_target("title.2") is None
    assert full_target("nonsense") is None
    assert full_target("price.base.amount") is None
    assert all(full_target(target) == target for target in MAPPED)


def test_the_schema_describes_every_field_of_the_product() -> None:
    schema = json_schema()
    for field in FIELDS:
        if field.output:
            level = schema
            for name in field.target.split("."):
                level = level["properties"][name]
            assert level["description"] == field.description
    assert schema["required"] == ["sourceId", "title"]
    assert jsonschema_rs.meta.is_valid(schema)


def test_names_that_only_say_what_money_or_rows_are() -> None:
    found = propose(["SKU", "EUR", "USD"], [["A"], ["10,00", "2,00", "3"], ["11,00", "2,20", "4"]])
    assert (found.columns[1].target, found.columns[1].hints.currency) == ("price.amount", "EUR")
    assert found.columns[2].target is None
    types = propose(["type", "sku"], [["products", "products"], ["A", "B"]])
    assert types.columns[0].target is None
    # A number more makes another name.
    assert propose(["g:custom_label_0"], [["Made in Ireland"]]).columns[0].target is None


MAGENTO = (
    "sku store_view_code attribute_set_code product_type categories name description weight "
    "product_online price special_price url_key base_image qty is_in_stock configurable_variations"
)


def test_url_keys_of_magento_group_no_variants() -> None:
    targets = propose(MAGENTO.split()).targets()
    assert "url_key" not in targets
    assert targets["configurable_variations"] == "variants.listed"


@pytest.mark.parametrize(
    ("header", "target"),
    [
        ("Delivery cost", None),
        ("Stock mínimo", None),
        ("Lieferung / Kosten", None),
        ("Material/Bezug", "specifications.material"),
        ("Marke / Hersteller", "brand"),
        ("Customer / Name", None),
        ("Omschrijving NL", "title"),
        ("P.V.P. c/ IVA", "price.amount"),
    ],
)
def test_words_beside_the_name_of_a_field(header: str, target: str | None) -> None:
    (column,) = propose([header], [["Steel bolt", "Brass nut", "Ring"]]).columns
    if target == "price.amount":
        (column,) = propose([header], [["1,20", "2,30", "4,50"]]).columns
    assert column.target == target


def test_brand_is_preferred_to_the_manufacturer() -> None:
    found = propose(["Hersteller", "Marke", "Artikelnummer"]).targets()
    assert found["Marke"] == "brand"
    assert "Hersteller" not in found


def test_net_weight_is_preferred_to_the_gross_weight() -> None:
    found = propose(["Gewicht brutto kg", "Gewicht netto kg"]).targets()
    assert found == {"Gewicht netto kg": "specifications.weight"}


def test_numbers_of_rows_are_no_sku() -> None:
    columns = ["No.", "Vendor Item No."]
    counted = [["1", "2", "3", "4"], ["A-7", "B-9", "A-3", "C-1"]]
    assert propose(columns, counted).targets() == {"Vendor Item No.": "identifiers.sku"}


@pytest.mark.parametrize(
    ("cells", "target"),
    [
        (["1", "2", "1"], None),
        (["19", "7", "19"], "price.taxRate"),
        (["0.19"] * 3, "price.taxRate"),
    ],
)
def test_codes_of_tax_classes_are_no_rates(cells: list[str], target: str | None) -> None:
    (column,) = propose(["Tax class"], [cells]).columns
    assert column.target == target
