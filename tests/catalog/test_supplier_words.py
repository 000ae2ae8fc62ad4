"""Words of suppliers in several languages: on request, discontinued, last pieces, lead times."""

from __future__ import annotations

import pytest
from tests.catalog.test_normalise import codes, one

from penstock.catalog.values.availability import read_availability, read_lead_time
from penstock.catalog.values.gtin import read_gtin
from penstock.catalog.values.prices import read_price
from penstock.catalog.values.units import unit_of


@pytest.mark.parametrize(
    "text",
    ["Preis folgt", "auf Anfrage", "na zapytanie", "cena na dotaz", "по запросу", "prijs volgt",
     "på förfrågan", "prezzo da definire", "ajánlatkérésre", "la cerere"],
)  # fmt: skip
def test_prices_that_follow(text: str) -> None:
    read = read_price(text)
    assert read.rule == "price_on_request"
    assert [one.severity for one in read.problems] == ["warning"]


@pytest.mark.parametrize(
    ("text", "status"),
    [
        ("Auslauf", "out_of_stock"), ("wycofany", "out_of_stock"), ("ukončeno", "out_of_stock"),
        ("udgået", "out_of_stock"), ("снят с производства", "out_of_stock"),
        ("letzte Stücke", "limited"), ("ostatnie sztuki", "limited"), ("poslední kusy", "limited"),
        ("od ręki", "in_stock"), ("auf Bestellung", "backorder"), ("w drodze", "backorder"),
        ("tulossa", "preorder"), ("hamarosan", "preorder"),
    ],
)  # fmt: skip
def test_words_for_availability(text: str, status: str) -> None:
    assert read_availability(text).value.status == status


@pytest.mark.parametrize(
    ("text", "days"),
    [
        ("3 dni", 3), ("2 tyg.", 14), ("48 godz.", 2), ("od ręki", 0), ("5 dnů", 5),
        ("2 týdny", 14), ("3 недели", 21), ("24 часа", 1), ("4 veckor", 28),
        ("2 viikkoa", 14), ("3-5 zile", 5),
        ("2-3 Wochen", 21), ("1 miesiąc", 30),
    ],
)  # fmt: skip
def test_lead_times(text: str, days: int) -> None:
    assert read_lead_time(text).value == days


@pytest.mark.parametrize(
    ("text", "status"),
    [("auf Bestellung", "backorder"), ("na zamówienie", "backorder"), ("под заказ", "backorder"),
     ("Auslauf", "out_of_stock"), ("préco", None)],
)  # fmt: skip
def test_words_instead_of_lead_times(text: str, status: str | None) -> None:
    """They tell the status where no other column does."""
    for stock, expected in (("", status), ("0", status or "out_of_stock"), ("7", "in_stock")):
        row = one(identifiers_sku="A-1", title="Dose", availability_quantity=stock,
                  availability_leadTimeDays=text)  # fmt: skip
        found = row.product.get("availability", {})
        assert found.get("status") == expected, stock
        assert "leadTimeDays" not in found
        assert "availability.leadTimeDays" not in row.lineage
        assert codes(row) == ([] if status else ["LEAD_TIME_UNREADABLE"])


@pytest.mark.parametrize(
    ("word", "unit"),
    [("kpl.", "set"), ("opak.", "pack"), ("para", "pair"), ("mb", "m"), ("dag", "dag"),
     ("szt.", "piece"), ("ks", "piece"), ("упак.", "pack"), ("рулон", "roll"), ("balení", "pack"),
     ("pár", "pair"), ("darab", "piece"), ("rulle", "roll")],
)  # fmt: skip
def test_units(word: str, unit: str) -> None:
    assert unit_of(word) == unit


@pytest.mark.parametrize("text", ["n.v.", "brak", "nie dotyczy", "нет", "saknas", "aucun"])
def test_no_gtin_is_an_empty_cell(text: str) -> None:
    read = read_gtin(text)
    assert read.value is None
    assert not any(one.severity == "error" for one in read.problems)
