"""The stage `search`: find the product of each item, first in the catalog."""

from __future__ import annotations

import time
from collections.abc import Mapping, Sequence
from typing import Any
from uuid import UUID

from penstock.catalog.lookup.scoring import Thresholds
from penstock.model.lookup import (
    CATALOG,
    CHOSEN,
    NONE_OF_THEM,
    PICTURE_VARIANTS,
    VARIANTS,
    CatalogProduct,
    CatalogSearch,
    PastSearch,
    Searches,
)
from penstock.model.outcomes import Outcome
from penstock.model.pipeline import Item
from penstock.model.ports import Context
from penstock.pipelines.lookup.result import (
    BY_PERSON,
    CANDIDATES,
    MAX_CANDIDATES,
    ambiguous_outcome,
    candidate_json,
    found_outcome,
    not_found_outcome,
    refused_outcome,
    tried_before,
)
from penstock.pipelines.lookup.searches import ItemSearch, begin, search_by

_ALL_VARIANTS = (*VARIANTS, *PICTURE_VARIANTS)


async def search(batch: Sequence[Item], ctx: Context) -> Sequence[Outcome | None]:
    """Items of one batch have the same org and config."""
    if not batch:
        return ()
    job, catalog = batch[0].job, ctx.port(CatalogSearch)
    past = await _past_searches(batch, ctx)
    searches: dict[int, ItemSearch] = {}
    for place, item in enumerate(batch):
        if CHOSEN not in (item.normalized or {}):
            searches[place] = begin(item, past.get((item.job.id, item.row_no), ()))
    for variant in _ALL_VARIANTS:
        await _search_catalog(variant, searches, job, catalog)
    ids = [
        one.candidate.id
        for each in searches.values()
        for one in each.verdict.ranked[:MAX_CANDIDATES]
    ]
    chosen = [key for item in batch if (key := _chosen_product(item)) is not None]
    products = await catalog.whole_products(job.org_id, [*ids, *chosen])
    return [
        _outcome(searches[place], products) if place in searches else _chosen(item, products)
        for place, item in enumerate(batch)
    ]


async def _past_searches(
    batch: Sequence[Item], ctx: Context
) -> dict[tuple[UUID, int], Sequence[PastSearch]]:
    rows: dict[UUID, list[int]] = {}
    for item in batch:
        if item.attempts:
            rows.setdefault(item.job.id, []).append(item.row_no)
    found: dict[tuple[UUID, int], Sequence[PastSearch]] = {}
    for job_id, numbers in rows.items():
        for row, some in (await ctx.port(Searches).of_rows(job_id, numbers)).items():
            found[job_id, row] = some
    return found


async def _search_catalog(
    variant: str, searches: Mapping[int, ItemSearch], job: Any, catalog: CatalogSearch
) -> None:
    """One variant for all items that have it and are not found yet."""
    limits: Thresholds = job.config.thresholds
    asked = {
        place: one
        for place, one in searches.items()
        if variant in one.queries and one.verdict.outcome != "found"
    }
    if not asked:
        return
    started = time.perf_counter()
    found = await search_by(variant, asked, job.org_id, job.config.catalog_source, catalog)
    ms = (time.perf_counter() - started) * 1000 / len(asked)
    for place, one in asked.items():
        one.add(variant, found.get(place, ()), limits, ms)


def _outcome(one: ItemSearch, products: Mapping[UUID, CatalogProduct]) -> Outcome:
    ranked = [each for each in one.verdict.ranked if each.candidate.id in products]
    shown = [candidate_json(each, products[each.candidate.id]) for each in ranked[:MAX_CANDIDATES]]
    best = ranked[0] if ranked else None
    if best is not None and one.verdict.outcome == "found":
        product = products[best.candidate.id].data
        return found_outcome(one.checkpoint, shown[0], product, shown, one.events)
    if shown:
        weak = one.verdict.outcome == "weak"
        return ambiguous_outcome(one.checkpoint, shown, weak=weak, effects=one.events)
    tried = [*tried_before(one.past), *((CATALOG, event.variant) for event in one.events)]
    return not_found_outcome(tried, one.events, final=True, reason=one.reason())


def _chosen_product(item: Item) -> UUID | None:
    chosen = (item.normalized or {}).get(CHOSEN)
    candidate = _candidate(item, chosen)
    return UUID(candidate["productId"]) if candidate and "productId" in candidate else None


def _candidate(item: Item, key: str | None) -> Mapping[str, Any] | None:
    known: Sequence[Mapping[str, Any]] = (item.normalized or {}).get(CANDIDATES, ())
    return next((one for one in known if one["key"] == key), None)


def _chosen(item: Item, products: Mapping[UUID, CatalogProduct]) -> Outcome:
    """What a person chose among the candidates. A product that is gone by now is not found."""
    checkpoint = item.normalized or {}
    chosen = checkpoint[CHOSEN]
    candidate = _candidate(item, chosen)
    if chosen == NONE_OF_THEM or candidate is None:
        return refused_outcome()
    product = products.get(UUID(candidate["productId"]))
    if product is None:
        return not_found_outcome([(CATALOG, "productId")], (), final=True)
    match = {**candidate, "confidence": 1.0, "matchedBy": BY_PERSON}
    return found_outcome(checkpoint, match, product.data, checkpoint[CANDIDATES], ())
