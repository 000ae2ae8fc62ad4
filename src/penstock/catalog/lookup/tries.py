"""Which searches a try makes: other variants and another order of sources each time.

The catalog costs nothing to ask, so every try searches it by all variants. A source is asked by one
variant per try, and by all that are left in the last one.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

MAX_TRIES = 3


class SourceSearch(NamedTuple):
    source: str
    variant: str


class Try(NamedTuple):
    """The searches in sources, in order. ``is_last``: everything has been tried after them."""

    searches: Sequence[SourceSearch]
    is_last: bool


def plan_try(number: int, variants: Sequence[str], sources: Sequence[str]) -> Try:
    """The try with this number, from 0."""
    if not sources or not variants:
        return Try((), True)
    tries = min(MAX_TRIES, len(variants))
    is_last = number >= tries - 1
    chosen = variants[number:] if is_last else variants[number : number + 1]
    turn = number % len(sources)
    order = [*sources[turn:], *sources[:turn]]
    return Try([SourceSearch(one, variant) for variant in chosen for one in order], is_last)
