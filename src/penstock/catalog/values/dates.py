"""Dates: ISO, day or month first, month names in twenty languages, weeks, spreadsheet serials."""

from __future__ import annotations

import re
from datetime import date, datetime, timedelta
from typing import Literal

from penstock.catalog.values.numbers import is_empty_cell, to_ascii
from penstock.catalog.values.result import EMPTY, NormalisedValue, problem, unreadable
from penstock.catalog.word_lists import by_word, load, words

DateOrder = Literal["dmy", "mdy"]

MAX_LENGTH = 60

_ISO = re.compile(r"((?:19|20)[0-9]{2})-([0-9]{2})-([0-9]{2})")
_COMPACT = re.compile(r"((?:19|20)[0-9]{2})([01][0-9])([0-3][0-9])")
_YEAR_FIRST = re.compile(r"((?:19|20)[0-9]{2})[./ -]([0-9]{1,2})[./ -]([0-9]{1,2})\.?")
NUMERIC = re.compile(r"([0-9]{1,2})([./ -])([0-9]{1,2})[./ -]((?:19|20)?[0-9]{2})")
_MONTH = re.compile(
    r"(?:([0-9]{1,2})[./-]((?:19|20)[0-9]{2})|((?:19|20)[0-9]{2})[./-]([0-9]{1,2}))"
)
_SERIAL = re.compile(r"([2-7][0-9]{4})(?:[.,]([0-9]{1,15}))?")
_WEEK = re.compile(
    r"(?:kw|week|wk|semaine|sem|semana|settimana|sett|w)\.? ?"
    r"([0-9]{1,2}) ?[/. -] ?((?:20)?[0-9]{2})",
    re.I,
)
_ISO_WEEK = re.compile(r"(20[0-9]{2})-?W([0-9]{2})")
_CLOCK = re.compile(
    r"[T ,]{1,3}(?:um |at |à |a las )?((?:[01]?[0-9])|2[0-3])[:h]([0-5][0-9])"
    r"(?::([0-5][0-9])(?:[.,][0-9]{1,9})?)?(?: ?([ap])\.?m\.?)?(?: ?uhr)?"
    r"( ?(?:Z|UTC|GMT|[+-][0-9]{2}:?[0-9]{2}))?$",
    re.I,
)
_WORDS = re.compile(r"[^\W\d_]+|[0-9]+")
_FIRST_SERIAL = date(1899, 12, 30)

_LISTS = load("dates")
MONTHS = {name: int(number) for name, number in by_word(_LISTS["months"]).items()}
_FILLERS = words(_LISTS["fillers"])


# Words for "now" instead of a date.
_AT_ONCE = words(_LISTS["now"])


def read_date(text: str, order: DateOrder | None = None) -> NormalisedValue:
    """A day as `2026-11-30`, a month as `2026-11` or a week as `2026-W48`."""
    if len(text) == 10 and (match := _ISO.fullmatch(text)):
        return _day(match[1], match[2], match[3], text, "date_iso")
    if is_empty_cell(text) or text.strip() in ("0", "0000-00-00", "0000-00-00 00:00:00"):
        return EMPTY
    if len(text) > MAX_LENGTH:
        return unreadable("DATE_UNREADABLE", text)
    clock = _CLOCK.search(whole := to_ascii(text).strip())
    if clock is not None and clock[4] and order is None:
        # A time with am or pm implies that the month comes first.
        order = "mdy"
    return _read_day(_CLOCK.sub("", whole).strip(), text, order)


def read_datetime(text: str, order: DateOrder | None = None) -> NormalisedValue:
    """Like `read_date`, with the time of day if there is one."""
    if len(text) > MAX_LENGTH:
        return unreadable("DATE_UNREADABLE", text)
    if is_empty_cell(text):
        return EMPTY
    stripped = text.strip()
    if len(stripped) > 10 and stripped[:4].isdecimal():
        try:
            return NormalisedValue(_iso_time(datetime.fromisoformat(stripped)), "date_iso")
        except ValueError:
            pass  # not ISO: try the other forms
    day = read_date(text, order)
    clock = _CLOCK.search(to_ascii(stripped))
    if day.value is None or clock is None or len(day.value) != 10:
        return day
    hour = int(clock[1]) % 12 + 12 * (clock[4] in "pP") if clock[4] else int(clock[1])
    if hour > 23:
        return unreadable("DATE_UNREADABLE", text)
    zone = (clock[5] or "").strip().upper().replace("UTC", "Z").replace("GMT", "Z")
    zone = zone[:3] + ":" + zone[-2:] if len(zone) == 5 else zone
    return day._replace(value=f"{day.value}T{hour:02}:{clock[2]}:{clock[3] or '00'}{zone}")


def _iso_time(moment: datetime) -> str:
    kind = "milliseconds" if moment.microsecond else "seconds"
    return moment.isoformat(timespec=kind).replace("+00:00", "Z")


def _read_day(body: str, text: str, order: DateOrder | None) -> NormalisedValue:
    if match := _COMPACT.fullmatch(body) or _YEAR_FIRST.fullmatch(body):
        return _day(match[1], match[2], match[3], text, "date_year_first")
    if match := NUMERIC.fullmatch(body.rstrip(".")):
        return _read_numeric(match, text, order)
    if match := _MONTH.fullmatch(body):
        year, month = (match[2], match[1]) if match[1] else (match[3], match[4])
        return _month(int(year), int(month), text)
    if match := _SERIAL.fullmatch(body):
        day = _FIRST_SERIAL + timedelta(days=int(match[1]))
        return NormalisedValue(day.isoformat(), "date_serial", 0.8)
    if match := _ISO_WEEK.fullmatch(body):
        return _week(int(match[1]), int(match[2]), text)
    if match := _WEEK.fullmatch(body):
        return _week(int(match[2]) % 100 + 2000, int(match[1]), text)
    if _AT_ONCE.issuperset(_WORDS.findall(_without_accents(body))):
        return EMPTY
    return _read_words(body, text)


def _read_numeric(match: re.Match[str], text: str, order: DateOrder | None) -> NormalisedValue:
    first, second, year = int(match[1]), int(match[3]), _full_year(match[4])
    rule = "date_day_first"
    if first > 12 or second > 12:
        # Only one order gives a valid date.
        if second > 12:
            first, second, rule = second, first, "date_month_first"
        return _day(year, second, first, text, rule)
    if order is not None or match[2] == "." or first == second:
        # Dates with dots have the day first.
        if order == "mdy":
            first, second, rule = second, first, "date_month_first"
        return _day(year, second, first, text, rule)
    read = _day(year, second, first, text, "date_ambiguous")
    other = f"{year}-{first:02}-{second:02}"
    if read.value is None:
        return read
    said = problem("DATE_AMBIGUOUS", value=text, one=read.value, other=other)
    return read._replace(confidence=0.5, problems=(said,))


def _full_year(text: str) -> str:
    """Two digits mean 1970 to 2069."""
    if len(text) == 4:
        return text
    return ("20" if int(text) < 70 else "19") + text


def _read_words(body: str, text: str) -> NormalisedValue:
    """`3. März 2026`, `March 3rd, 2026`, `3 de marzo de 2026`, `Mar-26`."""
    month = 0
    numbers: list[str] = []
    for word in _WORDS.findall(body)[:10]:
        if word[0].isdigit():
            numbers.append(word)
            continue
        plain = _without_accents(word)
        if plain in MONTHS and not month:
            month = MONTHS[plain]
        elif plain not in _FILLERS:
            return unreadable("DATE_UNREADABLE", text)
    if not month or not 1 <= len(numbers) <= 2 or any(len(n) not in (1, 2, 4) for n in numbers):
        return unreadable("DATE_UNREADABLE", text)
    if len(numbers) == 1:
        if len(numbers[0]) == 1:
            return unreadable("DATE_UNREADABLE", text)
        return _month(int(_full_year(numbers[0])), month, text)
    day, year = numbers if len(numbers[0]) < 4 else (numbers[1], numbers[0])
    if len(year) not in (2, 4):
        return unreadable("DATE_UNREADABLE", text)
    return _day(_full_year(year), month, day, text, "date_month_name")


_ACCENTS = str.maketrans(
    "äáàâãåąăéèêëęěíìîïıóòôõöőøúùûüůűçćčñńňłľśšșşźżžýřťțďğ",
    "aaaaaaaaeeeeeeiiiiiooooooouuuuuucccnnnllsssszzzyrttdg",
)


def _without_accents(word: str) -> str:
    return word.casefold().translate(_ACCENTS)


def _day(year: str, month: str | int, day: str | int, text: str, rule: str) -> NormalisedValue:
    try:
        found = date(int(year), int(month), int(day))
    except ValueError:
        return unreadable("DATE_UNREADABLE", text)
    return NormalisedValue(found.isoformat(), rule)


def _month(year: int, month: int, text: str) -> NormalisedValue:
    if not 1 <= month <= 12 or not 1900 <= year <= 2100:
        return unreadable("DATE_UNREADABLE", text)
    return NormalisedValue(f"{year}-{month:02}", "date_month", 0.9)


def _week(year: int, week: int, text: str) -> NormalisedValue:
    if not 1 <= week <= 53:
        return unreadable("DATE_UNREADABLE", text)
    return NormalisedValue(f"{year}-W{week:02}", "date_week", 0.9)
