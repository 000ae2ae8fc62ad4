"""Simplify headers: expand abbreviations, unify synonyms, shorten paths.

`Mfr Part #`, `Hersteller-Teilenr.` and `ARTICLE_DETAILS.MANUFACTURER_AID` are in no list of
column names, but they consist of known words.
"""

from __future__ import annotations

import re
import unicodedata
from functools import lru_cache

from penstock.catalog.word_lists import MOST_CACHED_NAMES, by_word, load, words

_LISTS = load("header_words")
MEANT = by_word(_LISTS["same meaning"])
# Shorter words are ambiguous alone: `Art` means kind in German, `No` can be an answer.
_MIN_LENGTH_ALONE = 4
_CLEAR_ALONE = words(_LISTS["clear alone"])
JOINING = words(_LISTS["joining"])
_CHANGES_IN_BRACKETS = words(_LISTS["changes the meaning in brackets"])
# Members of records whose name only says that the product is meant.
_NEUTRAL = words(_LISTS["neutral members"])
_SINGLES = re.compile(r"\b[^\W\d_](?: [^\W\d_]\b)+")
_MEMBER = re.compile(r"[.>/]")
# A language with its country, perhaps with a sales channel, or one of the usual languages alone.
_LOCALE = re.compile(
    r"[-_.:](?:[a-z]{2}[_-][A-Z]{2}(?:[-_.][A-Za-z0-9_]{1,30})?"
    r"|(?:en|de|fr|es|it|nl|pt|pl|cs|sk|da|sv|no|nb|fi|hu|ro|bg|hr|sl|et|lv|lt|el|tr|ru|uk|ja|zh|ko))$"
)
# A language in capitals after the name: `Omschrijving NL`.
_LANGUAGE = re.compile(
    r"(?<=[^\W\d_]{3}) (?:EN|DE|FR|ES|IT|NL|PT|PL|CZ|CS|SK|DK|DA|SE|SV|NO|NB|FI|HU|RO|BG|HR|SI|SL"
    r"|EE|ET|LV|LT|GR|EL|TR|RU|UA|UK|JP|CN|KR|ENG|GER|FRA|ESP|ITA)$"
)
# And before it: `NL_Title_Long`.
_LEADING_LANGUAGE = re.compile(
    r"(?:EN|DE|FR|ES|IT|NL|PT|PL|CZ|SK|DK|SE|NO|FI|HU|RO|BG|HR|TR|RU|UA)[_ ](?=[^\W\d_]{3})"
)
_BRACKETED = re.compile(r"[(\[{][^()\[\]{}]{0,60}[)\]}]")


@lru_cache(maxsize=MOST_CACHED_NAMES)
def canonical(key: str) -> str:
    """A key with abbreviations expanded, without joining words and spaces; empty if too little
    is left to be certain."""
    key = _SINGLES.sub(lambda run: run.group().replace(" ", ""), key)
    if len(key) < _MIN_LENGTH_ALONE and key in MEANT and key not in _CLEAR_ALONE:
        return ""
    return "".join(MEANT.get(word, word) for word in key.split() if word not in JOINING)


def without_brackets(header: str) -> str | None:
    """`Levertijd (dagen)` without its brackets; None if it has none or nothing else, or if they
    name another thing: `EAN (Outer)`."""
    if "（" in header:
        header = unicodedata.normalize("NFKC", header)
    rest = _BRACKETED.sub(" ", header).strip()
    if not rest or rest == header.strip():
        return None
    inside = unicodedata.normalize("NFD", " ".join(_BRACKETED.findall(header)).casefold())
    letters = "".join(c for c in inside if not unicodedata.combining(c))
    return None if names_packaging(" ".join(re.findall(r"\w+", letters))) else rest


def names_packaging(key: str) -> bool:
    """Whether a key names a carton, a pallet or another thing than the product: `ean outer`."""
    return not _CHANGES_IN_BRACKETS.isdisjoint(key.split())


def without_locale(header: str) -> str | None:
    """`name-en_US`, `description-fr_FR-web`, `product_name_fr` and `Omschrijving NL` without the
    language; None if the header names none."""
    rest = _LANGUAGE.sub("", _LOCALE.sub("", header.strip()))
    if leading := _LEADING_LANGUAGE.match(rest):
        rest = rest[leading.end() :]
    return rest if rest and rest != header.strip() else None


def with_number_signs(header: str) -> str:
    """`Item #` as `Item no`."""
    return header.replace("#", " no ")


def path_ends(header: str) -> list[str]:
    """The ends of a path whose first members only say that the product is meant."""
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
