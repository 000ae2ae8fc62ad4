"""Headers in fewer words: abbreviations written out, words of one meaning as one, paths cut short.

`Mfr Part #`, `Hersteller-Teilenr.` and `ARTICLE_DETAILS.MANUFACTURER_AID` are no names anybody
listed, but they are made of words that were.
"""

from __future__ import annotations

import re
from functools import cache

from penstock.catalog.word_lists import by_word, load, words

# What comes first is what all that follows mean. A word is here only if it means one thing alone
# in any name of a column.
_LISTS = load("header_words")
_MEANT = by_word(_LISTS["same meaning"])
# Alone, words this short mean too much: `Art` is a kind, `No` an answer.
_SHORTEST_ALONE = 4
_CLEAR_ALONE = words(_LISTS["clear alone"])
_JOINING = words(_LISTS["joining"])
# Members of records whose name only says that the product is meant.
_NEUTRAL = words(_LISTS["neutral members"])
_SINGLES = re.compile(r"\b[^\W\d_](?: [^\W\d_]\b)+")
_MEMBER = re.compile(r"[.>/]")
_BRACKETED = re.compile(r"[(\[{][^()\[\]{}]{0,60}[)\]}]")


@cache
def canonical(key: str) -> str:
    """A key with its words written out, joining words and spaces left out; empty where too little
    is there to be sure of."""
    key = _SINGLES.sub(lambda run: run.group().replace(" ", ""), key)
    if len(key) < _SHORTEST_ALONE and key in _MEANT and key not in _CLEAR_ALONE:
        return ""
    return "".join(_MEANT.get(word, word) for word in key.split() if word not in _JOINING)


def without_brackets(header: str) -> str | None:
    """What is left of `Levertijd (dagen)`; None where nothing is, or nothing stood in brackets."""
    rest = _BRACKETED.sub(" ", header).strip()
    return rest if rest and rest != header.strip() else None


def with_number_signs(header: str) -> str:
    """`Item #` is an item's number."""
    return header.replace("#", " no ")


def members(header: str) -> list[str]:
    """The last members of a path, where those before only say that the product is meant."""
    path = [part for part in _MEMBER.split(header) if part.strip()]
    if len(path) < 2 or len(path) > 8 or " " in header.strip():
        return []
    ends = []
    for cut in range(1, len(path)):
        above = " ".join(path[:cut])
        words_above = re.sub(r"[\W_]+", " ", re.sub(r"(?<=[a-z])(?=[A-Z])", " ", above)).split()
        if all(word.casefold() in _NEUTRAL for word in words_above):
            ends.append(".".join(path[cut:]))
    return ends
