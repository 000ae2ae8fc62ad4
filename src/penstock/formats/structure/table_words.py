"""The words of `formats/data/table_words.txt`."""

from __future__ import annotations

import re

from penstock.model.text.word_lists import load_from, phrases, words


def letters_of(name: str) -> str:
    """`1. Valid_Values` as `valid values`."""
    return " ".join(re.sub(r"[\W\d_]+", " ", name.casefold()).split())


_LISTS = load_from("penstock.formats", "table_words")
ABOUT_COLUMNS = words(_LISTS["about columns"])
UNITS = words(_LISTS["units"])
SHEETS_WITHOUT_PRODUCTS = frozenset(map(letters_of, phrases(_LISTS["sheets without products"])))
PAGES = words(_LISTS["pages"])
