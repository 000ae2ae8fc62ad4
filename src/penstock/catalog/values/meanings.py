"""Words that a person gave a meaning for: a cell with the word is read as another text."""

from __future__ import annotations

from collections.abc import Mapping

from penstock.catalog.values.readers import Reader
from penstock.catalog.values.result import EMPTY, NormalisedValue

SAVED_VALUE = "saved_value"


def word_key(text: str) -> str:
    """The form in which words are compared: small letters, single spaces."""
    return " ".join(text.lower().split())


def with_meanings(read: Reader, meanings: Mapping[str, str]) -> Reader:
    """A reader that replaces known words before it reads; the lineage names the rule."""
    known: dict[str, NormalisedValue] = {}
    for word, text in meanings.items():
        found = read(text) if text else EMPTY
        known[word] = found._replace(rule=SAVED_VALUE)
    longest = max(map(len, known), default=0)

    def read_with_meanings(raw: str) -> NormalisedValue:
        # A long text is no such word; spaces may be more than in the key.
        if len(raw) <= 2 * longest + 8:
            found = known.get(word_key(raw))
            if found is not None:
                return found
        return read(raw)

    return read_with_meanings
