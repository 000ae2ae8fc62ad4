"""What the filters of the product list can be set to, with counts, in bounded time.

Sources are found along an index. Brands, categories and states are those of the products that were
changed last: a count over millions of products would take seconds on each request.
"""

from __future__ import annotations

import time
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

from penstock.store.catalog.catalog import ProductFilter, after_product, like_words, walk
from penstock.store.catalog.product_order import ProductCursor
from penstock.store.database import Connection
from penstock.store.queries import load

_sql = load("catalog")
# Counts end here; more is shown as `1,000+`.
MOST_COUNTED = 1000
_MOST_SOURCES = 100
_MOST_VALUES = 50
_MOST_LOOKED_AT = 5000
_WINDOW = 1000
_PATIENCE_S = 0.15


@dataclass(frozen=True, slots=True)
class FilterValue:
    """``more``: there may be more products than ``count``."""

    value: str
    count: int
    more: bool


@dataclass(frozen=True, slots=True)
class FilterValues:
    """``looked_at`` products were counted, those changed last; ``complete``: that is all."""

    sources: Sequence[FilterValue]
    brands: Sequence[FilterValue]
    categories: Sequence[FilterValue]
    states: Sequence[FilterValue]
    looked_at: int
    complete: bool


@dataclass(slots=True)
class _Counts:
    sources: Counter[str] = field(default_factory=Counter)
    brands: Counter[str] = field(default_factory=Counter)
    categories: Counter[str] = field(default_factory=Counter)
    states: Counter[str] = field(default_factory=Counter)

    def add(self, row: Any, wanted: ProductFilter) -> None:
        """Each filter is counted among products that pass the others."""
        passes = list(_passes(row, wanted))
        fails = passes.count(False)
        named = (row["source"], row["brand"], row["category"])
        state = "published" if row["published"] else "unpublished"
        counters = (self.sources, self.brands, self.categories, self.states)
        for value, passed, counter in zip((*named, state), passes, counters, strict=True):
            if value and fails == (not passed):
                counter[value] += 1


def _passes(row: Any, wanted: ProductFilter) -> Iterator[bool]:
    """Whether the row passes the filters of source, brand, category and state."""
    yield wanted.source is None or row["source"] == wanted.source
    yield wanted.brand is None or (row["brand"] or "").lower() == wanted.brand.lower()
    category = row["category"] or ""
    below = category.startswith(f"{wanted.category} > ")
    yield wanted.category is None or category == wanted.category or below
    yield wanted.published is None or row["published"] == wanted.published


async def filter_values(conn: Connection, wanted: ProductFilter) -> FilterValues:
    deadline = time.monotonic() + _PATIENCE_S
    counts, looked_at, complete = _Counts(), 0, False
    place = ProductCursor()
    while looked_at < _MOST_LOOKED_AT and time.monotonic() < deadline and not complete:
        looked = await walk(conn, wanted, place, _WINDOW)
        rows = await conn.fetch(
            _sql.filter_values, [row.id for row in looked], wanted.org_id, wanted.sku,
            wanted.gtin, wanted.updated_after, wanted.updated_before, like_words(wanted.q),
            wanted.edited, wanted.linked,
        )  # fmt: skip
        for row in rows:
            counts.add(row, wanted)
        looked_at += len(looked)
        complete = len(looked) < _WINDOW
        if not complete:
            place = after_product(place, looked[-1])
    return FilterValues(
        await _sources(conn, wanted, counts.sources, complete),
        _most_frequent(counts.brands, complete), _most_frequent(counts.categories, complete),
        _most_frequent(counts.states, complete), looked_at, complete,
    )  # fmt: skip


async def _sources(
    conn: Connection, wanted: ProductFilter, counted: Counter[str], complete: bool
) -> list[FilterValue]:
    """All sources of the org. Without other filters their products are counted by the index."""
    rows = await conn.fetch(_sql.sources_of_org, wanted.org_id, _MOST_SOURCES, MOST_COUNTED + 1)
    if complete or replace(wanted, source=None, published=None) != ProductFilter(wanted.org_id):
        found = [_value(row["source"], counted[row["source"]], complete) for row in rows]
    else:
        found = [_value(row["source"], row["products"], True) for row in rows]
    return found


def _most_frequent(counted: Counter[str], complete: bool) -> list[FilterValue]:
    return [_value(name, count, complete) for name, count in counted.most_common(_MOST_VALUES)]


def _value(name: str, count: int, complete: bool) -> FilterValue:
    return FilterValue(name, min(count, MOST_COUNTED), count > MOST_COUNTED or not complete)
