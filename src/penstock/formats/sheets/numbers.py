"""Spreadsheet numbers as text, following their number format where it changes the meaning.

Leading zeros, dates and percentages follow the format; digits that it would only hide are kept.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Mapping
from datetime import date, datetime, timedelta
from decimal import Decimal, InvalidOperation
from functools import lru_cache

GENERAL, DATE, TIME, MOMENT, ELAPSED, PERCENT = "general", "date", "time", "moment", "elapsed", "%"

_BUILT_IN = {
    **dict.fromkeys((9, 10), "0%"),
    **dict.fromkeys((14, 15, 16, 17, *range(27, 32), 36, *range(50, 55), 57, 58), "yyyy-mm-dd"),
    **dict.fromkeys((18, 19, 20, 21, 32, 33, 34, 35, 45, 55, 56), "hh:mm:ss"),
    22: "yyyy-mm-dd hh:mm",
    46: "[h]:mm:ss",
    47: "mm:ss.0",
}
_CURRENCY = re.compile(r"\[\$([^\[\]-]++)(?:-[^\[\]]*+)?\]")
# Format codes for a space as wide as a character, and for a fill character.
_INVISIBLE = re.compile(r"[_*].")
_LITERAL = re.compile(r'"([^"]{1,20})"|\\([^\W\d_])|([€£¥$₹₽₩₺])')
_QUOTED = re.compile(r'"[^"]*"|\\.|_.|\*.')
_COLOURS = re.compile(r"\[(?!h++\]|m++\]|s++\])[^\[\]]*+\]", re.IGNORECASE)
_ELAPSED = re.compile(r"\[(h+|m+|s+)\]", re.IGNORECASE)
_PADDED = re.compile(r'(?:0|"[^"0-9#?]*"|\\[^0-9#?]|[-/ ])+')
_MAX_PLAIN = 1e21
_MAX_WORDS_LENGTH = 40
# Rows inspected for number formats.
ROWS_LOOKED_AT = 30


def built_in_format(number: int) -> str:
    return _BUILT_IN.get(number, "General")


@lru_cache(maxsize=4096)
def kind_of_format(code: str) -> str:
    """The kind of a number format; for a padded one the code itself."""
    first = code.split(";")[0]
    if _ELAPSED.search(first):
        return ELAPSED
    bare = _COLOURS.sub("", _QUOTED.sub("", first)).lower()
    if "general" in bare:
        return GENERAL
    if "%" in bare:
        return PERCENT
    day = bool(re.search(r"[ydgeb年月日]", bare.replace("e+", "").replace("e-", "")))
    clock = bool(re.search(r"[hs時分秒]|am/pm", bare))
    month = "m" in bare and not clock
    if day or month:
        return MOMENT if clock else DATE
    if clock:
        return TIME
    code = _COLOURS.sub("", first)
    if code.count("0") >= 2 and _PADDED.fullmatch(code):
        return code
    return GENERAL


def words_of_format(code: str) -> str:
    """The text that a format adds to a number: `€`, `CHF`, `kg`; may be empty. Built-in formats
    depend on the locale of the reader."""
    first = _INVISIBLE.sub("", code.split(";")[0])
    said = [found[1] for found in _CURRENCY.finditer(first)]
    rest = _CURRENCY.sub("", first)
    said += ["".join(part or "" for part in found.groups()) for found in _LITERAL.finditer(rest)]
    return " ".join(word.strip() for word in said if word.strip())[:_MAX_WORDS_LENGTH]


def words_beside(columns: Mapping[int, Counter[str]]) -> dict[int, str]:
    """The text shown with nearly all numbers of each column."""
    found = {}
    for column, counted in columns.items():
        words, count = counted.most_common(1)[0]
        if words and count >= 0.8 * counted.total():
            found[column] = words
    return found


@lru_cache(maxsize=50_000)
def number_text(text: str, kind: str, date_1904: bool) -> str:
    if kind == GENERAL:
        return plain_number(text)
    try:
        value = float(text)
    except ValueError:
        return text
    match kind:
        case "%":
            return _percent(text)
        case "date" | "time" | "moment" | "elapsed":
            return moment_text(value, kind, date_1904) or plain_number(text)
    return _padded(value, kind) or plain_number(text)


def plain_number(text: str) -> str:
    """At most fifteen digits, as spreadsheets show, without an exponent if possible."""
    if "." not in text and "e" not in text and "E" not in text:
        return text
    try:
        value = float(text)
    except ValueError:
        return text
    if value.is_integer() and abs(value) < _MAX_PLAIN:
        return str(int(value))
    short = format(value, ".15g")
    if "e" in short and 1e-5 <= abs(value) < _MAX_PLAIN:
        return format(Decimal(short), "f")
    return short


def _percent(text: str) -> str:
    try:
        hundredfold = Decimal(plain_number(text)).scaleb(2)
    except InvalidOperation:
        return text
    shown = format(hundredfold.normalize(), "f")
    return f"{shown}%"


def _padded(value: float, code: str) -> str | None:
    """Formats like ``00000`` and ``000-0000``: digits from the right, with the literals."""
    if not value.is_integer() or value < 0 or value >= _MAX_PLAIN:
        return None
    digits = list(str(int(value)))
    shown: list[str] = []
    parts = re.findall(r'"[^"]*"|\\.|.', code)
    zeros = parts.count("0")
    for part in reversed(parts):
        if part == "0":
            shown.append(digits.pop() if digits else "0")
            zeros -= 1
            if zeros == 0:
                shown.append("".join(digits))
        else:
            shown.append(part.strip('"\\'))
    return "".join(reversed(shown))


def moment_text(value: float, kind: str, date_1904: bool) -> str | None:
    """ISO 8601; None if it is outside the calendar."""
    if kind == ELAPSED or (kind == TIME and value >= 1):
        return _elapsed(value) if value >= 0 else None
    seconds = round((value % 1) * 86400, 3)
    days = int(value // 1)
    if seconds >= 86400:
        seconds, days = 0.0, days + 1
    clock = _clock(seconds)
    if kind == TIME or (days == 0 and kind == MOMENT and not date_1904):
        return clock
    day = _day(days, date_1904)
    if day is None:
        return None
    return day.isoformat() if seconds == 0 else f"{day.isoformat()}T{clock}"


def _day(days: int, date_1904: bool) -> date | None:
    if days < 0:
        return None
    # Spreadsheets treat 1900 as a leap year.
    start = date(1904, 1, 1) if date_1904 else date(1899, 12, 31 if days < 60 else 30)
    try:
        return start + timedelta(days=days)
    except OverflowError:
        return None


def _clock(seconds: float) -> str:
    whole = datetime(2000, 1, 1) + timedelta(seconds=seconds)
    text = whole.strftime("%H:%M:%S")
    return f"{text}.{whole.microsecond // 1000:03d}" if whole.microsecond else text


def _elapsed(value: float) -> str:
    seconds = round(value * 86400)
    return f"{seconds // 3600:02d}:{seconds // 60 % 60:02d}:{seconds % 60:02d}"
