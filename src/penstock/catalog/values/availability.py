"""Availability words, stock counts and lead times, alone or together in one cell."""

from __future__ import annotations

import re
from typing import NamedTuple

from penstock.catalog.values.availability_words import (
    DAY_WORDS,
    FEW_WORDS,
    HOUR_WORDS,
    IMMEDIATELY,
    JOINED_PHRASES,
    MANY_WORDS,
    NEGATIONS,
    NEGATIONS_BEFORE,
    WORDS,
)
from penstock.catalog.values.dates import read_date
from penstock.catalog.values.numbers import (
    DecimalStyle,
    is_empty_cell,
    read_count,
    read_number,
    to_ascii,
)
from penstock.catalog.values.result import EMPTY, NormalisedValue, problem, unreadable
from penstock.catalog.values.unit_names import KINDS
from penstock.catalog.values.units import unit_of
from penstock.catalog.word_lists import words

MAX_LENGTH = 120
AT_ONCE_DAYS = 7

_COUNT = re.compile(
    r"(?P<sign>[<>≥≤~]=?)?\s{0,2}"
    r"(?P<number>[0-9]{1,3}(?:[., '][0-9]{3}){1,3}|[0-9]{1,9}(?:[.,]0{1,3})?)\s{0,2}"
    r"(?P<more>\+)?\s{0,2}(?P<unit>[^\W\d_]{1,12}\.?)?"
)
_LEAD = re.compile(
    r"(?P<low>[0-9]{1,3})(?:\s{0,2}(?:-|to|bis|à|a|tot|até|/)\s{0,2}(?P<high>[0-9]{1,3}))?\s{0,2}"
    r"(?P<unit>[^\W\d_]{1,12})\.?"
)
_DATE = re.compile(
    r"[0-9]{1,2}\.[0-9]{1,2}\.(?:20)?[0-9]{2}|20[0-9]{2}-[0-9]{2}-[0-9]{2}"
    r"|[0-9]{1,2}/[0-9]{1,2}/20[0-9]{2}"
)
_WORDS = re.compile(r"[^\W\d_]+(?:-[^\W\d_]+)*")
_SPACE = re.compile(r"[\s_]+")
_EDGES = " .!*:,;()-–"


class Availability(NamedTuple):
    """``status`` is None if the cell contains only a lead time."""

    status: str | None
    quantity: int | None = None
    lead_days: int | None = None
    date: str | None = None

    def status_with(self, quantity: int | None) -> str:
        """The status, or the one that quantity and lead time imply."""
        if self.status is not None:
            return self.status
        if quantity is not None:
            return "in_stock" if quantity else "backorder"
        return "in_stock" if (self.lead_days or 0) <= AT_ONCE_DAYS else "backorder"


def read_availability(text: str, style: DecimalStyle | None = None) -> NormalisedValue:
    """Status, quantity and lead time in one cell: `12 in stock`, `lieferbar in 2-3 Tagen`."""
    word = _SPACE.sub(" ", text.strip().casefold()) if len(text) <= MAX_LENGTH else ""
    status = WORDS.get(word) or WORDS.get(word.strip(_EDGES))
    if status is not None:
        return NormalisedValue(Availability(status), "availability_word")
    if is_empty_cell(text):
        return EMPTY
    word = to_ascii(word)
    if negative := _negative(word):
        return negative
    word = word.rsplit("schema.org/", 1)[-1].strip(_EDGES)
    if not word:
        return unreadable("AVAILABILITY_UNKNOWN", text)
    status = WORDS.get(word)
    if status is not None:
        return NormalisedValue(Availability(status), "availability_word")
    return _read_count(word, style) or _read_mixed(word) or unreadable("AVAILABILITY_UNKNOWN", text)


def _read_count(word: str, style: DecimalStyle | None) -> NormalisedValue | None:
    """A number alone, or with a unit of pieces, is the stock."""
    match = _COUNT.fullmatch(word)
    if match is None:
        return None
    unit = match["unit"]
    if unit and KINDS.get(unit_of(unit) or "") not in ("count", "package"):
        return None
    number = read_number(match["number"], style)
    if number is None:
        return None
    quantity = int(number.decimal)
    below = match["sign"] in ("<", "<=", "≤")
    status = "limited" if below and quantity else "in_stock" if quantity else "out_of_stock"
    exact = not match["sign"] and not match["more"]
    if below:
        return NormalisedValue(Availability(status), "availability_below", 0.8)
    return NormalisedValue(
        Availability(status, quantity), "availability_count", 1.0 if exact else 0.9
    )


def _negative(word: str) -> NormalisedValue | None:
    """Some stock systems show sold but undelivered goods as a negative stock."""
    if word.startswith("-") and word[1:].isdecimal() and len(word) < 10:
        return NormalisedValue(Availability("out_of_stock", 0), "availability_negative", 0.8)
    return None


QUANTITY_RULES = words("number number_by_column number_ambiguous stock_negative stock_sum")
_PLACES = re.compile(r"[^\s,;|=:]{1,40}\s?[=:]\s?-?[0-9]{1,9}(?:[.,]0{1,4})?")


def read_quantity(text: str, style: DecimalStyle | None = None) -> NormalisedValue:
    """A stock: a number, or words about availability. The value is a count, or an
    `Availability` if there is no count."""
    if text.isdecimal() and text.isascii() and len(text) < 16:
        return NormalisedValue(int(text), "number")
    found = read_count(text, style)
    if found.value is not None or not found.problems:
        return found
    if found.problems[0].code == "NUMBER_NEGATIVE":
        return NormalisedValue(0, "stock_negative", 0.8, (problem("STOCK_NEGATIVE", value=text),))
    if found.problems[0].code != "NUMBER_UNREADABLE":
        return found
    places = re.split(r"\s?[,;|]\s?", text.strip())
    if all(map(_PLACES.fullmatch, places)):
        # `north=5,south=0`: the stocks of several places are added up.
        counts = [re.split("[=:]", place)[1].strip() for place in places]
        stocks = [read_number(count, style) for count in counts]
        return NormalisedValue(
            sum(max(0, int(one.decimal)) for one in stocks if one), "stock_sum", 0.8
        )
    told = read_availability(text, style)
    if told.value is None:
        return found
    return told if told.value.quantity is None else told._replace(value=told.value.quantity)


def _read_mixed(word: str) -> NormalisedValue | None:
    status = _phrase_in(word)
    if date := _date_in(word):
        # A future date means that it is not in stock.
        later = status if status in ("preorder", "out_of_stock") else "backorder"
        return NormalisedValue(Availability(later, None, None, date), "availability_from_date", 0.8)
    lead = _lead_in(word)
    if lead is not None:
        found = Availability(status, None, lead)
        return NormalisedValue(found, "availability_lead_time", 0.9 if status else 0.7)
    counts = [int(n) for n in re.findall(r"[0-9]{1,7}", word)]
    if status is None:
        return _read_counted(word, counts)
    if len(counts) == 1 and status in ("in_stock", "limited"):
        return NormalisedValue(Availability(status, counts[0]), "availability_word_and_count", 0.9)
    return NormalisedValue(Availability(status), "availability_phrase", 0.8)


def _date_in(word: str) -> str | None:
    match = _DATE.search(word)
    found = read_date(match.group()).value if match else None
    return str(found) if found else None


def _read_counted(word: str, counts: list[int]) -> NormalisedValue | None:
    """`noch 3 Stück`, `more than 10`: a count with words that qualify it."""
    around = set(_WORDS.findall(word))
    units = {one for one in around if KINDS.get(unit_of(one) or "") in ("count", "package")}
    if len(counts) != 1 or not around or around - units - FEW_WORDS - MANY_WORDS:
        return None
    status = "limited" if around & FEW_WORDS else "in_stock"
    return NormalisedValue(
        Availability(status if counts[0] else "out_of_stock", counts[0]), "availability_count", 0.8
    )


def _phrase_in(word: str) -> str | None:
    """The status of the longest known phrase in the text, reversed by a "not" outside it."""
    words = _WORDS.findall(word)[:12]
    for length in range(min(5, len(words)), 0, -1):
        told: str | None = None
        for start in range(len(words) - length + 1):
            phrase = " ".join(words[start : start + length])
            if phrase in WORDS and (length > 1 or len(phrase) > 3):
                status = WORDS[phrase]
                around = words[:start] + words[start + length :]
                if status in ("in_stock", "limited") and NEGATIONS.intersection(around):
                    return "out_of_stock"
                # `lager slut`: a word that says there is none outweighs one for the stock.
                told = status if told is None or status == "out_of_stock" else told
        if told is not None:
            return told
    return None if word.isascii() else _joined_phrase_in(word)


def _joined_phrase_in(word: str) -> str | None:
    """The status of the longest known phrase of a script without spaces: `現在、在庫切れです`."""
    for phrase in JOINED_PHRASES:
        before, found, _ = word.partition(phrase)
        if found:
            denied = before.rstrip().endswith(NEGATIONS_BEFORE)
            status = WORDS[phrase]
            return "out_of_stock" if denied and status in ("in_stock", "limited") else status
    return None


def _lead_in(word: str) -> int | None:
    for match in _LEAD.finditer(word):
        days = _days(int(match["high"] or match["low"]), match["unit"])
        if days is not None:
            return days
    return None


def _days(amount: int, unit: str) -> int | None:
    if unit in HOUR_WORDS:
        return -(-amount // 24)
    factor = DAY_WORDS.get(unit)
    return None if factor is None else amount * factor


def read_lead_time(text: str, unit: str | None = None) -> NormalisedValue:
    """Days until delivery; the upper end of `2-3 weeks`. ``unit`` comes from the header. Words that
    tell no days but a status, such as `on order`, are an `Availability`."""
    factor = 7 if unit == "week" else 1
    if text.isdecimal() and text.isascii() and len(text) < 5:
        return NormalisedValue(-(-int(text) // 24) if unit == "h" else int(text) * factor, "days")
    if is_empty_cell(text):
        return EMPTY
    if len(text) > MAX_LENGTH:
        return unreadable("LEAD_TIME_UNREADABLE", text)
    word = _SPACE.sub(" ", to_ascii(text).strip().casefold())
    days = _lead_in(word)
    if days is not None:
        return NormalisedValue(days, "lead_time", 0.95)
    if any(part in IMMEDIATELY for part in word.split()) or WORDS.get(word) == "in_stock":
        return NormalisedValue(0, "lead_time_word", 0.9)
    bare = re.fullmatch(r"([0-9]{1,3})\s{0,2}[-/]\s{0,2}([0-9]{1,3})", word)
    if bare is not None:
        return NormalisedValue(int(bare[2]) * factor, "lead_time_days", 0.8)
    number = read_number(word)
    if number is not None and number.decimal == int(number.decimal) and number.decimal >= 0:
        return NormalisedValue(int(number.decimal) * factor, "days", 0.9)
    if word in WORDS:
        return NormalisedValue(Availability(WORDS[word]), "lead_time_status", 0.8)
    return unreadable("LEAD_TIME_UNREADABLE", text)
