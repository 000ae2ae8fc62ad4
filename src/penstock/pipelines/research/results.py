"""The stages `normalise`, `store` and `notify`: answers become offers, and offers one list."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from datetime import UTC, date, datetime
from typing import Any
from uuid import UUID

from penstock.catalog.products.grid import flatten, grid_columns
from penstock.catalog.research.filters import OfferFilter
from penstock.catalog.research.merge import Merged, MergedProduct, SourceOffer, merge_offers
from penstock.catalog.values.currencies import rates_on
from penstock.model.effects import Effect, NameRow
from penstock.model.outcomes import Advance, Child, Done, Outcome
from penstock.model.pipeline import Item
from penstock.model.ports import Context, InputFile, Profiles
from penstock.model.sources.search import Sources
from penstock.pipelines.research.config import SearchOrder
from penstock.pipelines.research.request import named_documents, request_document
from penstock.pipelines.research.steps import (
    KIND,
    MERGED,
    OFFERS,
    SourceTask,
    for_each,
    progress_event,
)
from penstock.providers.configured.search import read_page, tools_of

# The key of the first merged product; all rows before it are steps of the request.
FIRST_KEY = "product:000001"
_SHOWN_FIELDS = (
    "sourceId", "title", "brand", "category", "identifiers.gtin", "identifiers.mpn",
    "identifiers.sku", "price.amount", "price.currency", "price.unit", "availability.status",
    "availability.quantity", "availability.leadTimeDays", "availability.minOrder",
    "availability.deliveryDate", "supplier.name", "supplier.location", "images", "metadata.url",
    "metadata.confidence",
)  # fmt: skip
_CELLS = tuple(
    name
    for name in grid_columns(_SHOWN_FIELDS, [], converts=True)
    if name not in ("match", "id", "source")
)
COLUMNS = ("rank", "score", "sourceCount", *_CELLS, "sources")
# What is kept of an offer for the merge.
_MOST_OFFERS = 5_000


def _today() -> date:
    return datetime.now(UTC).date()


async def _normalise(item: Item, ctx: Context) -> Outcome:
    task = SourceTask.of(item)
    document = dict(item.normalized or {})
    source = await ctx.port(Sources).open(item.job.org_id, task.source_id)
    base = task.order.base_currency
    rates = await ctx.port(Profiles).rates(base, _today())
    tools = tools_of(ctx, base_currency=base, rates=rates)
    async with ctx.blobs.local(document["blob"]) as path:
        read = await read_page(source, InputFile(path), document["headers"], tools)
    good = [one for one in read.offers if one.error is None]
    document |= {
        "offers": [{"product": one.product, "lineage": one.lineage} for one in good],
        "invalid": len(read.offers) - len(good),
        "invalidCodes": sorted({str((one.error or {}).get("code")) for one in read.offers
                                if one.error is not None})[:10],
        "delivers": list(source.config.regions),
        "cost": {"amount": format(source.config.cost.per_call, "f"),
                 "currency": source.config.cost.currency},
    }  # fmt: skip
    effects: list[Effect] = [
        NameRow([OFFERS]),
        task.progress("normalise", f"{task.source}: {len(good)} products"),
    ]
    return Advance(document, effects=effects)


normalise = for_each(_normalise)


async def _store(item: Item, ctx: Context) -> Outcome:
    """Once all sources have answered or failed: one item merges what they offer."""
    if item.input[KIND] != "merge":
        return Advance(item.normalized, spawn=await _merge_again(item, ctx))
    told = item.input
    number = int(told.get("number", 1))
    order = SearchOrder.model_validate(told["order"])
    request = await request_document(item.job.id, ctx) or {}
    jobs = [*(UUID(one) for one in request.get("previous", ())), item.job.id]
    merged = await _merge_offers(jobs, order, ctx)
    spawn = [
        Child(_product_key(rank, number), _product_input(rank, one), "notify")
        for rank, one in enumerate(merged.products, 1)
    ]
    document = {"products": len(merged.products), "kept": merged.kept, "leftOut": merged.left_out,
                "noRate": merged.no_rate}  # fmt: skip
    message = f"{len(merged.products)} products from {len(merged.kept)} sources"
    effects: list[Effect] = [
        NameRow([MERGED]),
        progress_event(told["requestId"], "store", message, float(told["started"])),
    ]
    return Advance(document, {KIND: "merge", "title": message}, spawn=spawn, effects=effects)


store = for_each(_store)


async def _merge_again(item: Item, ctx: Context) -> Sequence[Child]:
    """A source that is asked again after the merge, because its item was reprocessed, needs another
    merge. All sources of that time ask for the same one."""
    if item.generation == 1:
        return ()
    done = len(await named_documents(item.job.id, MERGED, ctx))
    if not done:
        # The first one waits for this source.
        return ()
    number = done + 1
    shared = {name: item.input[name] for name in ("requestId", "order", "started")}
    return [Child(f"merge:{number}", {KIND: "merge", "number": number, **shared}, "store")]


def _product_key(rank: int, number: int) -> str:
    return f"product:{rank:06}" if number == 1 else f"product:{rank:06}@{number}"


async def _merge_offers(jobs: Sequence[UUID], order: SearchOrder, ctx: Context) -> Merged:
    offers: list[SourceOffer] = []
    for job_id in jobs:
        for page in await named_documents(job_id, OFFERS, ctx):
            offers += [
                SourceOffer(one["product"], one["lineage"], page.get("delivers", ()))
                for one in page["offers"]
            ]
    base = order.base_currency
    table = await ctx.port(Profiles).rates(base, _today())
    wanted, price = order, order.price_range
    filters = OfferFilter(
        price.min, price.max, price.currency, wanted.region, wanted.suppliers, wanted.categories
    )
    rates = rates_on(_today(), base, table)
    return merge_offers(offers[:_MOST_OFFERS], order.query, filters, rates)


def _product_input(rank: int, one: MergedProduct) -> dict[str, Any]:
    return {
        KIND: "product", "rank": rank, "title": one.product.get("title"),
        "brand": one.product.get("brand"), "product": one.product, "lineage": one.lineage,
        "sources": one.sources, "score": one.score, "scoreParts": one.parts,
    }  # fmt: skip


async def _notify(item: Item, ctx: Context) -> Outcome:
    match item.input[KIND]:
        case "product":
            return _product(item.input)
        case "merge":
            told = item.input
            event = progress_event(told["requestId"], "notify", "Finished", float(told["started"]))
            return Done({KIND: "merge"}, effects=[event])
    task = SourceTask.of(item)
    found = len((item.normalized or {}).get("offers", ()))
    shown = {KIND: item.input[KIND], "title": task.source, "status": "done", "found": found}
    return Done(shown, effects=[task.progress("notify", f"{task.source}: finished")])


notify = for_each(_notify)


def _product(told: Mapping[str, Any]) -> Done:
    sources = told["sources"]
    result = {
        "rank": told["rank"],
        "score": told["score"],
        "sourceCount": len({one["source"] for one in sources}),
        **flatten(told["product"], _CELLS),
        "sources": sources,
    }
    document = {
        "product": told["product"], "lineage": told["lineage"], "problems": [],
        "scoreParts": told["scoreParts"],
    }  # fmt: skip
    return Done(result, document)
