"""Columns of customs tariff numbers. No field is meant for them; they are neither article numbers
nor GTINs, which their eight digits may look like."""

from __future__ import annotations

from penstock.catalog.mapping.synonyms import header_key
from penstock.catalog.word_lists import load, phrases, words

_LISTS = load("header_words")
_NAMES = frozenset(header_key(name).replace(" ", "") for name in phrases(_LISTS["customs tariff"]))
_PREFIXES = words(_LISTS["prefixes"])


def names_customs_tariff(header: str) -> bool:
    """`HS Code`, `Product Hs Code`, `Zolltarifnummer`."""
    first, _, rest = header_key(header).partition(" ")
    if (first + rest).replace(" ", "") in _NAMES:
        return True
    return first in _PREFIXES and rest.replace(" ", "") in _NAMES
