"""Patterns for words around prices."""

from __future__ import annotations

import re

from penstock.catalog.word_lists import load, phrases, words

_LISTS = load("price_words")


def _standing_alone(heading: str) -> re.Pattern[str]:
    """Any phrase of the list that is not part of a longer word."""
    longest_first = sorted(phrases(_LISTS[heading]), key=len, reverse=True)
    any_of = "|".join(re.escape(phrase).replace(r"\ ", r"[ -]?") for phrase in longest_first)
    return re.compile(rf"(?<![^\W_])(?:{any_of})(?![^\W_])", re.IGNORECASE)


ON_REQUEST = _standing_alone("on request")
FREE = frozenset(phrases(_LISTS["free"]))
FROM = _standing_alone("from")
TAX_INCLUDED = _standing_alone("tax included")
TAX_EXCLUDED = _standing_alone("tax excluded")
LABELS = words(_LISTS["labels"])
_PER = "|".join(sorted(map(re.escape, words(_LISTS["per"])), key=len, reverse=True))
PER_UNIT = re.compile(
    rf"(?:/|(?<![^\W_])(?:{_PER}|for|für|för|pour|voor|za|за|til|a)(?![^\W_]))\.?\s{{0,2}}"
    r"(?P<amount>[0-9]{1,6}(?:[.,][0-9]{1,3})?)?\s{0,2}"
    r"(?P<unit>[^\W\d_]{1,12}[23²³]?)\.?(?![^\W_])",
    re.IGNORECASE,
)
# `/ 100`, `je 100`: a price for a number of pieces. "2 por 100" is another price.
PER_COUNT = re.compile(
    r"(?:/|(?<![^\W_])(?P<word>per|pro|je|par|za|за|pr|na)(?![^\W_])\.?)\s{0,2}"
    r"(?P<count>[1-9][0-9]{0,5})\s{0,2}(?:$|:)",
    re.IGNORECASE,
)
# "1.2k" and "2 for $5" do not mean the number that is written.
NOT_PLAIN = re.compile(
    r"[0-9]\s?(?:k|tsd|mio|mrd|mn|bn|million|millions|thousand|billion|mille|mil|mila)(?![^\W_])"
    r"|[0-9]\s?(?:x|for|für|pour|voor|por|per)\s?[^\w\s]?\s?[0-9]",
    re.IGNORECASE,
)
BETWEEN = re.compile(
    r"^\s{0,3}(?:-{1,2}|–|—|to|bis|à|a|hasta|tot|até|ate|until|~|/)\s{0,3}$", re.IGNORECASE
)
