"""Prices as suppliers of several countries write them: per number of pieces, with typing errors,
and in currencies that share a sign."""

from __future__ import annotations

import pytest
from tests.catalog.test_normalise import one

from penstock.catalog.values.prices import Price, PriceStyle, read_price


def price(text: str, currency: str | None = None) -> Price | None:
    read: Price | None = read_price(text, PriceStyle(currency=currency)).value
    return read


@pytest.mark.parametrize(
    ("text", "amount", "unit"),
    [
        ("523,00 / 100", "523.00", "100 piece"),
        ("523,00 €/100", "523.00", "100 piece"),
        ("41,80 zł / 1000", "41.80", "1000 piece"),
        ("12,00 je 100", "12.00", "100 piece"),
        ("pro 100: 12,00", "12.00", "100 piece"),
        ("8.40 per 250", "8.40", "250 piece"),
        ("8,40 za 10", "8.40", "10 piece"),
        ("12,00 für 100 Stück", "12.00", "100 piece"),
        ("7,20/1", "7.20", "piece"),
        ("523 / 100", "523.00", "100 piece"),
    ],
)
def test_a_price_for_a_number_of_pieces(text: str, amount: str, unit: str) -> None:
    found = price(text)
    assert found is not None
    assert (found.amount, found.unit) == (amount, unit)


@pytest.mark.parametrize("text", ["523,00 / 50", "12.50/25", "9,90 € / 12"])
def test_a_price_over_an_unclear_number_is_unreadable(text: str) -> None:
    assert price(text) is None


def test_a_range_with_a_slash_stays_a_range() -> None:
    assert price("10 € / 20 €") == Price("10.00", "EUR", upper="20.00")
    assert price("9,90 / 12,90") == Price("9.90", upper="12.90")


@pytest.mark.parametrize(
    "text",
    ["12,9O", "1O,50", "1O", "l2,50", "12,5o €", "€ 1O.00", "1I,90 zł", "O,50", "1 O50", "12,9 O",
     "1О,50 руб", "US$ 1O", "12x50", "12,00 %"],
)  # fmt: skip
def test_letters_in_a_number_are_unreadable(text: str) -> None:
    assert price(text) is None


@pytest.mark.parametrize(
    ("text", "currency"),
    [
        ("$25.00 AUD", "AUD"), ("$25 CAD", "CAD"), ("25 $ MXN", "MXN"), ("USD $25", "USD"),
        ("25 $ US", "USD"), ("US $25", "USD"), ("CDN $25", "CAD"), ("RD$25", "DOP"),
        ("TT$25", "TTD"), ("J$ 25", "JMD"), ("N$25", "NAD"), ("EC$25", "XCD"),
        ("S/. 25", "PEN"), ("B/. 25", "PAB"), ("25 FCFA", "XOF"), ("25 KM", "BAM"),
        ("25.000 đ", "VND"), ("25 дин", "RSD"), ("25 ден.", "MKD"), ("25 DH", "MAD"),
        ("25 DA", "DZD"), ("25 lv.", "BGN"), ("KSh 25", "KES"), ("GH₵25", "GHS"), ("Q25", "GTQ"),
        ("25 ₼", "AZN"), ("₡25", "CRC"), ("25 kr NOK", "NOK"), ("Rs. 25 PKR", "PKR"),
        ("E£25", "EGP"), ("35€ 99", "EUR"),
    ],
)  # fmt: skip
def test_the_currency_is_what_the_whole_cell_says(text: str, currency: str) -> None:
    found = price(text)
    assert found is not None
    assert found.currency == currency


@pytest.mark.parametrize("text", ["Z$25", "XX$ 25", "$25 EUR", "25 ₯"])
def test_an_unknown_or_contradictory_currency_is_unreadable(text: str) -> None:
    assert price(text) is None


def test_the_columns_currency_decides_a_shared_sign() -> None:
    assert price("$25", "TTD") == Price("25.00", "TTD")
    assert price("$25") == Price("25.00", "USD")


@pytest.mark.parametrize("text", ["35€99", "35€ 99", "35€ 99 TTC"])
def test_a_currency_as_the_decimal_mark(text: str) -> None:
    found = price(text)
    assert found is not None
    assert found.amount == "35.99"


@pytest.mark.parametrize(
    ("amount", "pack", "unit", "per_unit"),
    [
        ("2,40 € / m", "Rolle 50 m", "m", None),
        ("2.40 per metre", "50 m", "m", None),
        ("12,00 zł/para", "10", "pair", None),
        ("18 € la paire", "10", "pair", None),
        ("24,00 € / Dutzend", "5", "dozen", {"amount": "2.00", "unit": "piece"}),
        ("523,00 / 100", "50", "100 piece", {"amount": "5.23", "unit": "piece"}),
        ("3,20 €/kg", "25 kg", "kg", None),
        ("80,00 €", "4 x 5 l", "piece", {"amount": "4.00", "unit": "l"}),
    ],
)
def test_a_price_per_unit_is_not_divided_by_the_pack(
    amount: str, pack: str, unit: str, per_unit: dict[str, str] | None
) -> None:
    product = one(price_amount=amount, specifications_pack=pack).product
    assert product["price"]["unit"] == unit
    assert product["price"].get("perUnit") == per_unit


@pytest.mark.parametrize(
    ("text", "currency", "amount", "read_as"),
    [
        ("75¢", None, "0.75", "USD"), ("99 Cent", "EUR", "0.99", "EUR"),
        ("99 ct", "EUR", "0.99", "EUR"), ("99p", None, "0.99", "GBP"),
        ("50 gr", "PLN", "0.50", "PLN"), ("80 коп.", None, "0.80", "RUB"),
        ("12 zł 50 gr", None, "12.50", "PLN"), ("£12 10p", None, "12.10", "GBP"),
    ],
)  # fmt: skip
def test_hundredths(text: str, currency: str | None, amount: str, read_as: str) -> None:
    found = price(text, currency)
    assert found is not None
    assert (found.amount, found.currency) == (amount, read_as)


@pytest.mark.parametrize("text", ["50 gr", "99 ct", "Two for $5", "zwei für 5 €"])
def test_amounts_that_may_mean_something_else(text: str) -> None:
    assert price(text) is None


def test_a_colon_before_cents() -> None:
    assert price("1 299:50 kr", "SEK") == Price("1299.50", "SEK")
    assert price("299:50", "SEK") == Price("299.50", "SEK")
    assert price("0:49") == Price("0.49")


@pytest.mark.parametrize(
    "text",
    ["statt 29,99 € jetzt 19,99 €", "was 29,99 € now 19,99 €", "29,99 € teraz 19,99 €",
     "29,99 € maintenant 19,99 €"],
)  # fmt: skip
def test_the_price_that_is_paid_now(text: str) -> None:
    assert price(text) == Price("19.99", "EUR")
