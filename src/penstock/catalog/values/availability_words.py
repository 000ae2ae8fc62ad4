"""What shops and wholesalers write about stock."""

from __future__ import annotations

from penstock.catalog.word_lists import load, phrases, words

_LISTS = load("availability")

STATUSES = ("in_stock", "out_of_stock", "limited", "preorder", "backorder")
WORDS: dict[str, str] = {
    phrase: status for status in STATUSES for phrase in phrases(_LISTS[f"status {status}"])
}
# How many days a word for a period stands for.
DAY_WORDS: dict[str, int] = {
    word: days for days in (1, 7, 30) for word in words(_LISTS[f"days {days}"])
}
HOUR_WORDS = words(_LISTS["hours"])
NEGATIONS = words(_LISTS["negations"])
NEGATIONS_BEFORE = tuple(words(_LISTS["negations before a word"]))
# Phrases of scripts without spaces, which may stand in a longer text, the longest first.
JOINED_PHRASES: tuple[str, ...] = tuple(
    sorted(
        (phrase for phrase in WORDS if len(phrase) > 1 and all(c >= "\u0e00" for c in phrase)),
        key=lambda phrase: (-len(phrase), phrase),
    )
)
# Words around a mere count: "noch 3 Stück", "more than 10".
FEW_WORDS = words(_LISTS["few left"])
MANY_WORDS = words(_LISTS["more than"])
IMMEDIATELY = words(_LISTS["immediately"])
COLOURS = words(_LISTS["colours"])
