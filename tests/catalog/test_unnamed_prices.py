"""Cells that name no price on purpose: empty with a warning, not an error."""

from __future__ import annotations

import pytest
from tests.catalog.test_normalise import codes, plan_of

from penstock.catalog.products.normalise import normalise
from penstock.catalog.products.validate import compile_validator
from penstock.catalog.values.prices import read_price

TEXTS = [
    "N/C", "n.c.", "NC", "n. c.", "S/C", "T.B.A.", "TBA", "P.O.A.", "POA", "P.O.R", "a.A.", "call",
    "sur demande", "non communiqué", "à définir", "wird noch bekannt gegeben", "siehe Katalog",
    "por definir", "da confermare", "nog te bepalen", "цена не указана", "価格未定", "价格待定",
    "가격문의", "thỏa thuận", "לפי פנייה", "not for sale",
]  # fmt: skip


@pytest.mark.parametrize("text", TEXTS)
def test_a_price_that_is_not_named(text: str) -> None:
    table = [["SKU", "Name", "Price"], ["A-1", "Blue mug", "12.50"], ["A-2", "Red mug", text]]
    plan = plan_of(table)
    row = normalise(plan, table[2])
    assert compile_validator(plan).check(row, table[2]) == "valid"
    assert codes(row) == ["PRICE_ON_REQUEST"]
    assert row.product["price"] == {"onRequest": True}


def test_a_placeholder_is_an_empty_cell() -> None:
    table = [["SKU", "Name", "Price"], ["A-1", "Blue mug", "12.50"], ["A-2", "Red mug", "n/a"]]
    row = normalise(plan_of(table), table[2])
    assert codes(row) == []
    assert "price" not in row.product


@pytest.mark.parametrize(
    "text",
    ["Rp125rb", "Rp 1,5 jt", "125 nghìn", "12 ngàn đ", "1 bin TL", "3พันบาท", "12千円", "2 हजार ₹"],
)
def test_an_amount_in_words_for_thousands_is_not_the_number_that_is_written(text: str) -> None:
    assert read_price(text).value is None
