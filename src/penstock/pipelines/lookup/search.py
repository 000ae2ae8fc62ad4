"""The stage `search`: find the product of each row, first in the catalog."""

from __future__ import annotations

import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any
from uuid import UUID

from penstock.catalog.lookup.queries import WantedProduct, queries_of
from penstock.catalog.lookup.scoring import ScoredCandidate, Thresholds, Verdict, judge, score
from penstock.catalog.lookup.words import relaxed_words, strict_words
from penstock.model.effects import RecordSearch
from penstock.model.lookup import (
    CATALOG,
    CHOSEN,
    NONE_OF_THEM,
    VARIANTS,
    CatalogCandidate,
    CatalogProduct,
    CatalogSearch,
    PastSearch,
    Searches,
    SearchQuery,
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
from penstock.pipelines.lookup.rows import WANTED

_BY_WORDS = ("brandTitle", "title")
_NOTHING = Verdict("notFound")


@dataclass(slots=True)
class RowSearch:
    """The search for one row: what was asked and what was found so far."""

    item: Item
    wanted: WantedProduct
    queries: Mapping[str, str]
    past: Sequence[PastSearch] = ()
    scored: list[ScoredCandidate] = field(default_factory=list)
    events: list[RecordSearch] = field(default_factory=list)
    verdict: Verdict = _NOTHING

    @property
    def checkpoint(self) -> Mapping[str, Any]:
        return self.item.normalized or {}

    def key(self, variant: str) -> str:
        """What the catalog is asked for."""
        if variant == "mpnBrand":
            return self.wanted.maker or ""
        return self.queries[variant]

    def add(
        self, variant: str, found: Sequence[CatalogCandidate], limits: Thresholds, ms: float
    ) -> None:
        """Score what a search in the catalog returned, and record the search."""
        scored = [ScoredCandidate(one, score(self.wanted, one, variant), variant) for one in found]
        own = judge(scored, limits)
        self.scored += scored
        self.verdict = judge(self.scored, limits)
        self.events.append(
            RecordSearch(
                CATALOG, variant, self.queries[variant], own.outcome, round(ms, 3),
                own.best.score if own.best else None, len(own.ranked), self.item.attempts,
            )
        )  # fmt: skip


async def search(batch: Sequence[Item], ctx: Context) -> Sequence[Outcome | None]:
    """Items of one batch have the same org and config."""
    if not batch:
        return ()
    job, catalog = batch[0].job, ctx.port(CatalogSearch)
    limits, source = job.config.thresholds, job.config.catalog_source
    past = await _past_searches(batch, ctx)
    searches: dict[int, RowSearch] = {}
    for place, item in enumerate(batch):
        if CHOSEN not in (item.normalized or {}):
            searches[place] = _begun(item, past.get((item.job.id, item.row_no), ()))
    for variant in VARIANTS:
        await _search_catalog(variant, job.org_id, searches, limits, source, catalog)
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


def _begun(item: Item, past: Sequence[PastSearch]) -> RowSearch:
    wanted = WantedProduct.of_json((item.normalized or {})[WANTED])
    return RowSearch(item, wanted, queries_of(wanted), past)


async def _search_catalog(
    variant: str, org_id: int, searches: Mapping[int, RowSearch], limits: Thresholds,
    source: str | None, catalog: CatalogSearch,
) -> None:  # fmt: skip
    """One variant for all rows that have it and are not found yet."""
    asked = {
        place: one
        for place, one in searches.items()
        if variant in one.queries and one.verdict.outcome != "found"
    }
    if not asked:
        return
    started = time.perf_counter()
    if variant in _BY_WORDS:
        found = await _found_by_words(org_id, asked, source, catalog)
    else:
        queries = [SearchQuery(place, one.key(variant)) for place, one in asked.items()]
        found = await catalog.by_key(org_id, variant, queries, source)
    ms = (time.perf_counter() - started) * 1000 / len(asked)
    for place, one in asked.items():
        one.add(variant, found.get(place, ()), limits, ms)


async def _found_by_words(
    org_id: int, asked: Mapping[int, RowSearch], source: str | None, catalog: CatalogSearch
) -> Mapping[int, Sequence[CatalogCandidate]]:
    """By all words of the title; where no title has them all, by fewer."""
    words = {place: strict_words(one.wanted.title or "") for place, one in asked.items()}
    queries = [SearchQuery(place, " ".join(some)) for place, some in words.items()]
    found = dict(await catalog.by_words(org_id, queries, source))
    fewer = [
        SearchQuery(place, " ".join(some))
        for place, strict in words.items()
        if place not in found
        for some in relaxed_words(strict)
    ]
    found |= await catalog.by_words(org_id, fewer, source)
    return found


def _outcome(one: RowSearch, products: Mapping[UUID, CatalogProduct]) -> Outcome:
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
    return not_found_outcome(tried, one.events, final=True)


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
