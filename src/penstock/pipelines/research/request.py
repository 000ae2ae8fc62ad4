"""The stage `validate`: the request becomes one item per source, and each source is opened."""

from __future__ import annotations

import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any
from uuid import UUID

from penstock.model.effects import Effect, NameRow, RecordRequest
from penstock.model.errors import BadInput, NotThere, PermanentError
from penstock.model.network.fetching import FetchPurpose
from penstock.model.outcomes import Advance, Child, Done, Outcome
from penstock.model.pipeline import Item
from penstock.model.ports import Context, JobRows
from penstock.model.sources.search import ResearchRequests, Sources
from penstock.pipelines.research.config import SearchOrder
from penstock.pipelines.research.steps import (
    KIND,
    OFFERS,
    REQUEST,
    SourceTask,
    for_each,
    progress_event,
)

MAX_ATTEMPTS = 5
_MOST_ROWS = 10_000


@dataclass(frozen=True, slots=True)
class Plan:
    """What a request asks, and the earlier jobs whose answers it uses again."""

    order: SearchOrder
    sources: Mapping[str, UUID]
    # All sources of the request, with those that answered an earlier attempt.
    all_sources: Sequence[str]
    previous: Sequence[UUID] = ()


async def _validate(item: Item, ctx: Context) -> Outcome:
    if item.input[KIND] == "request":
        return await _request(item, ctx)
    task = SourceTask.of(item)
    source = await ctx.port(Sources).open(item.job.org_id, task.source_id)
    missing = [
        name for name in source.config.auth.credential_names if not source.credentials.get(name)
    ]
    if missing:
        raise PermanentError(
            "AUTHENTICATION_FAILED", f"The source {source.name} has no credential {missing[0]!r}."
        )
    return Advance({}, effects=[task.progress("validate", f"{task.source}: checked")])


validate = for_each(_validate)


async def _request(item: Item, ctx: Context) -> Outcome:
    config = item.job.config
    request_id = config.request_id or str(item.job.id)
    if config.webhook_url is not None:
        await ctx.fetchers[FetchPurpose.WEBHOOK].check(config.webhook_url)
    plan = await (_first(item, ctx) if config.original is None else _again(item, ctx))
    started = time.time()
    shared = {"requestId": request_id, "order": plan.order.plain(), "started": started}
    spawn = [
        Child(f"source:{name}", {KIND: "source", "source": name, "sourceId": str(one), **shared})
        for name, one in plan.sources.items()
    ]
    spawn.append(Child("merge", {KIND: "merge", **shared}, "store"))
    document: dict[str, Any] = {
        **shared,
        "sources": list(plan.all_sources),
        "previous": [str(one) for one in plan.previous],
    }
    effects: list[Effect] = [
        NameRow([REQUEST]),
        RecordRequest(request_id, config.webhook_url),
        progress_event(request_id, "validate", f"Asking {len(plan.sources)} sources", started),
    ]
    shown = {KIND: "request", "title": plan.order.query}
    return Done(shown, document, spawn=spawn, effects=effects)


async def _first(item: Item, ctx: Context) -> Plan:
    order: SearchOrder = item.job.config.order
    chosen = await _choose_sources(item.job.org_id, order, ctx)
    return Plan(order, chosen, list(chosen))


async def _choose_sources(org_id: int, order: SearchOrder, ctx: Context) -> Mapping[str, UUID]:
    known = await ctx.port(Sources).names(org_id)
    if order.sources is None:
        if not known:
            raise BadInput("INVALID_PARAMETERS", "The org has no enabled source. Add one first.")
        return known
    unknown = [name for name in order.sources if name not in known]
    if unknown:
        raise BadInput("INVALID_PARAMETERS", f"There is no enabled source {unknown[0]!r}.")
    return {name: known[name] for name in dict.fromkeys(order.sources)}


async def _again(item: Item, ctx: Context) -> Plan:
    """A retry by hand: what an earlier attempt was answered is used again."""
    org_id, request_id = item.job.org_id, item.job.config.original
    jobs = [one for one in await ctx.port(ResearchRequests).attempts(org_id, request_id)
            if one != item.job.id]  # fmt: skip
    if not jobs:
        raise NotThere("RESOURCE_NOT_FOUND", f"There is no research request {request_id!r}.")
    if len(jobs) >= MAX_ATTEMPTS:
        raise PermanentError(
            "INVALID_STATE", f"A request is tried {MAX_ATTEMPTS} times in all, by hand too."
        )
    first = await request_document(jobs[0], ctx)
    if first is None:
        raise PermanentError("INVALID_STATE", "The first attempt of this request was not valid.")
    order = SearchOrder.model_validate(first["order"])
    answered: set[str] = set()
    for job_id in jobs:
        answered |= {str(one["source"]) for one in await named_documents(job_id, OFFERS, ctx)}
    known = await ctx.port(Sources).names(org_id)
    asked = {
        name: known[name] for name in first["sources"] if name in known and name not in answered
    }
    return Plan(order, asked, first["sources"], jobs)


async def request_document(job_id: UUID, ctx: Context) -> Mapping[str, Any] | None:
    found = await named_documents(job_id, REQUEST, ctx)
    return found[0] if found else None


async def named_documents(job_id: UUID, name: str, ctx: Context) -> list[Mapping[str, Any]]:
    """The checkpoints of the job's rows with a name."""
    port = ctx.port(JobRows)
    rows = (await port.rows_named(job_id, [name], _MOST_ROWS)).get(name, ())
    if not rows:
        return []
    found = await port.documents(job_id, rows)
    return [found[row] for row in sorted(found) if found[row]]
