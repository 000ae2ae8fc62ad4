"""Words of titles, split as the database function `title_words` does, and their similarity."""

from __future__ import annotations

import re
from collections.abc import Sequence
from string import ascii_lowercase, ascii_uppercase

from rapidfuzz import fuzz

_UPPER = "ÀÁÂÃÄÅÆÇÈÉÊËÌÍÎÏÐÑÒÓÔÕÖØÙÚÛÜÝÞ"
_LOWER = str.maketrans(ascii_uppercase + _UPPER, ascii_lowercase + _UPPER.lower())
_BETWEEN = re.compile(r"[\t-\r -/:-@\[-`{-~]+")
# The same for printable ASCII, in one step.
_PRINTABLE = {
    code: " " if _BETWEEN.fullmatch(chr(code)) else chr(code).lower() for code in range(32, 127)
}
_MAX_TITLE_LENGTH = 400
# Words of a query: more make it no more exact.
_MAX_WORDS = 10
# In longer titles a word that is left out changes little.
_MAX_LEFT_OUT = 8
_MIN_NUMBER_LENGTH = 3
# Titles whose numbers differ are rarely the same product: an M8 bolt is no M6 bolt.
_OTHER_NUMBERS, _MISSING_NUMBERS = 0.6, 0.9


def all_words(title: str) -> list[str]:
    """The words as the database has them, of the whole title."""
    if title.isascii() and title.isprintable():
        return title.translate(_PRINTABLE).split()
    lower = title.lower() if title.isascii() else title.translate(_LOWER)
    joined = _BETWEEN.sub(" ", lower).strip(" ")
    return joined.split(" ") if joined else []


def title_words(title: str) -> list[str]:
    """Each word once, in the order of the title."""
    return list(dict.fromkeys(all_words(title[:_MAX_TITLE_LENGTH])))


def strict_words(title: str) -> list[str]:
    """The words that a title must contain to be found first: those with digits, then the longest;
    single letters say nothing."""
    words = [word for word in title_words(title) if len(word) > 1 or word.isdigit()]
    ordered = sorted(words, key=lambda word: (not _has_digit(word), -len(word)))
    return ordered[:_MAX_WORDS]


def relaxed_words(strict: Sequence[str]) -> list[list[str]]:
    """Sets of fewer words, for titles that are not found by all of them."""
    sets: list[list[str]] = []
    if 3 <= len(strict) <= _MAX_LEFT_OUT:
        sets += [[*strict[:n], *strict[n + 1 :]] for n in range(len(strict))]
    numbers = [word for word in strict if _has_digit(word)]
    if 0 < len(numbers) < len(strict) and sum(map(len, numbers)) >= _MIN_NUMBER_LENGTH:
        sets.append(numbers)
    longest = sorted(strict, key=len, reverse=True)[:2]
    if len(strict) > 2:
        sets.append(longest)
    return [list(one) for one in dict.fromkeys(map(tuple, sets))]


def similarity(title: str, other: str) -> float:
    """How alike two titles are, from 0 to 1: the order of words does not matter, other numbers
    matter much."""
    words, others = title_words(title), title_words(other)
    if not words or not others:
        return 0.0
    one, two = " ".join(words), " ".join(others)
    alike = (0.7 * fuzz.token_sort_ratio(one, two) + 0.3 * fuzz.token_set_ratio(one, two)) / 100
    numbers, theirs = _numbers(words), _numbers(others)
    if numbers == theirs:
        return float(alike)
    kept = numbers <= theirs or theirs <= numbers
    return float(alike) * (_MISSING_NUMBERS if kept else _OTHER_NUMBERS)


def _numbers(words: Sequence[str]) -> set[str]:
    return {word for word in words if _has_digit(word)}


def _has_digit(word: str) -> bool:
    return any(map(str.isdigit, word))
