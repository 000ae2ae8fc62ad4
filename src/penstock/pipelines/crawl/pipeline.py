"""The pipeline `crawl`: pages of companies become products and job postings."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncGenerator, Mapping
from typing import Any, ClassVar

import orjson
from pydantic import ValidationError

from penstock.catalog.products.grid import AMOUNTS, MATCH
from penstock.model.crawl.plan import CrawlPlan
from penstock.model.errors import BadInput
from penstock.model.pipeline import Config, Job, Pipeline, RowBatch, Stage, Traits
from penstock.model.ports import Context, JobRows
from penstock.model.states import ItemStatus
from penstock.pipelines.crawl.config import CRAWL_POLICY, CrawlConfig
from penstock.pipelines.crawl.crawl import crawl
from penstock.pipelines.crawl.extract import extract
from penstock.pipelines.crawl.preview import preview_page
from penstock.pipelines.crawl.products import SHOWN

MAX_PLAN_BYTES = 32 * 1024 * 1024
_ENDED = {
    ItemStatus.DONE: "ready",
    ItemStatus.SKIPPED: "skipped",
    ItemStatus.NOT_FOUND: "expired",
    ItemStatus.ERROR: "error",
}


class Crawl(Pipeline):
    name: ClassVar[str] = "crawl"
    amount_columns = AMOUNTS
    Config: ClassVar[type[Config]] = CrawlConfig
    # The list of companies and pages, as JSON.
    needs_file: ClassVar[bool] = True
    columns: ClassVar[tuple[str, ...] | None] = (
        *("company", "kind", "title", "url"),
        *(name for name in SHOWN if name != "title"),
        *("location", "employmentType", "datePosted", "validThrough", MATCH),
    )
    waiting_stages: ClassVar[frozenset[str]] = frozenset(("crawl",))
    phases: ClassVar[Mapping[str, str]] = {"crawl": "crawling", "extract": "extracting"}

    def stages(self, config: CrawlConfig) -> tuple[Stage, ...]:
        return (
            Stage("crawl", run=crawl, policy=CRAWL_POLICY, share=3, pace_ms=config.pace_ms),
            Stage("extract", run=extract, grouped=False),
        )

    def traits(self, config: Any) -> Traits:
        return Traits(spawns=True, summarizes=True)

    def shown(self, status: ItemStatus, stage: str | None, code: str | None) -> str | None:
        if stage not in self.phases:
            return None
        return _ENDED.get(status) or ("crawled" if stage == "extract" else "pending")

    def check(self, head: bytes, size: int, name: str) -> None:
        if not head.lstrip().startswith(b"{") or size > MAX_PLAN_BYTES:
            raise BadInput(
                "UNSUPPORTED_TYPE",
                "A crawl needs its companies and pages as a JSON object"
                f" of at most {MAX_PLAN_BYTES:,} bytes. Use POST /api/runs.",
            )

    async def rows(
        self, job: Job, ctx: Context, cursor: Mapping[str, Any] | None
    ) -> AsyncGenerator[RowBatch, None]:
        assert job.file is not None
        async with ctx.blobs.local(job.file.blob_key) as path:
            plan = plan_of(await asyncio.to_thread(path.read_bytes))
        rows = plan.rows()
        start = cursor["next"] if cursor else 0
        while start < len(rows):
            stop = min(start + ctx.batch_rows, len(rows))
            yield RowBatch(rows[start:stop], {"next": stop}, stop, len(rows))
            start = stop

    async def preview(self, job: Job, ctx: Context) -> Mapping[str, Any]:
        if "url" not in job.context:
            raise BadInput("INVALID_PARAMETERS", "Use POST /api/runs/preview for a page.")
        return await preview_page(job, ctx)

    async def summarize(self, job: Job, ctx: Context) -> Mapping[str, Any]:
        tally = await ctx.port(JobRows).tally(job.id)
        states, counters = tally.states, job.counters
        return {
            "ready": counters.get("done", 0),
            "skipped": counters.get("skipped", 0),
            "expired": counters.get("not_found", 0),
            "errors": counters.get("error", 0),
            "new": states.get("new", 0),
            "changed": states.get("changed", 0),
            "unchanged": states.get("unchanged", 0),
            "held": states.get("held", 0),
        }


def plan_of(content: bytes) -> CrawlPlan:
    try:
        return CrawlPlan.model_validate(orjson.loads(content))
    except (orjson.JSONDecodeError, ValidationError) as error:
        raise BadInput(
            "INVALID_PARAMETERS", f"The list of companies and pages cannot be read: {error}"
        ) from error
