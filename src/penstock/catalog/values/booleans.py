"""Yes and no in seven languages."""

from __future__ import annotations

from penstock.catalog.values.numbers import is_nothing
from penstock.catalog.values.result import EMPTY, Normalised, unreadable
from penstock.catalog.word_lists import load, words

YES = words(load("booleans")["yes"])
NO = words(load("booleans")["no"])
WORDS = YES | NO


def read_boolean(text: str) -> Normalised:
    word = text.strip().casefold().rstrip(".")
    if word in YES:
        return Normalised(True, "boolean")
    if word in NO:
        return Normalised(False, "boolean")
    if is_nothing(text):
        return EMPTY
    return unreadable("BOOLEAN_UNREADABLE", text)
