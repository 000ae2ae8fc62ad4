"""What a file says of its prices outside of the table."""

from __future__ import annotations

import pytest

from penstock.catalog.mapping.column_decisions import ColumnDecision, decide
from penstock.catalog.mapping.column_stats import add_rows, new_stats
from penstock.catalog.mapping.price_context import (
    find_price_context,
    with_number_formats,
    with_price_context,
)
from penstock.catalog.mapping.proposal import propose
from penstock.catalog.products.normalise import normalise
from penstock.catalog.products.plan import compile_plan
from penstock.catalog.profiles.profile import from_proposal


def reading(*lines: str, sheet: str | None = None) -> dict[str, object]:
    told = [{"line": number, "text": line} for number, line in enumerate(lines, 1)]
    return {"preamble": told[:1], "footer": told[1:], "sheet": sheet}


@pytest.mark.parametrize(
    ("line", "currency", "tax"),
    [
        ("Alle Preise in EUR", "EUR", None),
        ("Prices in USD excl. VAT", "USD", False),
        ("Preisliste 2024 (CHF)", "CHF", None),
        ("Preisliste 2024 CHF", "CHF", None),
        ("ALL PRICES IN GBP", "GBP", None),
        ("Alle Preise in Euro inkl. MwSt.", "EUR", True),
        ("Tous les prix sont en € HT", "EUR", False),
        ("Currency: TRY", "TRY", None),
        ("Ceny w zł netto", "PLN", False),
        ("価格（円）", "JPY", None),
        ("Цены в рублях", "RUB", None),
        ("EUR", "EUR", None),
        ("Price list, minimum order 50 EUR", None, None),
        ("ALL PRICES SUBJECT TO CHANGE, TRY OUR TOP OFFERS", None, None),
        ("Minimum order value EUR", None, None),
        ("Prices in EUR, in USD on request", None, None),
        ("Products of ACME", None, None),
    ],
)
def test_lines_beside_the_table(line: str, currency: str | None, tax: bool | None) -> None:
    assert find_price_context(reading(line))[:2] == (currency, tax)


def test_the_name_of_the_sheet_and_lines_that_disagree() -> None:
    assert find_price_context(reading(sheet="Prices USD")).currency == "USD"
    assert find_price_context(reading(sheet="Sheet1")).currency is None
    assert find_price_context(reading("Preise in EUR", "Prices in CHF")).currency is None


def test_it_holds_for_prices_that_say_nothing_themselves() -> None:
    header = ["SKU", "Preis", "UVP CHF", "Bestand"]
    body = [["A", "1,50", "2,50", "3"], ["B", "2,50", "$ 3.50", "4"], ["C", "1,00", "2,00", "5"]]
    stats = new_stats(len(header))
    add_rows(stats, body)
    said = find_price_context(reading("Alle Preise in EUR zzgl. MwSt."))
    profile = from_proposal("file", propose(header, [one.samples for one in stats]))
    decisions = with_price_context(decide(stats), said, None)
    kept = [ColumnDecision.from_json(one.as_json()) for one in decisions]
    plan = compile_plan(header, profile, kept)
    row = normalise(plan, body[0])
    assert row.product["price"] == {
        "amount": "1.50", "currency": "EUR", "unit": "piece", "taxIncluded": False,
    }  # fmt: skip
    where = ("", "Alle Preise in EUR zzgl. MwSt.", "said_beside_the_table", 0.9)
    assert row.lineage["price.currency"] == where
    assert "Alle Preise in EUR" in plan.notes[0]
    assert not any(note.startswith("UVP CHF: The currency") for note in plan.notes)
    assert [one.code for one in row.problems] == ["CURRENCY_DIFFERS"]
    told = with_price_context(decide(stats), said, "USD")
    assert [one.currency for one in told[:2]] == [None, None]


def test_what_a_workbook_shows_beside_its_numbers() -> None:
    header = ["SKU", "Preis", "UVP USD", "Gewicht"]
    body = [["A", "1.5", "2.5", "3"], ["B", "2.5", "3.5", "4"], ["C", "1", "2", "5"]]
    stats = new_stats(len(header))
    add_rows(stats, body)
    shown = {"Preis": "CHF", "UVP USD": "CHF", "Gewicht": "kg", "SKU": "Nr."}
    decisions = with_number_formats(decide(stats), header, shown, None)
    profile = from_proposal("file", propose(header, [one.samples for one in stats]))
    product = normalise(compile_plan(header, profile, decisions), body[0]).product
    assert product["price"]["currency"] == "CHF"
    assert product["specifications"]["weight"] == {"value": 3, "unit": "kg"}
