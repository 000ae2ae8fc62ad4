"""Whole rows: cells in, product, lineage and problems out."""

from __future__ import annotations

import re
from datetime import date
from decimal import Decimal
from pathlib import Path
from typing import Any

import pytest

from penstock.catalog.mapping.column_decisions import decide
from penstock.catalog.mapping.column_stats import add_rows, new_stats
from penstock.catalog.mapping.proposal import propose
from penstock.catalog.products.normalise import normalise
from penstock.catalog.products.plan import Plan, compile_plan
from penstock.catalog.products.row import NormalisedRow
from penstock.catalog.profiles.profile import ColumnRule, Profile, from_proposal, from_toml
from penstock.catalog.values.currencies import Rates, rates_on
from penstock.catalog.values.readers import Style, reader

DAY = date(2026, 11, 14)
RATES = rates_on(
    DAY,
    "USD",
    [
        (date(2026, 11, 13), "EUR", Decimal("1.0850")),
        (date(2026, 11, 12), "EUR", Decimal("1.0700")),
        (date(2026, 11, 15), "EUR", Decimal("9.9999")),
        (date(2026, 1, 1), "GBP", Decimal("1.25")),
    ],
)


def plan_of(rows: list[list[str]], rates: Rates = RATES, **options: Any) -> Plan:
    """As a job does it: new_stats, decide, propose, compile."""
    header, *body = rows
    stats = new_stats(len(header))
    add_rows(stats, body)
    proposal = propose(header, [column.samples for column in stats])
    profile = from_proposal("test", proposal, **options)
    return compile_plan(header, profile, decide(stats, profile.currency), rates)


def products(rows: list[list[str]], **options: Any) -> list[dict[str, Any]]:
    plan = plan_of(rows, **options)
    return [normalise(plan, row).product for row in rows[1:]]


def one(**cells: str) -> NormalisedRow:
    """A row whose columns are named by their targets, with `_` for the dot."""
    targets = {name: name.replace("_", ".") for name in cells}
    profile = Profile("t", columns={name: ColumnRule(target) for name, target in targets.items()})
    return normalise(compile_plan(list(cells), profile, rates=RATES), list(cells.values()))


def codes(row: NormalisedRow) -> list[str]:
    return [problem.code for problem in row.problems]


GERMAN = [
    ["Artikelnr.", "Bezeichnung", "Preis netto (EUR)", "EAN", "Lagerbestand", "Gewicht [g]",
     "Warengruppe", "Inhalt", "Bild 1", "Bild 2", "Lieferzeit", "Bemerkung"],
    ["A-1", "  Cola  6er ", "3.350", "4006381333931", "12", "1.980", "Getränke > Cola",
     "6 x 330 ml", "https://x.example/1.jpg", "https://x.example/2.jpg", "2-3 Tage", "neu"],
    ["A-2", "Wasser", "0,89", "", "0", "1.500", "Getränke/Wasser", "1,5 l", "", "", "", ""],
]  # fmt: skip


def test_a_german_price_list() -> None:
    cola, water = products(GERMAN, source="acme")
    assert cola == {
        "id": "acme:A-1",
        "sourceId": "A-1",
        "source": "acme",
        "title": "Cola 6er",
        "category": "Getränke > Cola",
        "identifiers": {"sku": "A-1", "gtin": "4006381333931"},
        "price": {
            "amount": "3350.00",
            "currency": "EUR",
            "unit": "piece",
            "base": {
                "amount": "3634.75",
                "currency": "USD",
                "rate": "1.085",
                "rateDate": "2026-11-13",
            },
            "perUnit": {"amount": "1691.9192", "unit": "l"},
            "taxIncluded": False,
        },
        "availability": {"status": "in_stock", "quantity": 12, "leadTimeDays": 3},
        "specifications": {
            "weight": {"value": 1980, "unit": "g"},
            "pack": {"count": 6, "size": 330, "unit": "ml", "total": 1.98, "totalUnit": "l"},
            "customFields": {"Bemerkung": "neu"},
        },
        "images": [
            {"url": "https://x.example/1.jpg", "type": "primary"},
            {"url": "https://x.example/2.jpg", "type": "secondary"},
        ],
        "metadata": {"confidence": 1.0},
    }
    assert water["price"]["amount"] == "0.89"
    assert water["price"]["perUnit"] == {"amount": "0.5933", "unit": "l"}
    assert water["availability"] == {"status": "out_of_stock", "quantity": 0}


def test_every_value_says_where_it_came_from() -> None:
    row = normalise(plan_of(GERMAN), GERMAN[1])
    assert row.lineage["title"] == ("Bezeichnung", "  Cola  6er ", "text", 1.0)
    assert row.lineage["price.amount"] == ("Preis netto (EUR)", "3.350", "price_by_column", 1.0)
    assert row.lineage["sourceId"] == ("Artikelnr.", "A-1", "from_sku", 1.0)
    assert row.lineage["availability.status"][2] == "from_quantity"


def test_long_cells_are_quoted_in_part() -> None:
    row = one(description="word " * 1_000)
    assert len(row.lineage["description"][1]) == 301
    assert len(row.product["description"]) == 4_999


def test_ambiguous_numbers_are_flagged_and_the_plan_says_what_to_set() -> None:
    rows = [["sku", "Price"], ["a", "3.350"], ["b", "90.750"]]
    plan = plan_of(rows, currency="USD")
    assert codes(normalise(plan, rows[1])) == ["NUMBER_AMBIGUOUS"]
    assert any("set `decimal`" in note for note in plan.notes)
    settled = plan_of(rows, currency="USD", decimal="point")
    row = normalise(settled, rows[1])
    assert (row.product["price"]["amount"], codes(row)) == ("3.35", [])


def test_rates_are_dated_and_a_missing_one_leaves_base_empty() -> None:
    row = one(price_amount="10 GBP")
    assert "base" not in row.product["price"]
    assert codes(row) == ["RATE_MISSING"]
    assert "GBP to USD" in row.problems[0].message
    assert one(price_amount="10 USD").product["price"]["base"] == {
        "amount": "10.00",
        "currency": "USD",
    }


def test_rates_survive_json() -> None:
    kept = Rates.from_json(RATES.as_json())
    assert (
        kept.as_json()
        == RATES.as_json()
        == {"base": "USD", "per": {"EUR": ["1.085", "2026-11-13"]}}
    )
    assert kept.convert("10.00", "EUR") == RATES.convert("10.00", "EUR")


def test_a_price_without_a_currency_is_kept_and_said() -> None:
    row = one(price_amount="10,00")
    assert row.product["price"] == {"amount": "10.00", "unit": "piece"}
    assert codes(row) == ["CURRENCY_MISSING"]


def test_the_cells_own_mark_beats_the_currency_column() -> None:
    row = one(price_amount="10 €", price_currency="USD")
    assert row.product["price"]["currency"] == "EUR"
    assert codes(row) == ["CURRENCY_CONFLICT"]
    assert one(price_amount="10", price_currency="JPY").product["price"]["amount"] == "10"


def test_prices_on_request_ranges_and_tiers() -> None:
    assert one(price_amount="auf Anfrage").product["price"] == {"onRequest": True}
    ranged = one(price_amount="10-20 EUR").product["price"]
    assert (ranged["amount"], ranged["maxAmount"]) == ("10.00", "20.00")
    tiered = one(price_amount="9.90 EUR", price_tiers="10+ 8.50; 100+ 7").product["price"]
    assert tiered["amount"] == "9.90"
    assert tiered["tiers"] == [
        {"minQuantity": 10, "amount": "8.50"},
        {"minQuantity": 100, "amount": "7.00"},
    ]
    alone = one(price_tiers="1+ 9.90 EUR; 10+ 8.50 EUR").product["price"]
    assert (alone["amount"], alone["currency"]) == ("9.90", "EUR")


@pytest.mark.parametrize(
    ("cells", "per_unit"),
    [
        ({"price_amount": "5 EUR", "specifications_pack": "500 g"}, ("10.00", "kg")),
        ({"price_amount": "12 EUR", "specifications_pack": "12 pcs"}, ("1.00", "piece")),
        ({"price_amount": "2 EUR", "price_unit": "100 g"}, ("20.00", "kg")),
        ({"price_amount": "9,99 € pro 100 ml"}, ("99.90", "l")),
        ({"price_amount": "9 EUR", "price_perUnit": "3,00 €/l"}, ("3.00", "l")),
        ({"price_amount": "9 EUR", "price_unit": "kg"}, None),
        ({"price_amount": "9 EUR"}, None),
    ],
)
def test_prices_per_unit(cells: dict[str, str], per_unit: tuple[str, str] | None) -> None:
    wanted = per_unit and {"amount": per_unit[0], "unit": per_unit[1]}
    assert one(**cells).product["price"].get("perUnit") == wanted


def test_status_and_quantity_that_disagree() -> None:
    row = one(availability_status="in stock", availability_quantity="0")
    assert row.product["availability"] == {"status": "in_stock", "quantity": 0}
    assert codes(row) == ["AVAILABILITY_CONFLICT"]
    late = one(availability_status="2-3 Wochen", availability_quantity="0")
    assert late.product["availability"]["status"] == "backorder"
    assert codes(late) == []


def test_sides_in_columns_of_their_own() -> None:
    profile = Profile(
        "t",
        columns={
            "L": ColumnRule("specifications.dimensions.length", unit="mm"),
            "B": ColumnRule("specifications.dimensions.width", unit="mm"),
            "H": ColumnRule("specifications.dimensions.height"),
        },
    )
    row = normalise(compile_plan(["L", "B", "H"], profile), ["100", "50", "2 cm"])
    assert row.product["specifications"]["dimensions"] == {
        "length": 100, "width": 50, "height": 20, "unit": "mm"
    }  # fmt: skip


def test_the_unit_people_want_to_see_wins_over_grams() -> None:
    profile = Profile(
        "t",
        columns={
            "Variant Grams": ColumnRule("specifications.weight", unit="g"),
            "Variant Weight Unit": ColumnRule("specifications.weight.unit"),
        },
    )
    plan = compile_plan(list(profile.columns), profile)
    assert normalise(plan, ["1500", "kg"]).product["specifications"]["weight"] == {
        "value": 1.5, "unit": "kg"
    }  # fmt: skip


def test_rows_may_be_shorter_or_longer_than_the_header() -> None:
    plan = plan_of([["sku", "title", "note"], ["a", "b", "c"]])
    assert normalise(plan, ["a"]).product["identifiers"] == {"sku": "a"}
    assert codes(normalise(plan, ["a", "b", "c", ""])) == []
    assert codes(normalise(plan, ["a", "b", "c", "d"])) == ["ROW_TOO_LONG"]
    assert normalise(plan, []).product == {}


def test_equal_headers_keep_all_their_cells() -> None:
    plan = plan_of([["sku", "note", "note", ""], ["a", "b", "c", "d"]])
    custom = normalise(plan, ["a", "b", "c", "d"]).product["specifications"]["customFields"]
    assert custom == {"note": "b", "note 2": "c", "column 4": "d"}


def test_what_is_remembered_is_not_shared_between_products() -> None:
    rows = [["sku", "tags", "Weight (kg)"], ["a", "x, y", "1"], ["b", "x, y", "1"]]
    first, second = products(rows)
    first["metadata"]["tags"].append("z")
    first["specifications"]["weight"]["value"] = 2
    assert second["metadata"]["tags"] == ["x", "y"]
    assert second["specifications"]["weight"] == {"value": 1, "unit": "kg"}


def test_problems_name_column_value_code_and_what_to_do() -> None:
    row = one(identifiers_gtin="4006381333932")
    (problem,) = row.problems
    assert problem.as_json(row=7) == {
        "row": 7,
        "column": "identifiers_gtin",
        "value": "4006381333932",
        "code": "GTIN_CHECK_DIGIT",
        "message": "The check digit of '4006381333932' is wrong: compare it with the barcode",
        "severity": "error",
        "target": "identifiers.gtin",
    }
    assert "gtin" not in row.product.get("identifiers", {})


def test_normalising_a_row_twice_gives_the_same() -> None:
    plan = plan_of(GERMAN)
    assert normalise(plan, GERMAN[1]) == normalise(plan, GERMAN[1])


def test_the_example_of_the_page_runs() -> None:
    page = Path(__file__).resolve().parents[2] / "docs" / "normalising.md"
    block = re.search(r"```python\n(.*?)```", page.read_text("utf-8"), re.DOTALL)
    assert block is not None
    exec(block[1], {})
    profile = re.search(r"```toml\n(.*?)```", page.read_text("utf-8"), re.DOTALL)
    assert profile is not None
    assert from_toml(profile[1]).columns["Interne Notiz"] == ColumnRule("ignore")


def test_how_many_a_price_is_for() -> None:
    """`PE` beside `ME`, or in the header: never the price of one."""
    rows = [
        ["SKU", "Preis", "PE", "ME"],
        ["A", "10,00", "100", "ST"], ["B", "5,00", "1", "ST"], ["C", "1,00", "100", "M"],
    ]  # fmt: skip
    hundred, one_, metres = (product["price"] for product in products(rows, currency="EUR"))
    assert hundred["unit"] == "100 piece"
    assert hundred["perUnit"] == {"amount": "0.10", "unit": "piece"}
    assert (one_["unit"], metres["unit"]) == ("piece", "100 m")
    for header in ("Preis je 100 St.", "Price/100", "Preis in €/100 Stk", "Price per 100 pcs"):
        price = products([["SKU", header], ["A", "10.00"], ["B", "1.50"]])[0]["price"]
        assert (price["amount"], price["unit"]) == ("10.00", "100 piece")


def test_counts_of_pieces() -> None:
    rows = [["SKU", "MOQ"], ["A", "1000pcs"], ["B", "50 Stk."], ["C", "2 sets"]]
    assert [product["availability"]["minOrder"] for product in products(rows)] == [1000, 50, 2]


@pytest.mark.parametrize(
    ("kind", "text", "expected"),
    [
        ("identifier", "A  1", "A  1"),
        ("identifier", " A 1 ", "A 1"),
        ("identifier", "A\n1", "A 1"),
        ("line", '="Bolt"', "Bolt"),
        ("count", '="0012"', 12),
        ("count", "'12", 12),
    ],
)
def test_spaces_inside_identifiers_are_kept_and_formulas_of_texts_are_read(
    kind: Any, text: str, expected: object
) -> None:
    assert reader(kind, Style())(text).value == expected
