"""Price strings of the world, each with its amount and currency."""

from __future__ import annotations

from decimal import Decimal

import pytest
from hypothesis import given
from hypothesis import strategies as st

from penstock.catalog.values.prices import read_price

# Raw text, and the amount with its currency; `None` must not be read, `request` names no price.
PRICES = """
$25.00 AUD  =>  25.00 AUD
RD$25  =>  25.00 DOP
TT$25.50  =>  25.50 TTD
US$ 1,299.00  =>  1299.00 USD
35€ 99  =>  35.99 EUR
S/. 25  =>  25.00 PEN
25 FCFA  =>  25 XOF
25 KM  =>  25.00 BAM
25.000 đ  =>  25000 VND
1.299,00 €  =>  1299.00 EUR
1 299,00 €  =>  1299.00 EUR
1'299.00 CHF  =>  1299.00 CHF
CHF 1’299.–  =>  1299.00 CHF
CHF 45.-  =>  45.00 CHF
45,- Kč  =>  45.00 CZK
1 249 Kč  =>  1249.00 CZK
129,- kr  =>  129.00 SEK
12,50 zł  =>  12.50 PLN
1.234.567,89 TL  =>  1234567.89 TRY
₺1.299,90  =>  1299.90 TRY
3 990 Ft  =>  3990.00 HUF
3990 HUF  =>  3990.00 HUF
129,90 lei  =>  129.90 RON
1 250,50 грн.  =>  1250.50 UAH
12 500 ₽  =>  12500.00 RUB
12 500 руб.  =>  12500.00 RUB
¥1,980  =>  1980 JPY
1,980円  =>  1980 JPY
￥1,980(税込)  =>  1980 JPY
CN¥ 99.80  =>  99.80 CNY
99.80元  =>  99.80 CNY
₩15,000  =>  15000 KRW
15,000원  =>  15000 KRW
₹1,49,999.00  =>  149999.00 INR
Rs. 1,49,999  =>  149999.00 INR
R$ 1.234,56  =>  1234.56 BRL
R 199.99  =>  199.99 ZAR
R1 299,00  =>  1299.00 ZAR
£12.99  =>  12.99 GBP
£1,234  =>  1234.00 GBP
€ 12,-  =>  12.00 EUR
12 EUR  =>  12.00 EUR
EUR12.5  =>  12.50 EUR
12.50€/kg  =>  12.50 EUR
AED 1,250.00  =>  1250.00 AED
د.إ 1,250  =>  1250.00 AED
SAR 99.00  =>  99.00 SAR
₪ 89.90  =>  89.90 ILS
89.90 ש"ח  =>  89.90 ILS
฿1,290  =>  1290.00 THB
1,290 บาท  =>  1290.00 THB
₱2,499.75  =>  2499.75 PHP
Rp 150.000  =>  150000.00 IDR
Rp150.000,00  =>  150000.00 IDR
RM 89.90  =>  89.90 MYR
S$ 45.50  =>  45.50 SGD
HK$1,280  =>  1280.00 HKD
NT$ 1,280  =>  1280.00 TWD
A$19.95  =>  19.95 AUD
C$ 19.95  =>  19.95 CAD
CA$19.95  =>  19.95 CAD
NZ$19.95  =>  19.95 NZD
MX$ 1,299.00  =>  1299.00 MXN
$ 1.299.000 COP  =>  1299000.00 COP
$1.299.990 CLP  =>  1299990 CLP
ARS 1.299,50  =>  1299.50 ARS
129,95 DKK  =>  129.95 DKK
kr. 129,95  =>  129.95 DKK
NOK 1 299,-  =>  1299.00 NOK
1.299,- NOK  =>  1299.00 NOK
5.990 kr.  =>  5990.00 DKK
12.345,67 лв.  =>  12345.67 BGN
450 дин.  =>  450.00 RSD
₦25,000.00  =>  25000.00 NGN
KSh 1,500  =>  1500.00 KES
KES 1,500.00  =>  1500.00 KES
GH₵ 250.00  =>  250.00 GHS
E£ 350  =>  350.00 EGP
250 DH  =>  250.00 MAD
250,00 MAD  =>  250.00 MAD
12,500 TND  =>  12.500 TND
₸ 12 500  =>  12500.00 KZT
12 500 тг  =>  12500.00 KZT
₾ 45.90  =>  45.90 GEL
45.90 ლარი  =>  45.90 GEL
₴ 1 250  =>  1250.00 UAH
from $19.99  =>  19.99 USD
$19.99 - $29.99  =>  19.99 USD
Price: $1,234.50 USD  =>  1234.50 USD
USD 1,234.5  =>  1234.50 USD
1,234.50 USD  =>  1234.50 USD
$.99  =>  0.99 USD
0,89 €  =>  0.89 EUR
,89 €  =>  0.89 EUR
€0.005  =>  0.005 EUR
12,3456 EUR  =>  12.3456 EUR
€ 1.234  =>  1234.00 EUR
1.234 €  =>  1234.00 EUR
EUR 1 234 567,89  =>  1234567.89 EUR
1 234.56 $  =>  1234.56 USD
12.50 EUR inkl. MwSt.  =>  12.50 EUR
12,50 € HT  =>  12.50 EUR
12,50 € TTC  =>  12.50 EUR
12,5O  =>  None
1O,50  =>  None
523,00 / 100  =>  523.00
12.50 /100 Stk EUR  =>  12.50 EUR
$5.00/ea  =>  5.00 USD
$5.00 each  =>  5.00 USD
$10.00 per dozen  =>  10.00 USD
12.50 € pro m²  =>  12.50 EUR
Kčs 45  =>  None
45 Kc  =>  45.00 CZK
CZK 45,50  =>  45.50 CZK
B/. 12.50  =>  12.50 PAB
₡12.500  =>  12500.00 CRC
Q125.00  =>  125.00 GTQ
L 125.00  =>  None
Gs. 125.000  =>  125000 PYG
$U 1.250  =>  1250.00 UYU
J$ 1,250.00  =>  1250.00 JMD
Bds$ 12.50  =>  12.50 BBD
৳1,250  =>  1250.00 BDT
Rs 1,250 PKR  =>  1250.00 PKR
LKR 1,250.00  =>  1250.00 LKR
රු 1,250  =>  1250.00 LKR
NPR 1,250  =>  1250.00 NPR
ден 1.250  =>  1250.00 MKD
ALL 1,250  =>  1250.00 ALL
1250 Lek  =>  1250.00 ALL
ISK 12.990  =>  12990 ISK
12.990 kr ISK  =>  12990 ISK
Fr. 12.50  =>  12.50 CHF
SFr. 1'250.00  =>  1250.00 CHF
12.50 Fr.  =>  12.50 CHF
EUR 12,50 / Stück  =>  12.50 EUR
2 für 5€  =>  None
3 x 4,99 €  =>  None
1.2k €  =>  None
auf Anfrage  =>  request
POA  =>  request
gratis  =>  0.00
Call for price  =>  request
€12.50*  =>  12.50 EUR
ab 12,50 €  =>  12.50 EUR
12,50 € statt 15,00 €  =>  12.50 EUR
RRP £19.99  =>  19.99 GBP
ca. 12,50 €  =>  12.50 EUR
12.50 EUR/100g  =>  12.50 EUR
1.000,00  =>  1000.00
1,000.00  =>  1000.00
1 000,00  =>  1000.00
1.000.000  =>  1000000.00
12.5  =>  12.50
12  =>  12.00
٢٥٫٥٠ ر.س  =>  25.50 SAR
२५०  =>  250.00
１，９８０円  =>  1980 JPY
"""
# Read, but never without a problem: the text could mean another number, or is no price.
FLAGGED = ("1.250 د.ك", "DT 12,500", "1,234 €", "1234.56-", "-12.50 EUR", "(12.50) EUR")


def cases() -> list[tuple[str, str]]:
    pairs = [line.split("  =>  ") for line in PRICES.strip().splitlines()]
    return [(raw, wanted) for raw, wanted in pairs]


def shown(raw: str) -> tuple[Decimal | str, str | None]:
    value = read_price(raw).value
    if value is None:
        return "None", None
    if value.amount is None:
        return "request", None
    return Decimal(value.amount), value.currency


@pytest.mark.parametrize(("raw", "wanted"), cases(), ids=[raw for raw, _ in cases()])
def test_price_strings(raw: str, wanted: str) -> None:
    amount, _, currency = wanted.partition(" ")
    if amount in ("None", "request"):
        assert shown(raw) == (amount, None)
    else:
        assert shown(raw) == (Decimal(amount), currency or None)


@pytest.mark.parametrize("raw", FLAGGED)
def test_doubtful_prices_are_flagged(raw: str) -> None:
    assert read_price(raw).problems


MARKS = [("€", "EUR"), ("£", "GBP"), ("zł", "PLN"), ("Kč", "CZK"), ("A$", "AUD"), ("R$", "BRL"),
         ("грн", "UAH"), ("₺", "TRY"), ("CHF", "CHF"), ("SEK", "SEK")]  # fmt: skip


@given(
    st.integers(0, 9_999_999), st.integers(0, 99), st.sampled_from(MARKS), st.booleans(),
    st.sampled_from([("", "."), ("", ","), (",", "."), (".", ","), (" ", ","), ("'", "."),
                     ("\u202f", ",")]),
)  # fmt: skip
def test_amounts_with_cents(
    whole: int, cents: int, mark: tuple[str, str], before: bool, marks: tuple[str, str]
) -> None:
    """Two decimals are never ambiguous, whatever separates thousands and wherever the sign is."""
    group, point = marks
    number = f"{whole:,}".replace(",", group) + f"{point}{cents:02}"
    raw = f"{mark[0]} {number}" if before else f"{number} {mark[0]}"
    assert shown(raw) == (Decimal(f"{whole}.{cents:02}"), mark[1])
