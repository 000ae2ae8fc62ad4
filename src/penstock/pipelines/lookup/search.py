"""The stage `search`: find the product of each item in the catalog, then in the org's sources."""

from __future__ import annotations

import time
from collections.abc import Iterable, Mapping, Sequence
from uuid import UUID

from penstock.catalog.lookup.gaps import Proposal
from penstock.model.lookup import (
    CATALOG,
    CHOSEN,
    PICTURE_VARIANTS,
    VARIANTS,
    CatalogProduct,
    CatalogSearch,
    PastSearch,
    Searches,
)
from penstock.model.outcomes import Outcome
from penstock.model.pipeline import Item, Job
from penstock.model.ports import Context
from penstock.pipelines.lookup.choice import chosen_outcome, chosen_product
from penstock.pipelines.lookup.enrichment import (
    decided_outcome,
    is_decided,
    own_product,
    proposals_of,
    proposed_outcome,
)
from penstock.pipelines.lookup.result import (
    MAX_CANDIDATES,
    ambiguous_outcome,
    candidate_json,
    found_outcome,
    not_found_outcome,
)
from penstock.pipelines.lookup.searches import ItemSearch, begin, search_by
from penstock.pipelines.lookup.source_search import (
    SourceState,
    ask_next,
    catalog_was_searched,
    source_candidates,
    sources_of,
    take_past_answers,
)

_ALL_VARIANTS = (*VARIANTS, *PICTURE_VARIANTS)
_NO_OTHER = "No other product has what is missing."
Products = Mapping[UUID, CatalogProduct]


async def search(batch: Sequence[Item], ctx: Context) -> Sequence[Outcome | None]:
    """Items of one batch have the same org and config."""
    if not batch:
        return ()
    job, catalog = batch[0].job, ctx.port(CatalogSearch)
    sources = await sources_of(job, ctx)
    past = await _past_searches(batch, ctx) if sources else {}
    searches = {
        place: begin(item, past.get((item.job.id, item.row_no), ()))
        for place, item in enumerate(batch)
        if not _is_settled(item)
    }
    for variant in _ALL_VARIANTS:
        await _search_catalog(variant, searches, job, catalog)
    products = await _products(searches.values(), batch, job, catalog)
    states = {place: SourceState() for place in searches}
    for place, one in searches.items():
        if catalog_was_searched(one):
            one.events.clear()
        if sources and not _has_enough(one, states[place], products):
            states[place] = take_past_answers(one, sources, job)
    asked = {
        place: (one, states[place])
        for place, one in searches.items()
        if states[place].left and not _has_enough(one, states[place], products)
    }
    outcomes = await ask_next(asked, sources, ctx) if asked else {}
    for place, one in searches.items():
        if place not in outcomes:
            outcomes[place] = _outcome(one, states[place], products)
    return [
        outcomes[place] if place in outcomes else _decided_or_chosen_outcome(item, products)
        for place, item in enumerate(batch)
    ]


def _is_settled(item: Item) -> bool:
    """A person has decided; nothing is searched."""
    return CHOSEN in (item.normalized or {}) or is_decided(item)


def _decided_or_chosen_outcome(item: Item, products: Products) -> Outcome:
    if is_decided(item):
        return decided_outcome(item, products)
    return chosen_outcome(item, products)


def _has_enough(one: ItemSearch, state: SourceState, products: Products) -> bool:
    """Whether no source needs to be asked: the product is known, or all gaps can be filled."""
    if one.gaps:
        return len(_proposals(one, state, products)) == len(one.gaps)
    return one.verdict.outcome in ("found", "ambiguous")


def _proposals(one: ItemSearch, state: SourceState, products: Products) -> list[Proposal]:
    if one.verdict.outcome != "found":
        return []
    documents = {key: product.data for key, product in products.items()} | state.products
    providers = {key: str(product["source"]) for key, product in state.products.items()}
    return proposals_of(one.gaps, one.verdict.ranked, documents, providers)


async def _products(
    searches: Iterable[ItemSearch], batch: Sequence[Item], job: Job, catalog: CatalogSearch
) -> Products:
    """The products of the catalog that are shown: candidates, and what persons decided about."""
    ids = [one.candidate.id for each in searches for one in each.verdict.ranked[:MAX_CANDIDATES]]
    settled = [item for item in batch if _is_settled(item)]
    named = [key for item in settled for key in (chosen_product(item), own_product(item)) if key]
    return await catalog.whole_products(job.org_id, [*ids, *named])


async def _past_searches(
    batch: Sequence[Item], ctx: Context
) -> dict[tuple[UUID, int], Sequence[PastSearch]]:
    rows: dict[UUID, list[int]] = {}
    for item in batch:
        rows.setdefault(item.job.id, []).append(item.row_no)
    found: dict[tuple[UUID, int], Sequence[PastSearch]] = {}
    for job_id, numbers in rows.items():
        for row, some in (await ctx.port(Searches).of_rows(job_id, numbers)).items():
            found[job_id, row] = some
    return found


async def _search_catalog(
    variant: str, searches: Mapping[int, ItemSearch], job: Job, catalog: CatalogSearch
) -> None:
    """One variant for all items that have it and are not found yet."""
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
        one.add(variant, found.get(place, ()), job.config.thresholds, ms)


def _outcome(one: ItemSearch, state: SourceState, products: Products) -> Outcome:
    """What the searches of this try come to."""
    tried = [(past.provider, past.variant) for past in one.past if past.outcome != "failed"]
    tried += [(event.provider, event.variant) for event in one.events]
    failed = one.failed_sources()
    if one.gaps:
        proposals = _proposals(one, state, products)
        if proposals:
            return proposed_outcome(one.checkpoint, proposals, one.events)
        return not_found_outcome(
            tried, one.events, final=state.is_last, reason=_NO_OTHER, failed=failed
        )
    shown = [
        (candidate_json(each, products[each.candidate.id]), products[each.candidate.id].data)
        for each in one.verdict.ranked[:MAX_CANDIDATES]
        if each.candidate.id in products
    ]
    shown += source_candidates(one, state)
    shown.sort(key=lambda pair: -pair[0]["confidence"])
    candidates = [told for told, _ in shown]
    if shown and one.verdict.outcome == "found":
        return found_outcome(one.checkpoint, candidates[0], shown[0][1], candidates, one.events)
    if shown:
        kept = {told["key"]: product for told, product in shown if told["provider"] != CATALOG}
        weak = one.verdict.outcome == "weak"
        return ambiguous_outcome(one.checkpoint, candidates, kept, weak=weak, effects=one.events)
    return not_found_outcome(
        tried, one.events, final=state.is_last, reason=one.reason(), failed=failed
    )
