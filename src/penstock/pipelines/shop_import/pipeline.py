"""The pipeline `shop_import`: products and pictures of a connected shop."""

from __future__ import annotations

from collections.abc import AsyncGenerator, Mapping, Sequence
from datetime import datetime
from typing import Any, ClassVar

from penstock.catalog.products.grid import AMOUNTS
from penstock.model.effects import Effect, FindMissing, SaveCursor, SetImportError
from penstock.model.errors import PenstockError
from penstock.model.held_rows import GTIN_HELD, PRICE_HELD
from penstock.model.pipeline import (
    MAX_INLINE_ROWS,
    Config,
    Job,
    Pipeline,
    Row,
    RowBatch,
    Stage,
    Traits,
)
from penstock.model.ports import Connections, Context, JobRows
from penstock.model.states import ItemStatus
from penstock.pipelines.product_variants import ProductVariants
from penstock.pipelines.shop_import.at_once import at_once
from penstock.pipelines.shop_import.config import POLICY, ShopImportConfig
from penstock.pipelines.shop_import.create import create, map_products
from penstock.pipelines.shop_import.fetch import FETCHED_AT_ONCE, LAST_PAGE, fetch
from penstock.pipelines.shop_import.images import (
    DOWNLOADED_AT_ONCE,
    SHRUNK_AT_ONCE,
    download,
    make_thumbnails,
    upload,
)
from penstock.pipelines.shop_import.mapping import COLUMNS
from penstock.pipelines.shop_import.summary import summary_of

# Failed rows among which that of a page is looked for.
_MOST_FAILURES = 100
_SHOWN = {
    PRICE_HELD: "Price held",
    GTIN_HELD: "GTIN held",
    "NOT_IN_CATALOG": "Not in catalog",
    "EXISTS_ALREADY": "In catalog",
}


class ShopImport(Pipeline):
    name: ClassVar[str] = "shop_import"
    amount_columns = AMOUNTS
    variant_table = ProductVariants()
    Config: ClassVar[type[Config]] = ShopImportConfig
    columns: ClassVar[tuple[str, ...] | None] = COLUMNS
    phases: ClassVar[Mapping[str, str]] = {
        "fetch": "fetching",
        "map": "mapping",
        "create": "creating",
        "download": "downloading_images",
        "upload": "uploading_images",
        "thumbnails": "thumbnails",
    }

    items_at_once: ClassVar[Mapping[str, int]] = {
        "fetch": FETCHED_AT_ONCE,
        "download": DOWNLOADED_AT_ONCE,
        "thumbnails": SHRUNK_AT_ONCE,
    }
    waiting_stages: ClassVar[frozenset[str]] = frozenset(("fetch", "download"))

    def stages(self, config: ShopImportConfig) -> tuple[Stage, ...]:
        return (
            Stage("fetch", run=at_once(fetch, map_products, create), policy=POLICY, share=3),
            Stage("map", run=at_once(map_products, create), policy=POLICY),
            Stage("create", run=create, policy=POLICY),
            Stage("download", run=download, policy=POLICY, share=3),
            Stage("upload", run=upload, policy=POLICY),
            Stage("thumbnails", run=make_thumbnails, policy=POLICY, share=2),
        )

    def traits(self, config: Any) -> Traits:
        return Traits(spawns=True, summarizes=True)

    def shown(self, status: ItemStatus, stage: str | None, code: str | None) -> str | None:
        return _SHOWN.get(code) if status is ItemStatus.SKIPPED and code is not None else None

    def inline(self, config: ShopImportConfig) -> Sequence[Row] | None:
        told = config.first_rows()
        return [_row(one) for one in told] if len(told) <= MAX_INLINE_ROWS else None

    async def rows(
        self, job: Job, ctx: Context, cursor: Mapping[str, Any] | None
    ) -> AsyncGenerator[RowBatch, None]:
        told = job.config.first_rows()
        start = cursor["next"] if cursor else 0
        while start < len(told):
            stop = min(start + ctx.batch_rows, len(told))
            rows = [_row(one) for one in told[start:stop]]
            yield RowBatch(rows, {"next": stop}, stop, len(told))
            start = stop

    async def last_effects(self, job: Job, ctx: Context) -> Sequence[Effect]:
        """Only a list that was read to its end says what is missing and where to continue."""
        config: ShopImportConfig = job.config
        found, next_since = await _end_of_list(job, ctx)
        effects: list[Effect] = [
            SetImportError(config.connection_id, await _import_error(job, ctx, found))
        ]
        if not found:
            return effects
        if config.missing is not None:
            source = await _source(job, ctx)
            if source is not None:
                effects.append(FindMissing(source, config.missing == "unpublish"))
        if config.intent != "check":
            effects.append(SaveCursor(config.connection_id, next_since))
        return effects

    async def summarize(self, job: Job, ctx: Context) -> Mapping[str, Any]:
        found, _ = await _end_of_list(job, ctx)
        return await summary_of(job, ctx, is_complete=found or job.config.product_ids is not None)


def _row(told: Mapping[str, Any]) -> Row:
    key = f"page:{told['page']}" if told["kind"] == "page" else f"product:{told['id']}"
    return Row(dict(told), key)


async def _end_of_list(job: Job, ctx: Context) -> tuple[bool, datetime | None]:
    """Whether the last page was read, and where the next incremental import begins."""
    rows = ctx.port(JobRows)
    named = await rows.rows_named(job.id, [LAST_PAGE], 1)
    if not named.get(LAST_PAGE):
        return False, None
    row = named[LAST_PAGE][0]
    told = (await rows.documents(job.id, [row])).get(row) or {}
    since = told.get("nextSince")
    return True, None if since is None else datetime.fromisoformat(since)


async def _import_error(job: Job, ctx: Context, found: bool) -> Mapping[str, Any] | None:
    """Why the shop could not be read: its list not to the end, or none of the chosen products."""
    counted = job.counters
    others = sum(counted.get(one, 0) for one in ("done", "skipped", "not_found"))
    if found if job.config.product_ids is None else others > 0:
        return None
    failures = await ctx.port(JobRows).failures(job.id, _MOST_FAILURES)
    pages = [one for one in failures if (one.key or "").startswith("page:")]
    # A product that the shop does not have says nothing about the connection.
    for one in pages or (one for one in failures if one.code != "RESOURCE_NOT_FOUND"):
        return {"code": one.code, "message": one.message}
    return None


async def _source(job: Job, ctx: Context) -> str | None:
    try:
        return (await ctx.port(Connections).open(job.org_id, job.config.connection_id)).source
    except PenstockError:
        # Deleted meanwhile: its products are no longer compared with the shop.
        return None
