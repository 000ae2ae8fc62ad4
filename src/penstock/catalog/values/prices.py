"""Prices: amount, currency, unit, tax, ranges and tiers, from one cell."""

from __future__ import annotations

import re
from dataclasses import dataclass, replace
from decimal import Decimal
from itertools import pairwise
from typing import NamedTuple

from penstock.catalog.values import price_words as words
from penstock.catalog.values.currencies import (
    TOKEN,
    YEN_SIGNS,
    UnclearCurrencyError,
    currency_of,
    currency_of_yen_sign,
    format_amount,
    names_several,
    places,
    split_currency,
)
from penstock.catalog.values.numbers import (
    CELL_ERRORS,
    DecimalStyle,
    Number,
    ambiguity,
    is_empty_cell,
    read_number,
)
from penstock.catalog.values.price_roles import Span, current_amounts, has_currency, reduced_amount
from penstock.catalog.values.price_text import plain_text
from penstock.catalog.values.price_tiers import Discount, Tier, read_tiers
from penstock.catalog.values.result import EMPTY, NormalisedValue, Problem, problem, unreadable
from penstock.catalog.values.units import unit_of

MAX_LENGTH = 300
# `n. c.`, `P.O.A.`
MAX_ABBREVIATION = 9
_ABBREVIATION_MARKS = re.compile(r"[\s.!*]+")
# Unknown words in a text with a currency; a sentence has more.
MAX_STRANGE_WORDS = 8

_PLAIN = re.compile(r"([0-9]{1,12})(?:[.,]([0-9]{1,2}))?")
_SIMPLE = re.compile(
    r"(?P<before>[^\W\d_]{0,3}[^\w\s.,'+()-]?\.?)\s?"
    r"(?P<number>[0-9](?:[0-9.,' \u00a0\u202f]{0,20}[0-9])?)\s?"
    r"(?P<after>[^\W\d_]{1,3}\.?|[^\w\s.,'+()-])?"
)
_ONE_DECIMAL = re.compile(r"[0-9]{1,6}\.[1-9]")
_CENTS = re.compile(r"([1-9][0-9]{0,11}|0)[.,]([0-9]{2})")
_NUMBERS = re.compile(r"[0-9](?:[0-9.,' ]*[0-9])?(?:[.,](?:-{1,2}|(?![^\W_])))?|[.,][0-9]{1,4}")
_EXPONENT = re.compile(r"[0-9](?:[.,][0-9]{1,16})?[eE][+-]?[0-9]{1,2}")
_WORD = re.compile(r"[^\W\d_]+")
_THREE_PLACES = frozenset(("BHD", "IQD", "JOD", "KWD", "LYD", "OMR", "TND"))


# `12,50 -5 %`: it is unclear whether the price is before or after the discount.
_PERCENT_OFF = re.compile(
    r"[0-9]\s{0,2}(?:[€$£₽₴₺]|[^\W\d_]{1,3})?\s{0,2}[-–−]\s?[0-9]{1,2}(?:[.,][0-9]{1,2})?\s?%"
)
_PERCENT = re.compile(r"(?<![0-9.,])[-–−]?\s?([0-9]{1,2}(?:[.,][0-9]{1,2})?)\s?%")
# `250,50 %` is neither a price nor a rate of tax.
_LARGE_PERCENT = re.compile(r"[0-9]{3}(?:[.,][0-9]{1,2})?\s?%")
# `35€99` and `35€ 99`; `35 € 99` only if that is the whole text, since it may be two numbers.
_CURRENCY_AS_MARK = re.compile(
    r"(?<![0-9.,])([0-9]{1,7})([€$£₽₴₺])\s?([0-9]{2})(?![0-9.,]|\s?[€$£₽₴₺])"
)
# `1 299:50 kr`: Swedish prices have a colon before the cents. A single tier is not written so.
_COLON_AS_MARK = re.compile(
    r"([0-9][0-9 ]{0,9}):([0-9]{2})(?: ?(?P<crowns>kr|sek)\.?)?", re.IGNORECASE
)
# `75¢`, `99 ct`, `99p`: the word means hundredths of a currency.
_HUNDREDTHS = re.compile(
    rf"(?P<number>[0-9]{{1,4}}(?:[.,][0-9]{{1,2}})?)\s?(?P<word>{words.HUNDREDTHS_WORDS})\.?",
    re.IGNORECASE,
)
# `12 zł 50 gr`, `£12 10p`
_WITH_HUNDREDTHS = re.compile(
    rf"(?P<before>[^\W\d_]{{1,3}} ?|[€$£])?(?P<whole>[0-9]{{1,7}}) ?"
    rf"(?P<after>[^\W\d_]{{1,3}}|[€$£])? ?(?P<cents>[0-9]{{2}}) ?(?:{words.HUNDREDTHS_WORDS})\.?",
    re.IGNORECASE,
)
_SPACED_CURRENCY_AS_MARK = re.compile(r"([0-9]{1,5}) ([€$£₽₴₺]) ?([0-9]{2})")
# A tax rate, or a discount as in `-20% 15,99 €` and `15,99 € (20% off)`.
_TAX_RATE = re.compile(
    rf"(?<![0-9.,])(?:-\s?)?[0-9]{{1,2}}(?:[.,][0-9]{{1,2}})? ?% ?(?:{words.PERCENT_WORDS})?",
    re.IGNORECASE,
)
# A letter in the place of a digit, as in `12,9O`, `1O,50` and `l2,50`, or inside a number.
_LETTER_AS_DIGIT = re.compile(
    r"[0-9][.,]?\s?[OoQDIl|ОоΟο]{1,3}(?![^\W\d_])(?!\s{0,2}[0-9])"
    r"|(?<![^\W\d_])[OoQDIl|ОоΟο]{1,3}[.,]?[0-9]"
    r"|[0-9][^\W\d_][0-9]"
)
# `A12` is a code.
_LETTER_AND_NUMBER = re.compile(r"\s?[^\W\d_][0-9]")
# Replaces a removed currency, so that "3,49 zł 1,75 zł" stays two numbers.
_CURRENCY_STOOD = "¤"


class Price(NamedTuple):
    """Amounts are plain decimal text. ``amount`` is None for a price on request."""

    amount: str | None
    currency: str | None = None
    unit: str | None = None
    tax_included: bool | None = None
    upper: str | None = None
    tiers: tuple[Tier, ...] = ()


@dataclass(frozen=True, slots=True)
class PriceStyle:
    """Defaults of the column: its decimal mark, and what applies to cells that do not say it."""

    decimal: DecimalStyle | None = None
    currency: str | None = None
    tax_included: bool | None = None
    unit: str | None = None


UNKNOWN = PriceStyle()


def read_price(text: str, style: PriceStyle = UNKNOWN) -> NormalisedValue:
    match = _PLAIN.fullmatch(text)
    if match is not None:
        head, tail = match.groups()
        if len(head) > 1 and head[0] == "0":
            head = head.lstrip("0") or "0"
        amount = format_amount(f"{head}.{tail}" if tail else head, places(style.currency))
        return NormalisedValue(
            Price(amount, style.currency, style.unit, style.tax_included), "price"
        )
    match = _SIMPLE.fullmatch(text) if len(text) < 40 else None
    if match is not None:
        simple = _read_simple(match, text, style)
        if simple is not None:
            return simple
    if len(text) <= MAX_ABBREVIATION and _ABBREVIATION_MARKS.sub("", text).casefold() in (
        words.NOT_NAMED
    ):
        return _on_request()
    return EMPTY if is_empty_cell(text) else _read_any(text, style)


def _on_request() -> NormalisedValue:
    return NormalisedValue(Price(None), "price_on_request", 1.0, (problem("PRICE_ON_REQUEST"),))


def _read_simple(match: re.Match[str], text: str, style: PriceStyle) -> NormalisedValue | None:
    """A number with a currency before or after it, the form of most prices."""
    before, after = match["before"], match["after"]
    if before and after:
        return None
    found = currency_of(before or after or "", style.currency)
    if found is None:
        if before or after:
            return None
        return _read_bare(match["number"], text, style)
    body = match["number"]
    plain = _CENTS.fullmatch(body)
    is_yuan = found.currency == "JPY" and found.confidence < 0.9
    if is_yuan and (plain is not None or _ONE_DECIMAL.fullmatch(body)):
        return None  # Yen have no cents, so `¥12.50` are yuan.
    if plain is not None:
        amount = f"{plain[1]}.{plain[2]}"
        price = Price(
            amount
            if places(found.currency) == 2
            else format_amount(amount, places(found.currency)),
            found.currency,
            style.unit,
            style.tax_included,
        )
        return NormalisedValue(price, "price_with_currency", found.confidence)
    number = _number(body, style, found.currency)
    if number is None:
        return None
    return NormalisedValue(
        Price(
            format_amount(number.text, places(found.currency)),
            found.currency,
            style.unit,
            style.tax_included,
        ),
        "price_with_currency",
        min(found.confidence, number.confidence),
        ambiguity(text, number),
    )


def _read_bare(body: str, text: str, style: PriceStyle) -> NormalisedValue | None:
    number = _number(body, style, style.currency)
    if number is None:
        return None
    price = Price(
        format_amount(number.text, places(style.currency)),
        style.currency,
        style.unit,
        style.tax_included,
    )
    rule = number.rule.replace("number", "price")
    return NormalisedValue(price, rule, number.confidence, ambiguity(text, number))


def _number(text: str, style: PriceStyle, currency: str | None) -> Number | None:
    number = read_number(text, style.decimal, three_are_decimals=currency in _THREE_PLACES)
    if number is not None and number.other is not None and places(currency) == 0:
        # In a currency without decimals three digits after a mark are thousands.
        return number._replace(other=None, rule="number", confidence=1.0)
    return number


def _read_any(text: str, style: PriceStyle) -> NormalisedValue:
    if text.strip().casefold() in CELL_ERRORS:
        return unreadable("CELL_ERROR", text)
    if len(text) > MAX_LENGTH:
        return unreadable("PRICE_UNREADABLE", text)
    body = plain_text(text)
    if not any(c.isdecimal() for c in body):
        return _read_words(body, text, style)
    style = _with_yen_or_yuan(body, style)
    cents = _read_hundredths(body, style) or _read_colon(body, style)
    if cents is not None:
        return cents
    tiers = read_tiers(body, style.decimal, style.currency)
    if tiers is not None:
        steps, named = tiers
        prices = tuple(step for step in steps if not isinstance(step, Discount))
        # What comes off a price is none.
        if len(prices) < len(steps):
            return unreadable("PRICE_UNREADABLE", text)
        return _tiered((prices, named), style)
    reduced = _read_reduced(body, style) if "%" in body else None
    if reduced is not None:
        return reduced
    if "%" in body and (_PERCENT_OFF.search(body) or _LARGE_PERCENT.search(body)):
        return unreadable("PRICE_UNREADABLE", text)
    tax, body = _tax(body, style)
    unit, body = _per_unit(_with_mark(body))
    if unit is None:
        unit, body = _per_count(body)
    cents = _read_hundredths(body.strip(), replace(style, unit=unit)) if unit else None
    if cents is not None or _is_not_plain(body):
        return cents or unreadable("PRICE_UNREADABLE", text)
    try:
        return _read_amounts(body, text, style, tax, unit)
    except UnclearCurrencyError:
        return unreadable("PRICE_UNREADABLE", text)


def _with_yen_or_yuan(body: str, style: PriceStyle) -> PriceStyle:
    """The currency of `¥` by words for units and tax, which are removed later."""
    if style.currency is not None or YEN_SIGNS.isdisjoint(body):
        return style
    return replace(style, currency=currency_of_yen_sign(body))


def _read_reduced(body: str, style: PriceStyle) -> NormalisedValue | None:
    """`20,00 € -27 % 14,68 €`, `was $50 now $40, save 20%`: the percentage tells which of the
    amounts is the price."""
    percents = [match[1] for match in _PERCENT.finditer(body)]
    tax, body = _tax(_PERCENT.sub(" ", body), style)
    if len(percents) != 1 or names_several(body, style.currency):
        return None
    try:
        found, rest = split_currency(body, style.currency, _CURRENCY_STOOD)
    except UnclearCurrencyError:
        return None
    currency = found.currency if found else style.currency
    amounts = [
        Decimal(number.text)
        for match in _NUMBERS.finditer(rest)
        if has_currency(rest, match.span(), _CURRENCY_STOOD)
        and (number := _number(match[0].strip().rstrip(".,"), style, currency)) is not None
    ]
    if len(amounts) < 2:
        return None
    amount = reduced_amount(amounts, Decimal(percents[0].replace(",", ".")))
    if amount is None:
        return None
    written = format_amount(str(amount), places(currency))
    price = Price(written, currency, style.unit, tax, None)
    return NormalisedValue(price, "price", found.confidence if found else 1.0, ())


def _with_mark(body: str) -> str:
    """`35€99` is 35.99: the currency is the decimal mark."""
    spaced = _SPACED_CURRENCY_AS_MARK.fullmatch(body)
    if spaced is not None:
        return f"{spaced[1]}.{spaced[3]} {spaced[2]}"
    return _CURRENCY_AS_MARK.sub(r"\1.\3 \2", body)


def _read_colon(body: str, style: PriceStyle) -> NormalisedValue | None:
    """`299:50 kr` is 299.50; None if the text has no such colon."""
    match = _COLON_AS_MARK.fullmatch(body)
    if match is None:
        return None
    return read_price(f"{match[1]}.{match[2]} {match['crowns'] or ''}".strip(), style)


def _read_hundredths(body: str, style: PriceStyle) -> NormalisedValue | None:
    """`99 ct` is 0.99, `12 zł 50 gr` 12.50; None if the text is not such a price."""
    match = _WITH_HUNDREDTHS.fullmatch(body)
    if match is not None:
        found = currency_of((match["before"] or match["after"] or "").strip(), style.currency)
        if found is None:
            return None
        amount = f"{match['whole']}.{match['cents']}"
        price = Price(amount, found.currency, style.unit, style.tax_included)
        return NormalisedValue(price, "price_with_currency", found.confidence)
    match = _HUNDREDTHS.fullmatch(body)
    number = read_number(match["number"], style.decimal) if match is not None else None
    if match is None or number is None:
        return None
    usual = words.HUNDREDTHS[match["word"].casefold()]
    if style.currency not in usual and unit_of(match["word"]) is not None:
        return None  # `50 gr` are grams, except in a column of złoty.
    currency = style.currency if style.currency in usual else usual[0]
    amount = format_amount(str(number.decimal / 100), places(currency))
    return NormalisedValue(
        Price(amount, currency, style.unit, style.tax_included), "price_hundredths", 0.8
    )


def _read_words(body: str, text: str, style: PriceStyle) -> NormalisedValue:
    """No digit at all: on request, free, or nothing of the kind."""
    low = body.casefold().strip(" .!*")
    if low in words.FREE:
        amount = format_amount("0", places(style.currency))
        price = Price(amount, style.currency, style.unit, style.tax_included)
        return NormalisedValue(price, "price_free", 0.8, (problem("PRICE_FREE", value=text),))
    if words.ON_REQUEST.search(body):
        return _on_request()
    return unreadable("PRICE_UNREADABLE", text)


def _tiered(tiers: tuple[tuple[Tier, ...], str | None], style: PriceStyle) -> NormalisedValue:
    steps, currency = tiers
    price = Price(
        steps[0].amount, currency or style.currency, style.unit, style.tax_included, None, steps
    )
    return NormalisedValue(price, "price_tiers", 0.9)


def _tax(body: str, style: PriceStyle) -> tuple[bool | None, str]:
    # "inkl. 19% MwSt" contains a number that is not a price.
    body = _TAX_RATE.sub("", body, count=2)
    if words.TAX_EXCLUDED.search(body):
        return False, words.TAX_EXCLUDED.sub(" ", body)
    if words.TAX_INCLUDED.search(body):
        return True, words.TAX_INCLUDED.sub(" ", body)
    return style.tax_included, body


def _per_unit(body: str) -> tuple[str | None, str]:
    """The unit of the price: `/kg`, `pro 100 g`, `each`."""
    for match in words.PER_UNIT.finditer(body):
        unit = unit_of(match["unit"]) or unit_of(match["unit"].replace(".", "").replace(" ", ""))
        if unit is not None:
            rest = body[: match.start()] + " " + body[match.end() :]
            amount = read_number(match["amount"]) if match["amount"] else None
            shown = unit if amount is None or amount.text == "1" else f"{amount.text} {unit}"
            return shown, rest
    return (
        ("piece", re.sub(r"(?i)\beach\b|\bea\b", " ", body))
        if re.search(r"(?i)\b(each|ea)\b", body)
        else (None, body)
    )


def _per_count(body: str) -> tuple[str | None, str]:
    """The number of pieces that a price is for: `/ 100`, `je 1000`. After a slash only a power of
    ten is such a number, and only if the text cannot be a range of prices."""
    match = words.PER_COUNT.search(body)
    if match is None:
        return None, body
    before = _NUMBERS.search(body[: match.start()])
    if before is not None and not match["word"]:
        written = before.group()
        has_cents = _CENTS.fullmatch(written) is not None
        is_power = match["count"].strip("0") == "1"
        if not is_power or not (has_cents or _exceeds(written, match["count"])):
            return None, body
    rest = body[: match.start()] + " " + body[match.end() :]
    if len(_NUMBERS.findall(rest)) != 1:
        return None, body
    count = int(match["count"])
    return ("piece" if count == 1 else f"{count} piece"), rest


def _exceeds(written: str, other: str) -> bool:
    number, than = read_number(written), read_number(other)
    return number is not None and than is not None and number.decimal > than.decimal


def _read_amounts(
    body: str, text: str, style: PriceStyle, tax: bool | None, unit: str | None
) -> NormalisedValue:
    found, rest = split_currency(body, style.currency, _CURRENCY_STOOD)
    exponent = _EXPONENT.fullmatch(rest.strip())
    spans = [exponent.span()] if exponent else [m.span() for m in _NUMBERS.finditer(rest)]
    if exponent:
        rest = rest.strip()
    if not spans or not _is_price_text(rest, spans, currency_known=found is not None):
        return unreadable("PRICE_UNREADABLE", text)
    currency = found.currency if found else style.currency
    spans, several = _candidates(rest, spans, names_several(body, style.currency))
    number = _number(_signed(rest, spans, whole=unit is None), style, currency) if spans else None
    if number is None:
        return unreadable("PRICE_UNREADABLE", text)
    problems: list[Problem] = list(ambiguity(text, number))
    confidence = min(number.confidence, found.confidence if found else 1.0)
    rule = number.rule.replace("number", "price")
    upper = _upper(rest, spans, style, currency) if len(spans) > 1 and not several else None
    if len(spans) > 1 or several:
        rule = "price_range" if upper else "price_first_of_several"
        problems.append(problem("PRICE_RANGE" if upper else "PRICE_SEVERAL", value=text))
        confidence = min(confidence, 0.7 if upper else 0.5)
    elif words.FROM.search(rest):
        rule, confidence = "price_from", min(confidence, 0.7)
        problems.append(problem("PRICE_FROM", value=text))
    if number.text.startswith("-"):
        problems.append(problem("PRICE_NEGATIVE", value=text))
        rule = "price_negative"
    amount = format_amount(number.text, places(currency))
    price = Price(amount, currency, unit or style.unit, tax, upper)
    return NormalisedValue(price, rule, confidence, tuple(problems))


def _is_price_text(rest: str, spans: list[Span], *, currency_known: bool) -> bool:
    return not (
        _run_together(rest, spans)
        or _is_code(rest, spans)
        or _is_fraction(rest, spans, currency_known=currency_known)
        or (_WORD.search(rest) and _LETTER_AS_DIGIT.search(rest))
        or (not currency_known and _LETTER_AND_NUMBER.match(rest))
        or not _words_are_known(rest, currency_known=currency_known)
    )


def _candidates(rest: str, spans: list[Span], currencies: bool) -> tuple[list[Span], bool]:
    """The amounts that may be the price, and whether others were left out that may be as well.
    ``currencies``: the text names several, of which the first is that of the first amount."""
    current = current_amounts(rest, spans, _CURRENCY_STOOD)
    if currencies:
        return (spans[:1], True) if current[:1] == spans[:1] else ([], True)
    if len(current) < 2:
        return current, False
    # `MOQ 100: $12.50`: a number without a currency beside one with a currency is no price.
    with_currency = [span for span in current if has_currency(rest, span, _CURRENCY_STOOD)]
    if not with_currency or current[0] in with_currency or _is_range(rest, current):
        return current, False
    return with_currency, True


def _is_not_plain(body: str) -> bool:
    """`3 for £5`, but not `van € 29,95 voor € 19,95`."""
    for match in words.NOT_PLAIN.finditer(body):
        before = body[: match.start() + 1].rstrip("0123456789.,' ")
        if not (match["several"] and any(m.end() == len(before) for m in TOKEN.finditer(before))):
            return True
    return False


def _run_together(text: str, spans: list[Span]) -> bool:
    """`.75,333`: two numbers without a separator are not numbers."""
    return any(text[a[1] : b[0]] == "" for a, b in pairwise(spans))


def _is_code(text: str, spans: list[Span]) -> bool:
    """`6204-2RS`, `2024-12`: a dash between a number and a lower one, without spaces."""
    return any(
        text[a[1] : b[0]] == "-" and _exceeds(text[a[0] : a[1]], text[b[0] : b[1]])
        for a, b in pairwise(spans)
    )


def _is_fraction(text: str, spans: list[Span], *, currency_known: bool) -> bool:
    """`523,00 / 50`: a price for an unknown unit, since both ends of a range have cents. `12/2026`
    and `15/01/2026` without a currency are no prices at all."""
    if len(spans) == 3 and not currency_known:
        return all(text[a[1] : b[0]].strip() == "/" for a, b in pairwise(spans))
    if len(spans) != 2 or "/" not in text[spans[0][1] : spans[1][0]]:
        return False
    first, second = (text[start:end].strip() for start, end in spans)
    if not currency_known and first.isdecimal():
        return True
    return _CENTS.fullmatch(first) is not None and second.isdecimal()


def _signed(text: str, spans: list[Span], *, whole: bool) -> str:
    """The first number with its minus or brackets. A dash after another number is not a minus, and
    brackets round more than a number (not ``whole``) neither."""
    start, end = spans[0]
    number = text[start:end].strip().rstrip(".,")
    before = text[:start].rstrip(_CURRENCY_STOOD + " ")
    after = text[end:].strip(_CURRENCY_STOOD + " ")
    if before.endswith("(") and after.startswith(")") and len(spans) == 1 and whole:
        return f"({number})"
    if before.strip(_CURRENCY_STOOD + " ") == "-":
        return "-" + number
    if after == "-" and len(spans) == 1:
        return number + "-"
    return number


def _is_range(text: str, spans: list[Span]) -> bool:
    if len(spans) != 2:
        return False
    between = text[spans[0][1] : spans[1][0]].replace(_CURRENCY_STOOD, " ")
    return words.BETWEEN.match(between) is not None


def _upper(text: str, spans: list[Span], style: PriceStyle, currency: str | None) -> str | None:
    """The higher end, if two numbers are a range."""
    (_, end), (start, stop) = spans[0], spans[1]
    if not _is_range(text, spans):
        return None
    low = _number(text[spans[0][0] : end], style, currency)
    high = _number(text[start:stop], style, currency)
    if low is None or high is None or high.decimal <= low.decimal:
        return None
    return format_amount(high.text, places(currency))


def _words_are_known(text: str, *, currency_known: bool) -> bool:
    """`M8 screw` contains a number but is not a price. With a currency, other words are allowed."""
    if not _WORD.search(text):
        return True
    for phrases in (words.FROM, words.NOW, words.FORMER):
        text = phrases.sub(" ", text)
    strange = [w for w in _WORD.findall(text) if w.casefold() not in words.LABELS]
    return len(strange) <= (MAX_STRANGE_WORDS if currency_known else 0)
