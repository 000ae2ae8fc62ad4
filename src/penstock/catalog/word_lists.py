"""Word lists in `catalog/data/`, read once when a module that uses them is imported."""

from __future__ import annotations

from collections.abc import Mapping
from functools import cache

from penstock.model.text.word_lists import by_word, entries, load_from, parse, phrases, words

__all__ = ["MOST_CACHED_NAMES", "by_word", "entries", "load", "parse", "phrases", "words"]

# Names of columns come from files, so what is cached of them must be bounded.
MOST_CACHED_NAMES = 8192


@cache
def load(name: str) -> Mapping[str, str]:
    """The sections of ``data/<name>.txt`` by heading, in the order of the file."""
    return load_from("penstock.catalog", name)
