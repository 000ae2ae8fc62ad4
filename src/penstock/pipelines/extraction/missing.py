"""Report or unpublish products of the catalog that a supplier's file does not contain."""

from __future__ import annotations

from typing import Any

from penstock.model.pipeline import Job
from penstock.model.ports import Context, JobRows, Products

_MAX_EXAMPLES = 10
# Records with this problem produced no row.
_LOST = "INVALID_JSON"


async def why_not_unpublish(job: Job, ctx: Context) -> str | None:
    """Why missing products must not be unpublished; None if they may be."""
    reading = job.context.get("reading", {})
    if not job.counters.get("total"):
        return "The file has no rows."
    if any(one["code"] == _LOST for one in reading.get("problems", ())):
        return "Parts of the file could not be read."
    unnamed = await ctx.port(JobRows).unnamed_rows(job.id)
    if unnamed:
        return (
            "1 row does not say which product it is."
            if unnamed == 1
            else f"{unnamed:,} rows do not say which product they are."
        )
    return None


async def missing_of(job: Job, ctx: Context) -> dict[str, Any]:
    """For the summary; the complete list can be exported."""
    found = await ctx.port(Products).missing(job.id, _MAX_EXAMPLES)
    refused = await why_not_unpublish(job, ctx)
    told: dict[str, Any] = {
        "mode": job.config.missing,
        "count": found.count,
        "unpublished": found.unpublished,
        "examples": [
            {"sourceId": one["source_id"], "sku": one["sku"], "title": one["title"]}
            for one in found.first
        ],
    }
    if refused:
        # Products reported as missing may be in rows that could not be identified.
        told["incomplete"] = refused
    return told
