"""Files whose rows share a SKU and differ in colour and size: they are variants, not duplicates."""

from __future__ import annotations

from decimal import Decimal
from typing import Any

import pytest
from tests.extraction.support import run_file
from tests.fixtures import Bench

from penstock.store.database import from_json

FRENCH = """Référence;Désignation;Couleur;Taille;Prix HT;Stock
TS-100;T-shirt coton;Rouge;M;12,50;4
TS-100;T-shirt coton;Rouge;L;13,50;2
TS-100;T-shirt coton;Bleu;M;12,50;0
PU-7;Pull laine;Gris;S;39,90;1
PU-7;Pull laine;Gris;M;41,90;6
BO-1;Bonnet;Noir;;9,90;3
"""
GERMAN = """Artikelnummer;Bezeichnung;Farbe;Größe;Preis;Bestand
TS-100;T-Shirt Baumwolle;Rot;M;12,50;4
TS-100;T-Shirt Baumwolle;Rot;L;13,50;2
TS-100;T-Shirt Baumwolle;Blau;M;12,50;0
PU-7;Pullover Wolle;Grau;S;39,90;1
PU-7;Pullover Wolle;Grau;M;41,90;6
BO-1;Mütze;Schwarz;;9,90;3
"""
POLISH = """Indeks;Nazwa towaru;Kolor;Rozmiar;Cena netto;Stan
TS-100;Koszulka bawełniana;Czerwony;M;12,50;4
TS-100;Koszulka bawełniana;Czerwony;L;13,50;2
TS-100;Koszulka bawełniana;Niebieski;M;12,50;0
PU-7;Sweter wełniany;Szary;S;39,90;1
PU-7;Sweter wełniany;Szary;M;41,90;6
BO-1;Czapka;Czarny;;9,90;3
"""


async def products_of(bench: Bench, text: str) -> dict[str, dict[str, Any]]:
    await run_file(bench, text.encode(), intent="merge", source="shop")
    async with bench.runtime.db.acquire() as conn:
        rows = await conn.fetch("SELECT data FROM products")
    found = [from_json(row["data"]) for row in rows]
    return {one["identifiers"]["sku"]: one for one in found}


@pytest.mark.parametrize("text", [FRENCH, GERMAN, POLISH], ids=["french", "german", "polish"])
async def test_rows_with_one_sku_are_variants(bench: Bench, text: str) -> None:
    for _ in range(2):
        # The second import finds the products of the first.
        products = await products_of(bench, text)
        assert sorted(products) == ["BO-1", "PU-7", "TS-100"]
        shirt = products["TS-100"]
        assert shirt["sourceId"] == "TS-100"
        assert [set(one["options"].values()) for one in shirt["variants"]] == [
            set(line.split(";")[2:4]) for line in text.splitlines()[1:4]
        ]
        prices = [Decimal(one["price"]["amount"]) for one in shirt["variants"]]
        assert prices == [Decimal("12.50"), Decimal("13.50"), Decimal("12.50")]
        assert shirt["availability"]["quantity"] == 6
        assert [len(products[sku].get("variants", ())) for sku in ("PU-7", "BO-1")] == [2, 1]


async def test_a_row_twice_is_one_variant(bench: Bench) -> None:
    lines = FRENCH.splitlines()
    products = await products_of(bench, "\n".join([*lines, lines[1]]))
    assert len(products["TS-100"]["variants"]) == 3


async def test_different_skus_stay_products(bench: Bench) -> None:
    text = "Artikelnummer;Bezeichnung;Farbe;Preis\n" + "\n".join(
        f"A-{n};Becher {n};Rot;{n},50" for n in range(1, 40)
    )
    products = await products_of(bench, text)
    assert len(products) == 39
    assert "variants" not in products["A-1"]


async def test_a_doubled_row_of_many_is_a_duplicate(bench: Bench) -> None:
    """Colours alone make no variants: where nearly all SKUs differ, one that does not is a row
    that the file has twice."""
    rows = [f"A-{n};Becher {n};Rot;{n},50" for n in range(1, 40)]
    products = await products_of(
        bench, "\n".join(["Artikelnummer;Bezeichnung;Farbe;Preis", *rows, rows[4]])
    )
    assert len(products) == 39
    assert "variants" not in products["A-5"]
