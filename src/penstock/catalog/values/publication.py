"""Whether a product is published: `active`, `draft`, `1`, `hidden`."""

from __future__ import annotations

from penstock.catalog.values.booleans import NO, YES
from penstock.catalog.values.numbers import is_empty_cell, without_formula
from penstock.catalog.values.result import EMPTY, NormalisedValue, unreadable
from penstock.catalog.word_lists import load, words

_PUBLISHED = YES | words(load("booleans")["published"])
_HIDDEN = NO | words(load("booleans")["not published"])
# `OK` is an answer, but says nothing of this.
STATUS_WORDS = (_PUBLISHED | _HIDDEN) - {"ok"}
# Words that say so whatever the name of their column is.
CLEAR = words(load("booleans")["clearly about publication"])


def read_published(text: str) -> NormalisedValue:
    word = without_formula(text.strip()).casefold().rstrip(".")
    if word in _PUBLISHED:
        return NormalisedValue(True, "published")
    if word in _HIDDEN:
        return NormalisedValue(False, "published")
    if is_empty_cell(text):
        return EMPTY
    return unreadable("BOOLEAN_UNREADABLE", text)
