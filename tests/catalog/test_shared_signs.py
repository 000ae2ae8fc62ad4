"""Signs that several currencies share, read by the language of the file, and other price texts."""

from __future__ import annotations

import pytest

from penstock.catalog.mapping.column_decisions import decide
from penstock.catalog.mapping.column_stats import add_rows, new_stats
from penstock.catalog.mapping.shared_signs import currency_by_language, with_crowns
from penstock.catalog.values.prices import read_price


@pytest.mark.parametrize(
    ("text", "amount", "currency"),
    [
        ("¥ 64.00 /瓶", "64.00", "CNY"), ("¥18/袋 每包", "18.00", "CNY"),
        ("￥75每套", "75.00", "CNY"),
        ("¥9.00", "9.00", "CNY"), ("¥640/本（税別）", "640", "JPY"),
        ("¥1,200 カートン", "1200", "JPY"),
        ("¥640", "640", "JPY"),
        ("7 , 25 €", "7.25", "EUR"), ("2 180 , 40 zł", "2180.40", "PLN"),
        ("99 , 00 kr", "99.00", "SEK"),
        ("6 . 75 $", "6.75", "USD"),
        ("N7,400", "7400.00", "NGN"), ("N 1,250,000.50", "1250000.50", "NGN"),
        ("=N=3,100.00", "3100.00", "NGN"), ("₦7,400", "7400.00", "NGN"),
        ("640,000 تومان", "640000.00", "IRT"), ("۳۵٬۰۰۰ تومان", "35000.00", "IRT"),
        ("64000 Toman", "64000.00", "IRT"), ("640,000 ریال", "640000.00", "IRR"),
    ],
)  # fmt: skip
def test_price_texts(text: str, amount: str, currency: str) -> None:
    value = read_price(text).value
    assert value is not None
    assert (value.amount, value.currency) == (amount, currency)


@pytest.mark.parametrize("text", ["N95", "N 400", "DN12,500", "N12,50", "M 6 , 50 x 2"])
def test_codes_are_no_prices(text: str) -> None:
    assert read_price(text).value is None


@pytest.mark.parametrize(
    ("header", "row", "currency"),
    [
        (["货号", "名称", "价格"], ["A1", "不锈钢水壶", "¥128"], "CNY"),
        (["品番", "品名", "価格"], ["A1", "やかん", "¥1280"], "JPY"),
        (["Item", "Price"], ["A1", "¥1280"], None),
        (["Varenr", "Varetekst", "Pris"], ["1", "Hane", "kr 12"], "DKK"),
        (["Varenr", "Produsent", "Pris eks mva"], ["1", "Kran", "kr 12"], "NOK"),
        (["Artnr", "Benämning", "Nettopris kr"], ["1", "Kran", "12"], "SEK"),
        (["Nr", "Pris"], ["1", "kr 12"], None),
        (["Artnr", "Benämning", "Netto"], ["1", "Kran", "12"], None),
    ],
)
def test_the_language_of_a_file_decides(
    header: list[str], row: list[str], currency: str | None
) -> None:
    stats = new_stats(len(header))
    add_rows(stats, [row])
    likely = currency_by_language(header, stats)
    assert likely == currency
    decisions = with_crowns(decide(stats, None, likely), header, likely)
    if currency is not None:
        assert decisions[-1].currency == currency
        assert "set `currency`" in decisions[-1].notes[-1]


def test_the_currency_of_the_profile_wins() -> None:
    stats = new_stats(1)
    add_rows(stats, [["¥128"]])
    assert decide(stats, "JPY", "CNY")[0].currency == "JPY"
