"""The summary of an import: products, pictures, problems, and what the shop no longer has."""

from __future__ import annotations

from typing import Any

from penstock.model.pipeline import Job
from penstock.model.ports import Context, JobRows, Products
from penstock.pipelines.shop_import.fetch import PRODUCTS

_MAX_EXAMPLES = 10
_MAX_KINDS = 100


async def summary_of(job: Job, ctx: Context, *, is_complete: bool) -> dict[str, Any]:
    rows = ctx.port(JobRows)
    tally = await rows.tally(job.id)
    counted = (await rows.group_counters(job.id, 100)).get(PRODUCTS, {})
    states = tally.states
    products = sum(states.get(one, 0) for one in ("new", "changed", "unchanged", "held"))
    summary: dict[str, Any] = {
        "provider": job.config.provider,
        "complete": is_complete,
        "totalProducts": max(products, counted.get("listed", 0), len(job.config.ids)),
        "products": products,
        "new": states.get("new", 0),
        "changed": states.get("changed", 0),
        "unchanged": states.get("unchanged", 0),
        "held": states.get("held", 0),
        "linked": tally.linked,
        "images": states.get("stored", 0) + states.get("reused", 0),
        "imagesStored": states.get("stored", 0),
        "imagesReused": states.get("reused", 0),
        "errors": job.counters.get("error", 0),
        "problems": _by_code(tally.problems),
    }
    if job.config.missing is not None and is_complete:
        summary["missing"] = await _missing(job, ctx)
    return summary


async def _missing(job: Job, ctx: Context) -> dict[str, Any]:
    found = await ctx.port(Products).missing(job.id, _MAX_EXAMPLES)
    return {
        "mode": job.config.missing,
        "count": found.count,
        "unpublished": found.unpublished,
        "examples": [
            {"sourceId": one["source_id"], "sku": one["sku"], "title": one["title"]}
            for one in found.first
        ],
    }


def _by_code(problems: Any) -> list[dict[str, Any]]:
    found: dict[str, dict[str, Any]] = {}
    for column, some in problems.items():
        for one in some:
            known = found.setdefault(one["code"], {**one, "count": 0, "column": column or None})
            known["count"] += one["count"]
    return sorted(found.values(), key=lambda one: (-one["count"], one["code"]))[:_MAX_KINDS]
