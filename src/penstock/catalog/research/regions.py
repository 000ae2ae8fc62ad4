"""Regions: whether a place is in the region that a buyer asks for."""

from __future__ import annotations

import re
from functools import lru_cache

from penstock.catalog.word_lists import entries, load, phrases

_LISTS = load("regions")
_COUNTRIES = dict(entries(_LISTS["countries"]))
_BY_NAME = {name: code for code, names in _COUNTRIES.items() for name in phrases(names)}
_GROUPS = {name: frozenset(codes.split()) for name, codes in entries(_LISTS["groups"])}
_BETWEEN = re.compile(r"[,;/()|]")


@lru_cache(maxsize=2_000)
def countries_of(place: str) -> frozenset[str]:
    """The countries that a place names: `Munich, Germany`, `DE`, `EU`. Empty if it names none."""
    whole = " ".join(place.casefold().split())[:200]
    parts = [whole, *(part.strip() for part in _BETWEEN.split(whole))]
    for part in parts:
        if part in _GROUPS:
            return _GROUPS[part]
        if part in _BY_NAME:
            return frozenset({_BY_NAME[part]})
        if part.upper() in _COUNTRIES:
            return frozenset({part.upper()})
    return frozenset()


def is_in_region(place: str, region: str) -> bool:
    """Whether the place is in the region; by name where it is no country that is known."""
    wanted, found = countries_of(region), countries_of(place)
    if wanted and found:
        return bool(wanted & found)
    return bool(region.strip()) and region.strip().casefold() in place.casefold()
