"""Currencies by code, symbol and word, and exchange rates."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import date
from decimal import ROUND_HALF_UP, Decimal
from functools import lru_cache
from typing import Any, NamedTuple

from penstock.catalog.values.result import EMPTY, NormalisedValue, unreadable
from penstock.catalog.word_lists import by_word, entries, load, phrases, words

_LISTS = load("currencies")
CODES = words(_LISTS["codes"])
_PLACES = {
    **dict.fromkeys(words(_LISTS["without decimals"]), 0),
    **dict.fromkeys(words(_LISTS["three decimals"]), 3),
}

# Words and symbols that mean one currency.
_ONE = by_word(_LISTS["one currency"])
# Symbols that several currencies share, the most likely first.
_SHARED = {symbol: tuple(codes.split()) for symbol, codes in entries(_LISTS["shared"])}
_COUNTRIES = by_word(_LISTS["countries of dollars"])
_ENGLISH_WORDS = words(_LISTS["codes that are words"])
_WORDS = sorted((*_ONE, *_SHARED), key=len, reverse=True)


# `M.R.P.` does not contain the rand.
_NO_LETTER_BEFORE = r"(?<![^\W\d_])(?<![^\W\d_]\.)"
_NO_LETTER_AFTER = r"(?![^\W\d_])"
_NO_ABBREVIATION_AFTER = r"(?!\.[^\W\d_])"


def _has_words(letter: str) -> bool:
    """Whether spaces separate words in the script of the letter; in `37.5元起` none do."""
    return letter.isalpha() and letter < "\u2e80"


def _alternatives(words: Sequence[str]) -> str:
    """A pattern for any of the words: letters must stand alone, symbols may touch the number.
    Grouped by first character, so that few of the hundreds of words are tried at each position."""
    by_first: dict[str, list[str]] = {}
    for word in words:
        rest = re.escape(word[1:]) + (_NO_LETTER_AFTER if _has_words(word[-1]) else "")
        rest = f"(?-i:{rest})" if word in _ENGLISH_WORDS else rest
        rest += _NO_ABBREVIATION_AFTER if len(word) == 1 and word.isalpha() else ""
        by_first.setdefault(word[0].lower(), []).append(rest)
    parts = {first: f"{re.escape(first)}(?:{'|'.join(of)})" for first, of in by_first.items()}
    letters = "|".join(part for first, part in parts.items() if _has_words(first))
    symbols = "|".join(part for first, part in parts.items() if not _has_words(first))
    firsts = "".join(map(re.escape, by_first))
    return f"(?=[{firsts}])(?:{_NO_LETTER_BEFORE}(?:{letters})|{symbols})"


# `белорусских рублей`, `ريال قطري`: names of which a part means another currency.
CODE_OF_WORDS = {
    name: code for code, names in entries(_LISTS["several words"]) for name in phrases(names)
}
_NAMES = "|".join(map(re.escape, sorted(CODE_OF_WORDS, key=len, reverse=True)))
SEVERAL_WORDS = re.compile(rf"{_NO_LETTER_BEFORE}(?:{_NAMES}){_NO_LETTER_AFTER}", re.IGNORECASE)
TOKEN = re.compile(_alternatives([*_WORDS, *sorted(CODES)]), re.IGNORECASE)


# Signs that are another currency after letters, as in `RD$`.
_SIGNS_WITH_LETTERS = frozenset("$£¥￥")
_LETTERS_BEFORE_SIGN = re.compile(r"[^\W\d_\u2e80-\uffff][$£¥￥]")
_LETTERS_BEFORE = re.compile(r"(?<![^\W\d_])[^\W\d_\u2e80-\uffff]{1,3}$")
# Signs of currencies of today that may be missing in the list.
_SIGN = re.compile("[\u20a0-\u20b5\u20b7-\u20cf¢֏؋৲৳૱௹฿៛﷼]")
_CAPITALS = re.compile(r"(?<![^\W\d_])[A-Z]{2,3}(?![^\W\d_])")
# `¥` is the yuan beside Chinese words, and with cents, which the yen does not have, unless kana or
# Japanese words for the tax are beside it.
YEN_SIGNS = frozenset("¥￥")
_YUAN = re.compile(
    rf"[{''.join(sorted(words(_LISTS['words of yuan prices'])))}]|[0-9]\.[0-9]{{1,2}}(?![0-9])"
)
_YEN = re.compile(rf"[\u3041-\u30ff]|{'|'.join(sorted(words(_LISTS['words of yen prices'])))}")
_DIGITS = re.compile(r"[0-9](?:[0-9.,' ]*[0-9])?")


# `Fr. 299 kr` is a price from 299 crowns, not one in francs.
_FROM_ABBREVIATED = re.compile(r"fr\.? ?(?=[0-9][0-9 .,]{0,12} ?(?:kr|sek|nok|dkk))", re.IGNORECASE)


class CurrencyMatch(NamedTuple):
    currency: str
    confidence: float


def places(currency: str | None) -> int:
    """The number of decimals of the currency."""
    return 2 if currency is None else _PLACES.get(currency, 2)


@lru_cache(maxsize=4_096)
def currency_of(token: str, default: str | None = None) -> CurrencyMatch | None:
    """The currency of a code, symbol or word; ``default`` decides shared symbols."""
    word = token.strip()
    if word in CODES:
        return CurrencyMatch(word, 1.0)
    low = word.casefold()
    if low in _ONE:
        return CurrencyMatch(_ONE[low], 1.0)
    shared = _SHARED.get(low)
    if shared is not None:
        if default in shared and default is not None:
            return CurrencyMatch(default, 0.95)
        return CurrencyMatch(shared[0], 0.9 if low == "$" or len(shared) == 1 else 0.7)
    code = low.upper()
    return CurrencyMatch(code, 1.0) if code in CODES else None


class UnclearCurrencyError(ValueError):
    """The text names several currencies, or one that is not known."""


def split_currency(text: str, default: str | None, mark: str) -> tuple[CurrencyMatch | None, str]:
    """The currency of a price, from all that the text says, and the text with ``mark`` in its
    place: `$25.00 AUD` is not in US dollars. Raises UnclearCurrencyError for an unknown sign, and
    for one number in two currencies."""
    rest, count = TOKEN.subn(mark, text)
    if count > 1 and _FROM_ABBREVIATED.match(text):
        text = _FROM_ABBREVIATED.sub("", text, count=1)
        rest, count = TOKEN.subn(mark, text)
    if not count:
        text = _with_codes(text)
        rest, count = TOKEN.subn(mark, text)
    if not rest.isascii() and _SIGN.search(rest):
        raise UnclearCurrencyError(text)
    if not count:
        return None, rest
    if _LETTERS_BEFORE_SIGN.search(text) and _has_letters_before(text):
        raise UnclearCurrencyError(text)
    tokens = TOKEN.findall(text)
    if count == 1 and not is_shared(tokens[0]):
        return currency_of(tokens[0], default), rest
    return _currency_of_all(text, tokens, default), rest


def _currency_of_all(text: str, tokens: Sequence[str], default: str | None) -> CurrencyMatch | None:
    first = currency_of(tokens[0], default)
    shared = [token for token in tokens if is_shared(token)]
    if not shared:
        return first
    if len(tokens) == 1:
        country = _country_beside(text)
        return first if country is None else CurrencyMatch(country, 1.0)
    named = {currency_of(token, default) for token in tokens if not is_shared(token)}
    only = named.pop() if len(named) == 1 else None
    if only is None:
        return first
    if all(only.currency in _SHARED[token.strip().casefold()] for token in shared):
        return only
    if len(_DIGITS.findall(text)) == 1:
        raise UnclearCurrencyError(text)
    return first


def currency_of_yen_sign(text: str) -> str | None:
    """The currency of a price with the sign of yen and yuan: `¥128 /盒`, `¥12.50`; None if nothing
    says which."""
    if _YEN.search(text):
        return "JPY"
    return "CNY" if _YUAN.search(text) else None


def names_several(text: str, default: str | None) -> bool:
    """Whether the text names more than one currency, by codes or by signs that are not shared."""
    named = {currency_of(token, default) for token in TOKEN.findall(text) if not is_shared(token)}
    return len(named) > 1


def _has_letters_before(text: str) -> bool:
    """Whether letters that are no part of the sign touch it."""
    before = (
        _LETTERS_BEFORE.search(text[: match.start()])
        for match in TOKEN.finditer(text)
        if match.group() in _SIGNS_WITH_LETTERS
    )
    return any(letters is not None and letters.group() not in CODES for letters in before)


@lru_cache(maxsize=1)
def _local_words() -> tuple[re.Pattern[str], dict[str, str]]:
    by_name = by_word(_LISTS["in prices only"])
    any_of = "|".join(map(re.escape, sorted(by_name, key=len, reverse=True)))
    large = "|".join(map(re.escape, words(_LISTS["before large prices only"])))
    # `N12,500` is a price in naira, `N95` is not.
    return re.compile(
        rf"(?<![^\W\d_])(?:(?:{large})(?= ?[0-9]{{1,3}}(?:,[0-9]{{3}})+(?![0-9]))"
        rf"|(?:{any_of})(?![^\W\d_.]))"
    ), by_name | by_word(_LISTS["before large prices only"])


def _with_codes(text: str) -> str:
    """Words that are a currency beside a price only, such as `25 KM`, replaced by its code."""
    pattern, by_name = _local_words()
    return pattern.sub(lambda match: f" {by_name[match.group()]} ", text)


def _country_beside(text: str) -> str | None:
    """`25 $ US`, `CDN $25`: the country of a dollar, in capitals."""
    capitals = _CAPITALS.findall(text.replace("M.N.", "MN"))
    named = {_COUNTRIES[word] for word in capitals if word in _COUNTRIES}
    return named.pop() if len(named) == 1 else None


def is_shared(token: str) -> bool:
    return len(_SHARED.get(token.strip().casefold(), ())) > 1


def read_currency(text: str, default: str | None = None) -> NormalisedValue:
    """A cell of a currency column."""
    word = text.strip()
    if not word or word == "-":
        return EMPTY
    found = currency_of(word, default)
    if found is None:
        named = {currency_of(m.group(), default) for m in TOKEN.finditer(word[:60])}
        found = named.pop() if len(named) == 1 else None
    if found is None:
        return unreadable("CURRENCY_UNKNOWN", text)
    return NormalisedValue(found.currency, "currency", found.confidence)


class Rate(NamedTuple):
    """The value of one unit of a currency in the base currency, and the day of the rate."""

    worth: Decimal
    shown: str
    day: str


@dataclass(frozen=True, slots=True)
class Rates:
    """Exchange rates into one base currency on one day."""

    base: str = "USD"
    per: Mapping[str, Rate] = field(default_factory=dict)

    def convert(self, amount: str, currency: str) -> dict[str, str] | None:
        """The amount in the base currency with the rate used; None without a rate."""
        if currency == self.base:
            return {"amount": amount, "currency": currency}
        rate = self.per.get(currency)
        if rate is None:
            return None
        kept = places(self.base)
        return {
            "amount": format_amount(rounded(Decimal(amount) * rate.worth, kept), kept),
            "currency": self.base,
            "rate": rate.shown,
            "rateDate": rate.day,
        }

    def as_json(self) -> dict[str, Any]:
        """For the job's context, so that all rows use the rates of its start."""
        return {
            "base": self.base,
            "per": {currency: [rate.shown, rate.day] for currency, rate in self.per.items()},
        }

    @staticmethod
    def from_json(kept: Mapping[str, Any]) -> Rates:
        per = {
            currency: Rate(Decimal(worth), worth, day)
            for currency, (worth, day) in kept["per"].items()
        }
        return Rates(kept["base"], per)


def rounded(exact: Decimal, minor: int) -> str:
    """Two more decimals than the currency has, for prices below a cent."""
    return str(exact.quantize(_QUANTA[minor], ROUND_HALF_UP))


_QUANTA = {minor: Decimal(1).scaleb(-minor - 2) for minor in (0, 2, 3)}


def rates_on(
    day: date, base: str, table: Iterable[tuple[date, str, Decimal]], oldest_days: int = 31
) -> Rates:
    """The latest rates not after ``day`` from a table of (day, currency, worth in base). A rate
    older than ``oldest_days`` counts as missing."""
    latest: dict[str, tuple[date, Decimal]] = {}
    for dated, currency, worth in table:
        if dated <= day and (day - dated).days <= oldest_days:
            known = latest.get(currency)
            if known is None or known[0] < dated:
                latest[currency] = (dated, worth)
    per = {
        currency: Rate(worth, format(worth.normalize(), "f"), dated.isoformat())
        for currency, (dated, worth) in latest.items()
    }
    return Rates(base, per)


def format_amount(text: str, minor: int) -> str:
    """The canonical form of an amount: at least the currency's decimals, no further zeros."""
    head, mark, tail = text.partition(".")
    if not mark:
        return f"{head}.{'0' * minor}" if minor else head
    if len(tail) > minor:
        tail = tail[:minor] + tail[minor:].rstrip("0")
    return f"{head}.{tail.ljust(minor, '0')}" if tail or minor else head
