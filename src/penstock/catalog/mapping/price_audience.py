"""For whom a price is, by the words of its column: `Цена опт` and `Dealer price` are what resellers
pay, `Цена розн` and `MSRP` what consumers pay.

In a list with both, the price for resellers is the price, since the list was sent to one, and the
price for consumers the recommended one. The user is told.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import lru_cache
from typing import Literal

from penstock.catalog.mapping import column_content
from penstock.catalog.mapping.column_options import ColumnOptions, How
from penstock.catalog.mapping.header_meaning import meaning
from penstock.catalog.mapping.synonyms import header_key, read_hints
from penstock.catalog.word_lists import MOST_CACHED_NAMES, load, phrases

Audience = Literal["resellers", "consumers"]

_LISTS = load("header_words")
_FIELDS: dict[Audience, str] = {"resellers": "price.amount", "consumers": "price.recommended"}
# Scripts that do not separate words.
_FIRST_WITHOUT_SPACES = "\u0e00"
NAMED = 0.8
_MIN_SHARE = 0.9
# Prices of other names that may be meant as well.
_MIN_NAMED = 0.7


def _keys(heading: str) -> tuple[tuple[str, ...], tuple[str, ...]]:
    keys = [header_key(phrase) for phrase in phrases(_LISTS[heading])]
    spaced = tuple(f" {key} " for key in keys if key < _FIRST_WITHOUT_SPACES)
    return spaced, tuple(key for key in keys if key >= _FIRST_WITHOUT_SPACES)


_PHRASES: dict[Audience, tuple[tuple[str, ...], tuple[str, ...]]] = {
    "resellers": _keys("prices of resellers"),
    "consumers": _keys("prices of consumers"),
}
_MEANINGS: dict[Audience, frozenset[str]] = {
    "resellers": frozenset({"wholesale"}),
    "consumers": frozenset({"retail", "recommended"}),
}


@lru_cache(maxsize=MOST_CACHED_NAMES)
def audience(header: str) -> Audience | None:
    """For whom the price of the column is; None if the header does not say, or says both."""
    key = header_key(header)
    said, padded = meaning(key), f" {key} "
    found: list[Audience] = [
        one
        for one in _PHRASES
        if not _MEANINGS[one].isdisjoint(said)
        or any(phrase in padded for phrase in _PHRASES[one][0])
        or any(phrase in key for phrase in _PHRASES[one][1])
    ]
    return found[0] if len(found) == 1 else None


def add_audience(
    options: dict[str, tuple[float, How]], header: str, samples: Sequence[str]
) -> None:
    """Add the field of a price that is named by its audience, if the name says no other field."""
    named = [one for one, (_, how) in options.items() if how != "content"]
    if named not in ([], ["price.amount"]) or (whom := audience(header)) is None:
        return
    target = _FIELDS[whom]
    if not named:
        if _contains_prices(header, samples):
            options.pop("price.amount", None)
            options[target] = (NAMED, "fuzzy")
    else:
        confidence, how = options["price.amount"]
        options.setdefault(target, (round(confidence * 0.97, 3), how))


def _contains_prices(header: str, samples: Sequence[str]) -> bool:
    share = column_content.fit("price", samples)
    if share is not None:
        return share >= _MIN_SHARE
    hints, _ = read_hints(header)
    return "price" in meaning(header_key(header)) or hints.currency is not None


def price_notes(
    header: Sequence[str], chosen: Sequence[str | None], thoughts: Sequence[ColumnOptions]
) -> list[str]:
    """What the user should know about the choice among several columns of prices."""
    if "price.amount" not in chosen:
        return []
    price = header[chosen.index("price.amount")]
    notes = []
    if "price.recommended" in chosen and audience(price) == "resellers":
        other = header[chosen.index("price.recommended")]
        if audience(other) == "consumers":
            notes.append(
                f"{price!r} is read as the price, because it is for resellers, and {other!r} as"
                " the recommended retail price. If you pay another one, map it to `price`."
            )
    others = [
        repr(name)
        for name, target, thought in zip(header, chosen, thoughts, strict=True)
        if target is None and _may_be_price(thought)
    ]
    if others:
        notes.append(f"{price!r} is read as the price; not used: {', '.join(others[:5])}.")
    return notes


def _may_be_price(thought: ColumnOptions) -> bool:
    confidence, how = thought.options.get("price.amount", (0.0, "content"))
    return how != "content" and confidence >= _MIN_NAMED
