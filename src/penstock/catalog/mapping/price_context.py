"""What a file says about its prices outside the cells: in the lines above and below, in the name of
the sheet, or in number formats. `Alle Preise in EUR zzgl. MwSt.` applies to every
price that does not say otherwise."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from typing import Any, NamedTuple

from penstock.catalog.mapping.column_decisions import ColumnDecision
from penstock.catalog.values import price_words
from penstock.catalog.values.currencies import CODES, TOKEN, currency_of
from penstock.catalog.values.units import unit_of
from penstock.catalog.word_lists import entries, load, phrases, words

MAX_QUOTED_LENGTH = 80

_OF_PRICES = re.compile(
    r"pri(?:ce|x\b|js)|prei[sß]|precio|prezz|pre[çc]o|\bcen[ay]\b|cenn[íi]k|cenik|цен|прайс|fiyat|"
    r"価格|定価|单价|价格|報價|报价|currency|währung|waehrung|devise|moneda|moeda|valuta|waluta|měna|"
    r"валюта|para birimi|通貨|货币|tarif|listin|\bvalues? in\b|\bamounts? (?:are )?in\b",
    re.IGNORECASE,
)
# Codes that are not words, so they count anywhere. The others only count where a currency
# is expected: in brackets, after `in` or a colon.
_CLEAR = words(load("currencies")["unmistakable codes"])
_EXPECTED = r"(?:\bin |[(\[/:=] ?|: )"
_NAMES = {
    name: code
    for code, names in entries(load("currencies")["names in sentences"])
    for name in phrases(names)
}
_TOKEN = re.compile(
    r"(?<![^\W\d_])(?:(?P<clear>" + "|".join(sorted(_CLEAR)) + r")"
    r"|(?<=[ (\[/:=])(?P<code>" + "|".join(sorted(CODES - _CLEAR)) + r"))(?![^\W\d_])"
    r"|(?P<sign>[€£₽₺₴₹₩₪฿₫])"
    r"|(?<![^\W\d_])(?P<name>(?i:" + "|".join(sorted(map(re.escape, _NAMES), key=len, reverse=True))
    + r"))(?![^\W\d_])|(?P<dollar>(?<![A-Za-z])\$)"
)  # fmt: skip
_BEFORE = re.compile(_EXPECTED + r"$")
# The currency of a single amount does not apply to the whole file; a year is not an amount.
MAX_AMOUNT_LENGTH = 60
_AMOUNT_BEFORE = re.compile(r"(?<![0-9])(?!(?:19|20)[0-9]{2}\s?$)[0-9][0-9.,' ]*\s?$")
_AMOUNT_AFTER = re.compile(r"^\s?[0-9]")


class PriceContext(NamedTuple):
    """``words`` quotes the file."""

    currency: str | None = None
    tax_included: bool | None = None
    words: str = ""


def find_price_context(reading: Mapping[str, Any]) -> PriceContext:
    """From the report of a reading. Contradicting statements are ignored."""
    currencies: dict[str, str] = {}
    taxes: dict[bool, str] = {}
    for line, is_name in _lines(reading):
        speaks = _OF_PRICES.search(line) is not None
        if is_name or speaks or _TOKEN.fullmatch(line.strip(" ()[]")):
            for named in _currencies_in(line):
                currencies.setdefault(named, line)
        if speaks and (tax := _tax(line)) is not None:
            taxes.setdefault(tax, line)
    currency = next(iter(currencies)) if len(currencies) == 1 else None
    tax = next(iter(taxes)) if len(taxes) == 1 else None
    quoted = currencies[currency] if currency else taxes[tax] if tax is not None else ""
    return PriceContext(currency, tax, quoted.strip(" ;,|\t")[:MAX_QUOTED_LENGTH])


def _lines(reading: Mapping[str, Any]) -> Iterator[tuple[str, bool]]:
    if reading.get("sheet"):
        yield str(reading["sheet"]), True
    for place in ("preamble", "footer"):
        for line in reading.get(place) or ():
            yield line["text"], False


def _currencies_in(line: str) -> Iterator[str]:
    for match in _TOKEN.finditer(line):
        before, after = line[: match.start()], line[match.end() :]
        if _AMOUNT_BEFORE.search(before[-MAX_AMOUNT_LENGTH:]) or _AMOUNT_AFTER.search(after):
            continue
        if match["code"] and not _BEFORE.search(before):
            continue
        name = match["name"]
        found = currency_of(_NAMES[name.casefold()] if name else match.group())
        if found is not None:
            yield found.currency


def _tax(line: str) -> bool | None:
    without = price_words.TAX_EXCLUDED.search(line) is not None
    included = price_words.TAX_INCLUDED.search(line) is not None
    return None if without == included else included


def with_price_context(
    decisions: Sequence[ColumnDecision], said: PriceContext, currency: str | None
) -> list[ColumnDecision]:
    """Decisions completed by the context, where neither a column's cells nor the profile's
    ``currency`` say otherwise."""
    money = None if currency else said.currency
    if money is None and said.tax_included is None:
        return list(decisions)
    return [_add_context(one, money, said) for one in decisions]


def _add_context(
    decision: ColumnDecision, currency: str | None, said: PriceContext
) -> ColumnDecision:
    if currency is not None:
        note = f"The currency is {currency}, as the file says beside its table: {said.words!r}"
        decision = _set_currency(decision, currency, note, said.words)
    return replace(decision, tax_included=said.tax_included)


def _set_currency(decision: ColumnDecision, currency: str, note: str, words: str) -> ColumnDecision:
    """A column with several currencies gets no default currency."""
    if decision.currency is not None or any("Several" in one for one in decision.notes):
        return decision
    return replace(decision, currency=currency, notes=(*decision.notes, note), said=words)


def with_number_formats(
    decisions: Sequence[ColumnDecision], header: Sequence[str], shown: Mapping[str, str],
    currency: str | None,
) -> list[ColumnDecision]:  # fmt: skip
    """Decisions completed by the number formats of a workbook: `€`, `kg`."""
    found = list(decisions)
    for index, name in enumerate(header[: len(found)]):
        words = shown.get(name)
        if not words:
            continue
        token = TOKEN.search(words)
        money = currency_of(token.group(), currency) if token else None
        if money is not None:
            note = f"The currency is {money.currency}: cells are shown with {words!r}"
            found[index] = _set_currency(found[index], money.currency, note, words)
        elif (unit := unit_of(words)) is not None:
            found[index] = replace(found[index], unit=unit)
    return found
