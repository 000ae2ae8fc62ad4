"""Words, codes and signs of currencies inside of texts."""

from __future__ import annotations

import re

import pytest
from hypothesis import given
from hypothesis import strategies as st

from penstock.catalog.values.currencies import (
    _ENGLISH_WORDS,
    _WORDS,
    CODES,
    TOKEN,
    _has_words,
)
from penstock.catalog.values.prices import read_price


def one_by_one(text: str) -> list[str]:
    """The longest of them at each place, tried one after the other: slow, and plain to see."""
    found, at = [], 0
    while at < len(text):
        for word in (*_WORDS, *sorted(CODES)):
            match = re.compile(re.escape(word), re.IGNORECASE).match(text, at)
            if match and _stands_alone(word, text, at, match.end()):
                found.append(match.group())
                at = match.end()
                break
        else:
            at += 1
    return found


def _stands_alone(word: str, text: str, start: int, end: int) -> bool:
    before, after = text[start - 1 : start] if start else "", text[end : end + 1]
    if _has_words(word[0]) and (before.isalpha() or _ends_abbreviation(text[:start])):
        return False
    if len(word) == 1 and word.isalpha() and re.match(r"\.[^\W\d_]", text[end:]):
        return False
    if word in _ENGLISH_WORDS and text[start + 1 : end] != word[1:]:
        return False
    return not (_has_words(word[-1]) and after.isalpha())


def _ends_abbreviation(text: str) -> bool:
    return text[-1:] == "." and text[-2:-1].isalpha()


@pytest.mark.parametrize(
    ("text", "tokens"),
    [
        ("392,59 €", ["€"]), ("€392.59", ["€"]), ("12.00 EUR", ["EUR"]), ("US$ 5", ["US$"]),
        ("5 kr.", ["kr."]), ("R$ 10", ["R$"]), ("eur 5 / usd 6", ["eur", "usd"]),
        ("7.903,31", []), ("M17x73 verzinkt", []), ("EUROPE 5", []),
        ("M.R.P. ₹5", ["₹"]), ("of all 5", []), ("5 ALL", ["ALL"]),
    ],
)  # fmt: skip
def test_what_is_named(text: str, tokens: list[str]) -> None:
    assert [match.group() for match in TOKEN.finditer(text)] == tokens


_BITS = st.sampled_from([*_WORDS, *sorted(CODES), " ", "12", "3,5", ".", "-", "kg", "x", "(", "/"])


@given(st.lists(_BITS, max_size=5).map("".join))
def test_as_if_each_were_tried(text: str) -> None:
    assert [match.group() for match in TOKEN.finditer(text)] == one_by_one(text)


@pytest.mark.parametrize(
    ("text", "amount", "currency"),
    [
        ("129 lei MDL", "129.00", "MDL"),
        ("12,50 бел. руб.", "12.50", "BYN"),
        ("1,250 ريال قطري", "1250.00", "QAR"),
        ("350 درهم مغربي", "350.00", "MAD"),
        ("100 Canadian dollars", "100.00", "CAD"),
        ("1.250 pesos argentinos", "1250.00", "ARS"),
        ("99 манат", "99.00", "AZN"),
        ("12,50 ευρω", "12.50", "EUR"),
    ],
)
def test_currencies_of_several_words(text: str, amount: str, currency: str) -> None:
    price = read_price(text).value
    assert (price.amount, price.currency) == (amount, currency)
