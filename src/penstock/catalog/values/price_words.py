"""Patterns for words around prices."""

from __future__ import annotations

import re

from penstock.catalog.word_lists import entries, load, phrases, words

_LISTS = load("price_words")


def _any_of(*headings: str) -> str:
    """Any phrase of the lists. Grouped by first character, so that few of the hundreds of phrases
    are tried at each position."""
    by_first: dict[str, list[str]] = {}
    listed = {phrase for heading in headings for phrase in phrases(_LISTS[heading])}
    for phrase in sorted(listed, key=lambda phrase: (-len(phrase), phrase)):
        rest = re.escape(phrase[1:]).replace(r"\ ", r"[ -]?")
        by_first.setdefault(phrase[0], []).append(rest)
    groups = "|".join(f"{re.escape(first)}(?:{'|'.join(of)})" for first, of in by_first.items())
    return f"(?=[{''.join(map(re.escape, by_first))}])(?:{groups})"


def _standing_alone(heading: str) -> re.Pattern[str]:
    """Any phrase of the list that is not part of a longer word."""
    return re.compile(rf"(?<![^\W_])(?:{_any_of(heading)})(?![^\W_])", re.IGNORECASE)


ON_REQUEST = _standing_alone("on request")
NOT_NAMED = words(_LISTS["not named"])
FREE = frozenset(phrases(_LISTS["free"]))
FROM = _standing_alone("from")
NOW = _standing_alone("now")
FORMER = _standing_alone("former")
_NOT_PRICE = _any_of("not the price, before", "not the price, always before")
NOT_PRICE_BEFORE = re.compile(rf"(?<![^\W\d_])(?:{_NOT_PRICE})(?![^\W_])", re.IGNORECASE)
NOT_PRICE_AFTER = re.compile(
    rf"\s{{0,4}}(?:{_any_of('not the price, after')})(?![^\W_])", re.IGNORECASE
)
PERCENT_WORDS = rf"(?:{_any_of('not the price, after')})(?![^\W_])"
ALWAYS_BEFORE = _standing_alone("not the price, always before")
REPLACED_BY = re.compile(rf"[\s,;|]{{0,4}}(?:{_any_of('replaced by')})[\s:]{{0,4}}", re.IGNORECASE)
# The currencies that a word for hundredths is used with, the most likely first.
HUNDREDTHS = {
    word: tuple(codes.split())
    for names, codes in entries(_LISTS["hundredths"])
    for word in names.split()
}
HUNDREDTHS_WORDS = "|".join(sorted(map(re.escape, HUNDREDTHS), key=len, reverse=True))
TAX_INCLUDED = _standing_alone("tax included")
TAX_EXCLUDED = _standing_alone("tax excluded")
LABELS = words(_LISTS["labels"])
_PER = "|".join(sorted(map(re.escape, words(_LISTS["per"])), key=len, reverse=True))
PER_UNIT = re.compile(
    rf"(?:/|(?<![^\W_])(?:{_PER}|for|für|för|pour|voor|za|за|til|a)(?![^\W_]))\.?\s{{0,2}}"
    r"(?P<amount>[0-9]{1,6}(?:[.,][0-9]{1,3})?)?\s{0,2}"
    r"(?P<unit>(?:sq\.? ?)?[^\W\d_]{1,12}[23²³]?)\.?(?![^\W_])",
    re.IGNORECASE,
)
# `/ 100`, `je 100`: a price for a number of pieces. "2 por 100" is another price.
PER_COUNT = re.compile(
    r"(?:/|(?<![^\W_])(?P<word>per|pro|je|par|za|за|pr|na)(?![^\W_])\.?)\s{0,2}"
    r"(?P<count>[1-9][0-9]{0,5})\s{0,2}(?:$|:)",
    re.IGNORECASE,
)
_BETWEEN_WORDS, _AND, _THOUSAND = (
    "|".join(sorted(map(re.escape, words(_LISTS[heading])), key=len, reverse=True))
    for heading in ("between", "and", "thousand")
)
# `between $10 and $20` up to the upper end.
BETWEEN_AND = re.compile(
    rf"(?<![^\W_])(?:{_BETWEEN_WORDS})\s(?P<low>[^\W\d_]{{0,3}}[^\w\s]?\s?[0-9][^;|/]{{0,20}}?)"
    rf"\s(?:{_AND})\s(?=[^\W\d_]{{0,3}}[^\w\s]?\s?[0-9])",
    re.IGNORECASE,
)
PER_THOUSAND = re.compile(
    rf"(?:/|(?<![^\W_])(?:{_PER}|za)(?![^\W_]))\s?(?:{_THOUSAND})(?![^\W_])\.?", re.IGNORECASE
)
# "1.2k" and "2 for $5" do not mean the number that is written.
NOT_PLAIN = re.compile(
    r"[0-9]\s?(?:k|tsd|mio|mrd|mn|bn|million|millions|thousand|billion|mille|mil|mila"
    r"|lakhs?|lacs?|crores?|cr|tys|tis|mln|млн|тыс|тис|millones|milhões|milioni"
    r"|rb|ribu|jt|juta|nghìn|ngàn|triệu|bin|milyon|χιλ|χιλιάδες|אלף|ألف|الف|هزار|हजार|হাজার)(?![^\W_])"
    r"|[0-9]\s?(?:[万億亿만억萬千천]|พัน|หมื่น|แสน|ล้าน)|[0-9](?-i:MM?)(?![^\W_])"
    r"|^[0-9]{1,2}\s?/\s?[$£€]"
    r"|(?<![^\W_])(?:two|three|zwei|drei|deux|trois|dos|tres|due|tre|twee|drie)\s"
    r"(?:for|für|pour|por|per|voor)(?![^\W_])"
    r"|(?P<several>[0-9]\s?(?:x|for|für|pour|voor|por|per)\s?[^\w\s]?\s?[0-9])",
    re.IGNORECASE,
)
BETWEEN = re.compile(
    r"^\s{0,3}(?:-{1,2}|–|—|to|up to|till|bis|bis zu|à|a|al|hasta|tot|até|ate|until|do|až|до|til"
    r"|la|iki|līdz|kuni|έως|auf|~|/)\s{0,3}$",
    re.IGNORECASE,
)
