"""Yes and no in seven languages, and texts that say whether tax is included."""

from __future__ import annotations

from penstock.catalog.values import price_words
from penstock.catalog.values.numbers import is_empty_cell, without_formula
from penstock.catalog.values.result import EMPTY, NormalisedValue, unreadable
from penstock.catalog.word_lists import load, words

YES = words(load("booleans")["yes"])
NO = words(load("booleans")["no"])
WORDS = YES | NO


def read_boolean(text: str) -> NormalisedValue:
    word = without_formula(text.strip()).casefold().rstrip(".")
    if word in YES:
        return NormalisedValue(True, "boolean")
    if word in NO:
        return NormalisedValue(False, "boolean")
    if is_empty_cell(text):
        return EMPTY
    return unreadable("BOOLEAN_UNREADABLE", text)


def read_tax_included(text: str) -> NormalisedValue:
    """`yes` and `no`, or `incl. VAT`, `ohne MwSt.`, `с НДС`."""
    found = read_boolean(text)
    if found.value is not None or not found.problems or any(map(str.isdecimal, text)):
        return found
    if price_words.TAX_EXCLUDED.search(text):
        return NormalisedValue(False, "tax_words")
    if price_words.TAX_INCLUDED.search(text):
        return NormalisedValue(True, "tax_words")
    return found
