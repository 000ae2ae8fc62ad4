"""Tiers in columns of their own, and tiers in percent: prices, or a word on why there are none."""

from __future__ import annotations

from typing import Any

import pytest
from tests.catalog.test_normalise import plan_of

from penstock.catalog.fields import full_target, kind_of
from penstock.catalog.products.normalise import normalise
from penstock.catalog.products.row import NormalisedRow
from penstock.catalog.values.prices import read_price


def rows(header: str, *lines: str) -> list[NormalisedRow]:
    table = [line.split(";") for line in (header, *lines)]
    plan = plan_of(table)
    return [normalise(plan, row) for row in table[1:]]


def tiers(row: NormalisedRow) -> list[tuple[int, str]]:
    found: list[dict[str, Any]] = row.product["price"].get("tiers", [])
    return [(one["minQuantity"], one["amount"]) for one in found]


@pytest.mark.parametrize(
    "header",
    [
        "Menge 1;Preis 1;Menge 2;Preis 2",
        "Qty Break 1;Price 1;Qty Break 2;Price 2",
        "Staffelmenge 1;Staffelpreis 1;Staffelmenge 2;Staffelpreis 2",
        "Price Break 1;Unit Price 1 (EUR);Price Break 2;Unit Price 2 (EUR)",
        "Menge;Preis;Menge (2);Preis (2)",
        "Tier 1 Qty;Tier 1 Price;Tier 2 Qty;Tier 2 Price",
        "ab Menge 1;Preis 1 netto;ab Menge 2;Preis 2 netto",
        "Quantité 1;Prix 1;Quantité 2;Prix 2",
    ],
)
def test_quantities_beside_their_prices_are_tiers(header: str) -> None:
    one, two = rows(f"SKU;Name;{header}", "A-1;Bolt;1;0,25;100;0,20", "A-2;Nut;10+;1,10;0;0,00")
    assert tiers(one) == [(1, "0.25"), (100, "0.20")]
    assert one.product["price"]["amount"] == "0.25"
    assert tiers(two) == [(10, "1.10")]


def test_one_step_counts_where_its_names_speak_of_steps() -> None:
    header = "SKU;Name;Preis;Staffelmenge 1;Staffelpreis 1"
    one, *_ = rows(header, "A-1;Bolt;0,25;100;0,20", "A-2;Nut;0,35;50;0,30")
    assert tiers(one) == [(1, "0.25"), (100, "0.20")]
    (other,) = rows("SKU;Name;Preis;Bestand;Menge 2;Preis 2", "A-1;Bolt;0,25;7;100;0,20")
    assert tiers(other) == []
    assert other.product["price"]["amount"] == "0.25"


def test_discounts_are_taken_off_the_price() -> None:
    header = "SKU;Name;Preis EUR;Menge 1;Rabatt 1;Menge 2;Rabatt 2"
    one, two, three = rows(
        header, "A-1;Bolt;10,00;10;5 %;100;12,5", "A-2;Nut;;10;5 %;100;10 %", "A;B;10;5;0,05;;"
    )
    assert tiers(one) == [(1, "10.00"), (10, "9.50"), (100, "8.75")]
    assert "price" not in two.product
    assert [problem.code for problem in two.problems] == ["TIERS_WITHOUT_PRICE"]
    # A share or a twentieth of a percent: nobody knows.
    assert tiers(three) == []
    assert "TIERS_UNREADABLE" in [problem.code for problem in three.problems]


def test_discounts_from_quantities_in_headers_and_in_cells() -> None:
    header = "SKU;Name;Preis EUR;Rabatt ab 10 Stk.;Discount 50+"
    one, *_ = rows(header, "A-1;Bolt;10,00;5 %;10", "A-2;Nut;8;;", "A-3;Pin;8;1;2")
    assert tiers(one) == [(1, "10.00"), (10, "9.50"), (50, "9.00")]
    one, *_ = rows("SKU;Preis;Preis ab 10", "A;20,00;5%", "B;10,00;6%", "C;10,00;6%")
    assert tiers(one) == [(1, "20.00"), (10, "19.00")]
    one, two, *_ = rows("SKU;Preis;Staffel", "A;20,00;ab 10: -5 %", "B;10,00;10+ 9,00", "C;1;")
    assert (tiers(one), tiers(two)) == ([(1, "20.00"), (10, "19.00")], [(10, "9.00")])


def test_what_comes_off_is_no_price() -> None:
    for cell in ("ab 10: -5 %", "10+: -5%", "10+ 5%", "12,50 -5 %", "-5 %", "5%"):
        assert read_price(cell).value is None
    header = "SKU;Preis;Mengenrabatt"
    one, *_ = rows(header, "A;20,00;10: 5", "B;20,00;10: 5 %", "C;20,00;10: 5 %")
    assert tiers(one) == []
    assert next(problem.code for problem in one.problems) == "TIERS_UNREADABLE"
    members = "SKU;Preis;Tier prices"
    one, *_ = rows(members, "A;20;qty=10,price=5,type=percent", "B;20;qty=5,price=8", "C;1;")
    assert tiers(one) == [(1, "20.00"), (10, "19.00")]


def test_columns_of_steps_can_be_asked_for_by_name() -> None:
    for target, kind in {
        "price.tiers.10": "price",
        "price.tiers.10.discount": "percent",
        "price.tiers.step2.quantity": "step",
        "price.tiers.step2.amount": "price",
        "price.tiers.step2.discount": "percent",
    }.items():
        assert (full_target(target), kind_of(target)) == (target, kind)
    assert full_target("price.tiers.step2") is None


@pytest.mark.parametrize(
    "header",
    [
        "1;10;100",
        "1-9;10-99;100+",
        "Preis EUR 1 Stk;Preis EUR 10 Stk;Preis EUR 100 Stk",
        "Preise ab 1;Preise ab 10;Preise ab 100",
        "Price 1+;Price 10+;Price 100+",
    ],
)
def test_quantities_in_headers(header: str) -> None:
    one, *_ = rows(
        f"SKU;Name;{header}", "A;Bolt;1,00;0,90;0,80", "B;Nut;2,00;1,90;1,80", "C;D;1;1;1"
    )
    assert one.product["price"]["amount"] == "1.00"
    assert tiers(one) == [(1, "1.00"), (10, "0.90"), (100, "0.80")]


def test_groups_of_prices_are_no_steps() -> None:
    one, *_ = rows("SKU;Preis 1;Preis 2;Preis 3", "A;1,00;0,90;0,80", "B;2,00;1,90;1,80")
    assert (one.product["price"]["amount"], tiers(one)) == ("1.00", [])


def test_one_step_without_a_number_beside_the_product_s_own() -> None:
    header = "SKU;Mindestmenge;Preis;Staffelmenge;Staffelpreis"
    one, *_ = rows(header, "A;10;1,00;100;0,80", "B;5;0,50;50;0,40")
    assert tiers(one) == [(1, "1.00"), (100, "0.80")]
    assert one.product["availability"]["minOrder"] == 10


@pytest.mark.parametrize(
    ("header", "wrong"),
    [("Nr.;Name;VK netto EUR;ab 10", "1O,00"), ("Indeks;Nazwa;Cena netto PLN;10+ szt.", "12,9O"),
     ("Kód;Název;Cena bez DPH CZK;od 10 ks", "1l,50")],
)  # fmt: skip
def test_a_price_that_cannot_be_read_is_not_that_of_ten(header: str, wrong: str) -> None:
    good, bad = rows(header, "A-1;Pen;10,00;9,00", f"A-2;Cup;{wrong};9,00")
    assert good.product["price"]["amount"] == "10.00"
    assert "amount" not in bad.product["price"]
    assert tiers(bad) == [(10, "9.00")]
