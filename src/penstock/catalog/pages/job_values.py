"""Values of job postings: kinds of employment, salaries, places, dates, parts of the text."""

from __future__ import annotations

import re
from collections.abc import Iterable
from typing import Any

from penstock.catalog.pages.job_words import KINDS, PARTS, REMOTE, SALARY_UNITS
from penstock.catalog.pages.locale import Locale
from penstock.catalog.pages.values import plain_amount, read_amount
from penstock.catalog.pages.words import label_key
from penstock.catalog.values.currencies import TOKEN, currency_of
from penstock.catalog.values.dates import DateOrder, read_date
from penstock.catalog.values.numbers import read_number
from penstock.catalog.word_lists import words

_CODES = words("FULL_TIME PART_TIME CONTRACTOR TEMPORARY INTERN VOLUNTEER PER_DIEM OTHER")
_SEPARATOR = re.compile(r"[,;/|•·()]|\s[-–]\s|\s(?:or|and|oder|und|ou|et|o|y|e|i|nebo|alebo)\s|\n")
_DAY = re.compile(r"(?:19|20)[0-9]{2}-[0-9]{2}-[0-9]{2}")
_NUMBER = re.compile(r"[0-9][0-9.,'\u00a0\u202f ]*[0-9]|[0-9]")
_THOUSAND = re.compile(r"(?<=[0-9])\s?[kK](?![^\W\d_])")
_WORD = re.compile(r"[^\W\d_]+|/h(?:r)?|p\.a\.")
MAX_LINE = 3_000


def employment_types(texts: Iterable[str]) -> list[str]:
    """Codes of schema.org, from codes and from words in many languages."""
    kept: list[str] = []
    for text in texts:
        for part in _SEPARATOR.split(text[:300]):
            code = part.strip().upper().replace("-", "_").replace(" ", "_")
            code = code if code in _CODES else KINDS.get(label_key(part), "")
            if code and code not in kept:
                kept.append(code)
    return kept


def is_remote(texts: Iterable[str]) -> bool:
    return any(word in text.lower() for text in texts for word in REMOTE)


def day_of(text: str, locale: Locale) -> str | None:
    """The date as `2020-10-20`; None for `3 days ago`, which depends on when one reads it."""
    found = _DAY.search(text)
    if found is not None:
        return found[0]
    is_american = locale.language == "en" and locale.currency in ("USD", "CAD", None)
    order: DateOrder = "mdy" if is_american else "dmy"
    read = read_date(text.strip()[:60], order).value
    return read if isinstance(read, str) and _DAY.fullmatch(read) else None


def salary_of(text: str, locale: Locale) -> dict[str, str] | None:
    """`€45,000 - €55,000 per year`: currency, min, max and unit."""
    text = _THOUSAND.sub("000", text[:300])
    token = TOKEN.search(text)
    if token is None:
        return None
    currency = currency_of(token[0], locale.currency)
    amounts = [amount for found in _NUMBER.findall(text) if (amount := _plain(found, locale))]
    amounts = [one for one in amounts if float(one) >= 5][:2]
    if not amounts or currency is None:
        return None
    kept = {"currency": currency.currency, "min": amounts[0], "max": amounts[-1]}
    if float(kept["max"]) < float(kept["min"]):
        kept["max"] = kept["min"]
    unit = unit_of_salary(text[token.start() :]) or unit_of_salary(text)
    return kept | ({"unit": unit} if unit else {})


def _plain(text: str, locale: Locale) -> str | None:
    number = read_number(text.replace("\u00a0", " ").replace("\u202f", " "), locale.decimal)
    return None if number is None else plain_amount(number.text)


def unit_of_salary(text: str) -> str | None:
    low = text.lower()
    code = low.strip().upper()
    if code in ("HOUR", "DAY", "WEEK", "MONTH", "YEAR"):
        return code
    for word in _WORD.findall(low):
        if word in SALARY_UNITS:
            return SALARY_UNITS[word]
    return None


def salary_amounts(values: dict[str, str | None], locale: Locale) -> dict[str, str]:
    """`min` and `max` from the members of schema.org's MonetaryAmount."""
    kept: dict[str, str] = {}
    for name, text in values.items():
        amount = None if text is None else read_amount(text, locale)
        if amount is not None:
            kept[name] = amount.amount
    return kept


def parts_of(lines: list[str]) -> dict[str, str]:
    """Requirements and responsibilities of a text, by its headings."""
    kept: dict[str, list[str]] = {}
    part: str | None = None
    for line in lines:
        line = line.lstrip("-•*· ")
        head, colon, rest = line.partition(":")
        key = label_key(head if colon and len(head) <= 60 else line).rstrip("?!")
        found = PARTS.get(key) if len(key) <= 60 else None
        if found is not None:
            part = found
            line = rest.strip() if colon else ""
        if part in ("requirements", "responsibilities") and line:
            kept.setdefault(part, []).append(line[:MAX_LINE])
    return {name: "\n".join(lines) for name, lines in kept.items()}


def place_of(parts: Iterable[Any]) -> str | None:
    """Locality, region and country in one line, each once."""
    kept: list[str] = []
    for part in parts:
        text = part.strip(" ,") if isinstance(part, str) else ""
        if text and text not in kept:
            kept.append(text)
    return ", ".join(kept) or None
