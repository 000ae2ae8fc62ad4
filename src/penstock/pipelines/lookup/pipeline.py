"""The pipeline `lookup`: find the product of each row of a list, or of each picture."""

from __future__ import annotations

from collections.abc import AsyncGenerator, Mapping, Sequence
from contextlib import aclosing
from typing import Any, ClassVar

from penstock.catalog.products.grid import AMOUNTS
from penstock.formats.pictures import is_picture
from penstock.formats.read_table import check_head
from penstock.model.errors import BadInput
from penstock.model.held_rows import PROPOSED
from penstock.model.lookup import AMBIGUOUS
from penstock.model.outcomes import Outcome
from penstock.model.pipeline import (
    Config,
    Item,
    Job,
    Pipeline,
    RowBatch,
    Stage,
    StageFunction,
    Traits,
)
from penstock.model.ports import Context, JobRows
from penstock.model.states import ItemStatus
from penstock.pipelines.extraction.plan import check_mapping
from penstock.pipelines.lookup.config import LookupConfig
from penstock.pipelines.lookup.enrichment import COLUMNS as ENRICH_COLUMNS
from penstock.pipelines.lookup.enrichment import (
    FILLED_ALREADY,
    NO_GAPS,
    PRODUCT_ID,
    REFUSED,
    product_batches,
    read_products,
)
from penstock.pipelines.lookup.pictures import COLUMNS, has_pictures, picture_batches, read_pictures
from penstock.pipelines.lookup.rows import read_rows, row_batches, row_context
from penstock.pipelines.lookup.search import search


async def read(batch: Sequence[Item], ctx: Context) -> Sequence[Outcome | None]:
    """The stage `read`: what each row or picture asks for."""
    outcomes: dict[int, Outcome | None] = {}
    kinds = [_kind(item) for item in batch]
    for kind, work in _READERS.items():
        places = [place for place, one in enumerate(kinds) if one == kind]
        found = await work([batch[place] for place in places], ctx)
        outcomes |= dict(zip(places, found, strict=True))
    return [outcomes[place] for place in range(len(batch))]


def _kind(item: Item) -> str:
    """Rows are arrays of cells; pictures and products say what they are."""
    if not isinstance(item.input, Mapping):
        return "row"
    return "product" if PRODUCT_ID in item.input else "picture"


_READERS: Mapping[str, StageFunction] = {
    "row": read_rows,
    "picture": read_pictures,
    "product": read_products,
}
_SHOWN = {
    AMBIGUOUS: "Ambiguous",
    PROPOSED: "Proposed",
    REFUSED: "Refused",
    FILLED_ALREADY: "Filled already",
    NO_GAPS: "No gaps",
}
_LABELS = {"title": "title", "brand": "brand", "sku": "identifiers.sku"}


class Lookup(Pipeline):
    name: ClassVar[str] = "lookup"
    amount_columns = AMOUNTS
    Config: ClassVar[type[Config]] = LookupConfig
    takes_file: ClassVar[bool] = True
    max_files: ClassVar[int] = 1000

    def traits(self, config: LookupConfig) -> Traits:
        return Traits(summarizes=True, needs_full_input=True, profile=config.profile)

    def stages(self, config: LookupConfig) -> tuple[Stage, ...]:
        return (Stage("read", run=read), Stage("search", run=search))

    def shown(self, status: ItemStatus, stage: str | None, code: str | None) -> str | None:
        return _SHOWN.get(code) if status is ItemStatus.SKIPPED and code is not None else None

    def check_order(self, config: LookupConfig, files: int) -> None:
        given = (bool(files), config.rows is not None, config.enrich is not None)
        if sum(given) != 1:
            raise BadInput(
                "INVALID_PARAMETERS",
                "A lookup needs either files (a list, or pictures), or `rows` in its config.",
            )

    def check(self, head: bytes, size: int, name: str) -> None:
        if not is_picture(head[:16]):
            check_head(head, size, name)

    def check_remap(self, before: LookupConfig, after: LookupConfig, header: Sequence[str]) -> None:
        if not header:
            raise BadInput("INVALID_PARAMETERS", "Only the columns of a list can be remapped.")
        check_mapping(header, after.mapping)
        if (before.reading(), before.rows) != (after.reading(), after.rows) or after.enrich:
            raise BadInput(
                "INVALID_PARAMETERS",
                "The rows are stored as they were read. To look up others, create another job.",
            )

    def columns_of(self, context: Mapping[str, Any]) -> Sequence[str] | None:
        return context.get("columns")

    def labels(self, context: Mapping[str, Any]) -> Mapping[str, int]:
        columns = enumerate(context.get("mapping", ()))
        places = {one["target"]: n for n, one in reversed(list(columns))}
        return {name: places[target] for name, target in _LABELS.items() if target in places}

    async def rows(
        self, job: Job, ctx: Context, cursor: Mapping[str, Any] | None
    ) -> AsyncGenerator[RowBatch, None]:
        pictured = "pictures" in cursor if cursor else await has_pictures(job, ctx)
        if job.config.enrich is not None:
            found = product_batches(job, ctx, cursor)
        elif pictured:
            found = picture_batches(job, ctx, cursor)
        else:
            found = row_batches(job, ctx, cursor)
        async with aclosing(found) as batches:
            async for batch in batches:
                yield batch

    async def after_ingest(
        self, job: Job, cursor: Mapping[str, Any], ctx: Context
    ) -> Mapping[str, Any]:
        if job.config.enrich is not None:
            return {"columns": list(ENRICH_COLUMNS)}
        if "pictures" in cursor:
            return {"columns": list(COLUMNS)}
        return await row_context(job, cursor, ctx)

    async def summarize(self, job: Job, ctx: Context) -> Mapping[str, Any]:
        states = (await ctx.port(JobRows).tally(job.id)).states
        if job.config.enrich is not None:
            named = ("proposed", "enriched", "refused", "unchanged", "notFound")
            counted = {name: states.get(name, 0) for name in named}
            return {"total": job.counters.get("total", 0), **counted}
        return {
            "total": job.counters.get("total", 0),
            "found": states.get("found", 0),
            "ambiguous": states.get("ambiguous", 0),
            "notFound": states.get("notFound", 0),
            "errors": job.counters.get("error", 0),
        }
