"""Lists with a price for resellers and one for consumers."""

from __future__ import annotations

import pytest

from penstock.catalog.mapping.price_audience import audience
from penstock.catalog.mapping.proposal import propose

CODES = ["A-1", "A-2", "A-3"]
LOW, HIGH = ["4,00", "5,50", "7,25"], ["8,00", "11,00", "14,50"]


@pytest.mark.parametrize(
    ("resellers", "consumers"),
    [
        ("Цена опт", "Цена розн"), ("Опт, руб", "Розница, руб"), ("Ціна гурт", "Ціна роздріб"),
        ("Cena hurt.", "Cena det. brutto"), ("VOC bez DPH", "MOC s DPH"),
        ("Händler-EP exkl.", "Empf. VK inkl."), ("Händlerpreis", "UVP"),
        ("Prix revendeur HT", "Prix public TTC"), ("Prezzo rivenditori", "Prezzo al pubblico"),
        ("Preço Atacado", "Preço Varejo"), ("Toptan Fiyat", "Perakende Fiyat"),
        ("Dealer price", "MSRP"), ("WHSL", "Retail"), ("Trade price ex VAT", "RRP inc VAT"),
        ("Harga Grosir", "Harga Eceran"), ("Giá sỉ", "Giá lẻ"), ("ราคาส่ง", "ราคาปลีก"),
        ("批发价", "零售价"), ("سعر الجملة", "سعر التجزئة"), ("قیمت همکار", "قیمت مصرف کننده"),
        ("Återförsäljarpris", "Cirkapris"), ("Nagyker ár", "Kisker ár"),
    ],
)  # fmt: skip
@pytest.mark.parametrize("turned", [False, True])
def test_the_price_for_resellers_is_the_price(
    resellers: str, consumers: str, *, turned: bool
) -> None:
    columns = [(resellers, LOW, "price.amount"), (consumers, HIGH, "price.recommended")]
    columns = columns[::-1] if turned else columns
    found = propose(["SKU", *(name for name, _, _ in columns)],
                    [CODES, *(cells for _, cells, _ in columns)])  # fmt: skip
    assert [one.target for one in found.columns[1:]] == [target for _, _, target in columns]
    assert repr(resellers) in found.notes[0]
    assert repr(consumers) in found.notes[0]
    assert "for resellers" in found.notes[0]


@pytest.mark.parametrize("name", ["Цена розн", "Cena detaliczna", "Retail price", "UVP", "ราคาปลีก"])
def test_the_only_price_is_the_price(name: str) -> None:
    found = propose(["SKU", name], [CODES, HIGH])
    assert found.columns[1].target == "price.amount"
    assert found.notes == ()


@pytest.mark.parametrize(
    ("cost", "retail"),
    [("Закупочная цена", "Розничная цена"), ("Cena zakupu", "Cena detaliczna"),
     ("Coste", "PVP")],
)  # fmt: skip
def test_beside_what_the_shop_paid_the_retail_price_is_the_price(cost: str, retail: str) -> None:
    columns = propose(["SKU", cost, retail], [CODES, LOW, HIGH]).columns
    assert [one.target for one in columns[1:]] == ["price.cost", "price.amount"]


def test_prices_that_are_not_used_are_named() -> None:
    found = propose(["SKU", "Preis netto", "Preis brutto"], [CODES, LOW, HIGH])
    assert found.columns[1].target == "price.amount"
    assert found.notes == ("'Preis netto' is read as the price; not used: 'Preis brutto'.",)


@pytest.mark.parametrize("name", ["Retail and wholesale price", "Farbe", "Option", "Handelsname"])
def test_names_that_do_not_say_for_whom(name: str) -> None:
    assert audience(name) is None
