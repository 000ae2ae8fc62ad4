"""Ask the org's sources for items that the catalog does not have.

An item asks one source at a time, and goes back with the result, recorded: a crash repeats no
call that was recorded, and an item that waits for a limit holds no slot.
"""

from __future__ import annotations

import asyncio
import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import partial
from typing import Any
from uuid import NAMESPACE_URL, UUID, uuid5

from penstock.catalog.lookup.scoring import ScoredCandidate, judge, offer_score
from penstock.catalog.lookup.tries import SourceSearch, plan_try
from penstock.catalog.products.matching import identifiers_of
from penstock.model.effects import RecordSearch
from penstock.model.errors import ChildCrashed, ItemError, PenstockError, Waiting
from penstock.model.lookup import CATALOG, VARIANTS, CatalogCandidate
from penstock.model.outcomes import Outcome, Retry
from penstock.model.pipeline import Item, Job, each
from penstock.model.ports import Context
from penstock.model.sources.search import OpenedSource, SearchQuery, Sources
from penstock.pipelines.lookup.result import MAX_CANDIDATES, candidate_json
from penstock.pipelines.lookup.searches import ItemSearch
from penstock.providers.configured.search import find_offers, tools_of

_AT_ONCE = 8
_SHARE_OF_TIME = 0.9
_NEXT_SOURCE = ItemError("SEARCHING", "The next source will be asked")
_MAX_KEPT = 5
_OFFERS = "offers"


@dataclass(slots=True)
class SourceState:
    """What the sources have said about an item so far. ``products`` are by the ids that their
    candidates were given, ``left`` are the searches of this try that were not made yet."""

    products: dict[UUID, Mapping[str, Any]] = field(default_factory=dict)
    left: Sequence[SourceSearch] = ()
    is_last: bool = True


async def sources_of(job: Job, ctx: Context) -> Sequence[OpenedSource]:
    """The sources that this lookup may ask, by name."""
    wanted: Sequence[str] | None = job.config.sources
    if wanted is not None and not wanted:
        return ()
    known = await ctx.port(Sources).enabled(job.org_id)
    return [one for one in known if wanted is None or one.name in wanted]


def take_past_answers(one: ItemSearch, sources: Sequence[OpenedSource], job: Job) -> SourceState:
    """Score what sources have answered since the item was last reopened, and plan the rest of this
    try. A search that failed is made again in the next try."""
    state = SourceState()
    attempt = one.item.attempts
    for past in one.past:
        for product in (past.answer or {}).get(_OFFERS, ()):
            _add(one, state, past.provider, past.variant, product, job)
    names = [source.name for source in sources]
    variants = [variant for variant in VARIANTS if variant in one.queries]
    plan = plan_try(attempt, variants, names)
    earlier = [
        search for number in range(attempt) for search in plan_try(number, variants, names).searches
    ]
    answered = {(p.provider, p.variant) for p in one.past if p.outcome != "failed"}
    failed = {(p.provider, p.variant) for p in one.past if p.attempt == attempt} - answered
    open_searches = dict.fromkeys((*plan.searches, *earlier))
    state.left = [each for each in open_searches if each not in answered and each not in failed]
    state.is_last = plan.is_last and not failed
    return state


def _add(
    one: ItemSearch, state: SourceState, source: str, variant: str, product: Mapping[str, Any],
    job: Job,
) -> ScoredCandidate:  # fmt: skip
    names, told = identifiers_of(product), product.get("identifiers", {})
    key = f"{source}:{names.id or names.sku or names.gtin}"
    candidate = CatalogCandidate(
        uuid5(NAMESPACE_URL, key), source, names.id or key, names.sku, names.gtin,
        told.get("mpn"), product.get("brand"), product.get("title"), True,
    )  # fmt: skip
    scored = ScoredCandidate(candidate, offer_score(one.wanted_by_name(), candidate), variant)
    state.products[candidate.id] = product
    one.scored.append(scored)
    one.verdict = judge(one.scored, job.config.thresholds)
    return scored


async def ask_next(
    asked: Mapping[int, tuple[ItemSearch, SourceState]], sources: Sequence[OpenedSource],
    ctx: Context,
) -> dict[int, Outcome | None]:  # fmt: skip
    """Make the next search of each item. An item whose product was found by it has no outcome yet;
    the others go back, to ask the next source."""
    by_item = {id(one.item): (one, state) for one, state in asked.values()}
    opened = {source.name: source for source in sources}
    work = partial(_ask, by_item=by_item, sources=opened)
    items = [one.item for one, _ in asked.values()]
    outcomes = await each(work, _AT_ONCE)(items, ctx)
    return dict(zip(asked, outcomes, strict=True))


async def _ask(
    item: Item, ctx: Context, by_item: Mapping[int, tuple[ItemSearch, SourceState]],
    sources: Mapping[str, OpenedSource],
) -> Outcome:  # fmt: skip
    one, state = by_item[id(item)]
    source_name, variant = state.left[0]
    query, started = _text(one, variant), time.perf_counter()
    event = RecordSearch(source_name, variant, query, "notFound", 0, attempt=item.attempts)
    try:
        # Before the time of the item is over: the search is recorded, and the next source is asked.
        async with asyncio.timeout(_SHARE_OF_TIME * ctx.item_timeout_ms / 1000):
            offers = await find_offers(sources[source_name], SearchQuery(query), tools_of(ctx))
    except (PenstockError, ChildCrashed, TimeoutError) as error:
        if isinstance(error, Waiting) and error.code != "CIRCUIT_OPEN":
            return Retry(
                ItemError.of(error), error.retry_after_ms, counted=False, effects=one.events
            )
        ms = (time.perf_counter() - started) * 1000
        failed = replace(event, outcome="failed", latency_ms=ms, error=_shown_error(error))
        return Retry(_NEXT_SOURCE, 0, counted=False, effects=[*one.events, failed])
    ms = (time.perf_counter() - started) * 1000
    scored = [
        (_add(one, state, source_name, variant, offer.product, item.job), offer.product)
        for offer in offers
        if offer.error is None
    ]
    scored.sort(key=lambda pair: -pair[0].score)
    own = judge([each for each, _ in scored], item.job.config.thresholds)
    kept = [dict(product) for each, product in scored[:_MAX_KEPT] if each in own.ranked]
    answered = replace(
        event, outcome=own.outcome, latency_ms=round(ms, 3), candidates=len(own.ranked),
        score=own.best.score if own.best else None, answer={_OFFERS: kept} if kept else None,
    )  # fmt: skip
    one.events.append(answered)
    return Retry(_NEXT_SOURCE, 0, counted=False, effects=one.events)


def _shown_error(error: Exception) -> ItemError:
    match error:
        case TimeoutError():
            return ItemError("API_TIMEOUT", "The source did not answer in time")
        case ChildCrashed():
            return ItemError("SOURCE_UNREADABLE", "The answer is more than its reader can take")
    return ItemError.of(error)


def _text(one: ItemSearch, variant: str) -> str:
    """What a source is asked for. GTINs as they are printed: sources know no leading zeros."""
    if variant != "gtin":
        return one.queries[variant]
    digits = one.keys["gtin"][0].lstrip("0")
    return digits.zfill(8 if len(digits) <= 8 else 12)


def source_candidates(
    one: ItemSearch, state: SourceState
) -> list[tuple[dict[str, Any], Mapping[str, Any]]]:
    """The candidates of sources that are good enough to be shown, with their products."""
    return [
        (_shown(each, state.products[each.candidate.id]), state.products[each.candidate.id])
        for each in one.verdict.ranked[:MAX_CANDIDATES]
        if each.candidate.id in state.products
    ]


def _shown(one: ScoredCandidate, product: Mapping[str, Any]) -> dict[str, Any]:
    shown = candidate_json(one, None)
    shown.pop("productId")
    images: Sequence[Mapping[str, Any]] = product.get("images") or [{}]
    more = {
        "key": f"{one.candidate.source}:{one.candidate.source_id}",
        "provider": one.candidate.source,
        "image": images[0].get("url"),
    }
    return shown | {name: value for name, value in more.items() if value is not None}


def catalog_was_searched(one: ItemSearch) -> bool:
    """In this try: its searches are recorded already."""
    return any(p.provider == CATALOG and p.attempt == one.item.attempts for p in one.past)
