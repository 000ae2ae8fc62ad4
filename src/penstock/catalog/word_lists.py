"""Word lists in `catalog/data/`, read once when a module that uses them is imported."""

from __future__ import annotations

from collections.abc import Mapping
from functools import cache

from penstock.model.text.word_lists import by_word, entries, load_from, parse, phrases, words

__all__ = ["by_word", "entries", "load", "parse", "phrases", "words"]


@cache
def load(name: str) -> Mapping[str, str]:
    """The sections of ``data/<name>.txt`` by heading, in the order of the file."""
    return load_from("penstock.catalog", name)
