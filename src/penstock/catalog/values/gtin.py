"""GTIN, EAN, UPC and ISBN: check digits, and repair of what spreadsheets change."""

from __future__ import annotations

import re

from penstock.catalog.values.numbers import is_empty_cell, to_ascii, without_formula
from penstock.catalog.values.result import (
    EMPTY,
    NormalisedValue,
    Problem,
    build,
    problem,
    unreadable,
)
from penstock.catalog.values.text import PLACEHOLDERS, tidy_line
from penstock.catalog.word_lists import load, words

MAX_LENGTH = 400

_DIGITS = re.compile(r"[0-9]{13}|[0-9]{12}|[0-9]{14}|[0-9]{8}")
_FLOAT = re.compile(r"([0-9]{6,14})[.,]0{1,3}")
_SCIENTIFIC = re.compile(r"([0-9])[.,]?([0-9]{0,16})[eE]\+?([0-9]{1,2})")
_LABEL = re.compile(
    r"^(?:gtin|ean|upc|isbn|barcode|ean-?code)(?:[- ]?1[0-4]|[- ]?8)?\s{0,2}[:#=]?\s{0,2}", re.I
)
_SEPARATORS = re.compile(r"[\s\-.‐‑–']+")
_PARTS = re.compile(r"[,;|/\n]+|\s{2,}")
_ISBN10 = re.compile(r"[0-9]{9}[0-9Xx]")
_NONE_WORDS = words(load("placeholders")["identifiers"])


def check_digit(body: str) -> str:
    """The check digit of ``body``; leading zeros do not change it."""
    total = 3 * sum(map(int, body[::-2])) + sum(map(int, body[-2::-2]))
    return str(-total % 10)


def is_valid(digits: str) -> bool:
    """Whether length and check digit are right."""
    return _DIGITS.fullmatch(digits) is not None and _adds_up(digits)


def _adds_up(digits: str) -> bool:
    """Every second digit from the right counts three times; the sum must end in zero."""
    codes = digits.encode()
    threes = codes[-2::-2]
    return (sum(codes[::-2]) + 3 * sum(threes) - 48 * (len(codes) + 2 * len(threes))) % 10 == 0


def match_key(digits: str) -> str:
    """Equal for UPC-12, EAN-13 and GTIN-14 of the same article."""
    return digits.zfill(14)


def is_in_store(key: str) -> bool:
    """Whether a `match_key` is a number for use inside one shop."""
    return key[1] == "2" or key[1:3] in ("02", "04")


def read_gtin(text: str) -> NormalisedValue:
    """The number as text, in the length in which it is printed."""
    if text.isdecimal() and _DIGITS.fullmatch(text) and _adds_up(text):
        if text[0] in "02" or len(text) != 13 or text in _DUMMIES:
            return _checked(text, text, "gtin", 1.0)
        return build(NormalisedValue, (text, "gtin", 1.0, ()))
    if is_empty_cell(text):
        return EMPTY
    cleaned = to_ascii(text[:MAX_LENGTH]).strip().lstrip("='\"").rstrip("\"'").strip()
    cleaned = _LABEL.sub("", cleaned).removeprefix("(01)")
    if cleaned.strip("0") == "":
        return NormalisedValue(None, "placeholder", 1.0, (problem("GTIN_PLACEHOLDER", value=text),))
    if not any(c.isdigit() for c in cleaned):
        word = re.sub(r"[\W_]+", "", cleaned.casefold())
        return EMPTY if word in _NONE_WORDS else unreadable("GTIN_UNREADABLE", text)
    match = _FLOAT.fullmatch(cleaned)
    if match is not None:
        return _read_digits(match.group(1), text, was_float=True)
    match = _SCIENTIFIC.fullmatch(cleaned)
    if match is not None:
        return _read_scientific(match, text)
    compact = _SEPARATORS.sub("", cleaned)
    if compact.isdecimal() and compact.isascii() and len(compact) <= 14:
        return _read_digits(compact, text)
    if _ISBN10.fullmatch(compact):
        return _read_isbn10(compact.upper(), text)
    return _read_several(cleaned, text)


def _read_digits(digits: str, text: str, *, was_float: bool = False) -> NormalisedValue:
    if is_valid(digits):
        found = _checked(digits, text, "gtin_from_number" if was_float else "gtin", 1.0)
        return found
    if len(digits) == 10 and _isbn10_is_valid(digits):
        return _read_isbn10(digits, text)
    if len(digits) in (8, 12, 13, 14):
        return unreadable("GTIN_CHECK_DIGIT", text)
    # Excel drops leading zeros; with fewer than seven digits left it could be anything.
    length = 8 if len(digits) == 7 else 12 if 9 <= len(digits) <= 11 else 0
    if length and _adds_up(digits):
        return _checked(digits.zfill(length), text, "gtin_zeros_restored", 0.8, repaired=True)
    return unreadable("GTIN_UNREADABLE", text)


def _read_scientific(match: re.Match[str], text: str) -> NormalisedValue:
    """`4.00638E+12` has lost digits; `4.006381333931E+12` has all of them."""
    head, tail, exponent = match.groups()
    digits = head + tail
    if len(digits) == int(exponent) + 1 and is_valid(digits):
        return _checked(digits, text, "gtin_from_scientific", 0.9, repaired=True)
    return unreadable("GTIN_LOST", text)


def _isbn10_is_valid(text: str) -> bool:
    total = sum((10 - i) * (10 if c == "X" else int(c)) for i, c in enumerate(text))
    return total % 11 == 0


def _read_isbn10(isbn: str, text: str) -> NormalisedValue:
    if not _isbn10_is_valid(isbn):
        return unreadable("GTIN_CHECK_DIGIT", text)
    body = "978" + isbn[:9]
    digits = body + check_digit(body)
    return NormalisedValue(
        digits, "isbn10_to_13", 0.95, (problem("GTIN_CONVERTED", value=text, one=digits),)
    )


def _read_several(cleaned: str, text: str) -> NormalisedValue:
    parts = [_SEPARATORS.sub("", part) for part in _PARTS.split(cleaned)][:50]
    if len(parts) == 1:
        parts = cleaned.split()[:50]
    valid = [part for part in parts if is_valid(part)]
    if len(parts) < 2 or not valid:
        return unreadable("GTIN_UNREADABLE", text)
    found = _checked(valid[0], text, "gtin_first_of_several", 0.7)
    if len(set(map(match_key, parts))) == 1:
        return found
    return found._replace(problems=(*found.problems, problem("GTIN_SEVERAL", value=text)))


def _checked(
    digits: str, text: str, rule: str, confidence: float, *, repaired: bool = False
) -> NormalisedValue:
    """A valid number; warns about placeholders and in-store numbers."""
    full = digits.zfill(14)
    if full[:-1].strip("0") == "" or digits in _DUMMIES:
        return NormalisedValue(None, "placeholder", 1.0, (problem("GTIN_PLACEHOLDER", value=text),))
    problems: tuple[Problem, ...] = ()
    if repaired:
        problems = (problem("GTIN_REPAIRED", value=text, one=digits),)
    if is_in_store(full):
        problems = (*problems, problem("GTIN_IN_STORE", value=digits))
    return NormalisedValue(digits, rule, confidence, problems)


_DUMMIES = frozenset(
    ("1234567890128", "123456789012", "12345670", "9999999999994", "1111111111116")
)


def read_identifier(text: str) -> NormalisedValue:
    """A SKU or part number, kept as text; warns if a spreadsheet has changed it."""
    if _PLAIN_IDENTIFIER.fullmatch(text):
        return build(NormalisedValue, (text, "identifier", 1.0, ()))
    cleaned = without_formula(text.strip())
    cleaned = cleaned.lstrip("'") if cleaned.startswith("'") else cleaned
    cleaned = _tidy_identifier(cleaned)
    if not cleaned or cleaned.casefold() in PLACEHOLDERS:
        return EMPTY
    if len(cleaned) > 200:
        return NormalisedValue(
            cleaned[:200], "identifier", 0.5, (problem("TEXT_TOO_LONG", limit=200),)
        )
    return _mangled(cleaned) if _looks_mangled(cleaned) else NormalisedValue(cleaned, "identifier")


def _tidy_identifier(text: str) -> str:
    """One line. `A  1` and `A 1` can be two articles, so spaces inside are kept."""
    if "  " not in text or not text.isprintable():
        return tidy_line(text)
    return " ".join(map(tidy_line, text.split(" ")))


# Longer than any placeholder, so that "n/a" and the like are checked.
_PLAIN_IDENTIFIER = re.compile(r"[A-Za-z0-9][A-Za-z0-9._/-]{3,60}[A-Za-z0-9]")
_MANGLED = re.compile(r"[0-9][.,][0-9]{1,16}[eE]\+[0-9]{2}")


def _looks_mangled(text: str) -> bool:
    return text[0].isdigit() and "+" in text and _MANGLED.fullmatch(text) is not None


def _mangled(text: str) -> NormalisedValue:
    return NormalisedValue(text, "identifier", 0.3, (problem("IDENTIFIER_MANGLED", value=text),))
