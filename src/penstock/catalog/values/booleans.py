"""Yes and no in seven languages."""

from __future__ import annotations

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
