"""The summary of a request: what each source was asked, found, cost, and why it failed."""

from __future__ import annotations

from collections.abc import Mapping
from decimal import Decimal
from typing import Any
from uuid import UUID

from penstock.model.pipeline import Job
from penstock.model.ports import Context, JobRows
from penstock.pipelines.research.request import named_documents, request_document
from penstock.pipelines.research.steps import MERGED, OFFERS

_NOT_TOLD = {"code": "CANCELLED", "message": "The source was not asked to the end."}
_MOST_FAILURES = 10_000


async def summary_of(job: Job, ctx: Context) -> dict[str, Any]:
    request = await request_document(job.id, ctx)
    if request is None:
        return {"products": 0, "sources": {}}
    merged = (await named_documents(job.id, MERGED, ctx) or [{}])[-1]
    sources: dict[str, dict[str, Any]] = {}
    for job_id in (*map(UUID, request.get("previous", ())), job.id):
        await _add_pages(sources, job_id, ctx, is_reused=job_id != job.id)
    for name in request["sources"]:
        one = sources.setdefault(name, _empty())
        if not one["calls"] and one["failed"] is None:
            one["failed"] = dict(_NOT_TOLD)
        one["kept"] = merged.get("kept", {}).get(name, 0)
        one["leftOut"] = merged.get("leftOut", {}).get(name, {})
        one["noRate"] = merged.get("noRate", {}).get(name, 0)
    answered = [one for one in sources.values() if one["calls"]]
    return {
        "requestId": request["requestId"],
        "query": request["order"]["query"],
        "products": merged.get("products", 0),
        "offers": sum(one["found"] for one in answered),
        "sourcesAsked": len(sources),
        "sourcesAnswered": len(answered),
        "sourcesFailed": sum(one["failed"] is not None for one in sources.values()),
        "sources": {name: _shown(one) for name, one in sources.items()},
    }


def _empty() -> dict[str, Any]:
    return {
        "found": 0, "kept": 0, "invalid": 0, "leftOut": {}, "noRate": 0, "calls": 0,
        "latencyMs": 0, "costs": {}, "failed": None, "reused": False, "rawAnswers": [],
    }  # fmt: skip


async def _add_pages(
    sources: dict[str, dict[str, Any]], job_id: UUID, ctx: Context, *, is_reused: bool
) -> None:
    for page in await named_documents(job_id, OFFERS, ctx):
        one = sources.setdefault(str(page["source"]), _empty())
        one["calls"] += 1
        one["found"] += page["records"]
        one["invalid"] += page["invalid"]
        one["latencyMs"] = max(one["latencyMs"], page["ms"])
        one["rawAnswers"].append(page["blob"])
        one["reused"] = is_reused
        cost: Mapping[str, str] = {} if is_reused else page["cost"]
        if cost:
            known = one["costs"].get(cost["currency"], Decimal(0))
            one["costs"][cost["currency"]] = known + Decimal(cost["amount"])
    for row in () if is_reused else await ctx.port(JobRows).failures(job_id, _MOST_FAILURES):
        kind, _, rest = (row.key or "").partition(":")
        if kind == "source":
            name, _, page_no = rest.partition(":page:")
            one = sources.setdefault(name, _empty())
            one["failed"] = {
                "code": row.code, "message": row.message, "page": int(page_no or 1),
                "tries": row.attempts,
            }  # fmt: skip


def _shown(one: Mapping[str, Any]) -> dict[str, Any]:
    costs = [
        {"amount": format(amount, "f"), "currency": currency}
        for currency, amount in one["costs"].items()
        if amount
    ]
    return {**{name: value for name, value in one.items() if name != "costs"}, "cost": costs}
