"""The extraction pipeline: read, map, normalise, validate, match and apply supplier files."""

from __future__ import annotations

from collections.abc import AsyncGenerator, Mapping, Sequence
from contextlib import aclosing
from datetime import datetime, timedelta
from hashlib import sha256
from typing import Any, ClassVar, Literal

import orjson
from pydantic import Field, model_validator

from penstock import __version__
from penstock.catalog.mapping.column_stats import ColumnStats
from penstock.catalog.products.grid import AMOUNTS
from penstock.catalog.products.plan import compile_plan
from penstock.catalog.products.validate import compile_validator
from penstock.catalog.profiles import profile as profiles
from penstock.catalog.profiles.checks import Contract, Key, Winner
from penstock.formats.read_table import check_head
from penstock.model.effects import FindMissing
from penstock.model.errors import BadInput
from penstock.model.held_rows import GTIN_HELD, PRICE_HELD
from penstock.model.pipeline import Config, Job, Pipeline, RowBatch, Stage, Traits
from penstock.model.ports import Context, JobRows, Products, Profiles, Tally
from penstock.model.ranges import RangeWork
from penstock.model.states import ItemStatus
from penstock.pipelines.extraction import preview as previews
from penstock.pipelines.extraction.column_figures import column_figures
from penstock.pipelines.extraction.file_rows import (
    ReadingConfig,
    batches_of_file,
    read_rows_and_stats,
    reading_context,
)
from penstock.pipelines.extraction.match import match
from penstock.pipelines.extraction.missing import missing_of, why_not_unpublish
from penstock.pipelines.extraction.plan import (
    build_context,
    check_mapping,
    choose_profile,
    require_naming,
    same_plan,
    source_of,
    source_warnings,
    today,
)
from penstock.pipelines.extraction.ranges import complete, prepare
from penstock.pipelines.extraction.rows import GROUPS, extract
from penstock.pipelines.extraction.summary import summary_of
from penstock.pipelines.extraction.unique_rows import similar_rows
from penstock.pipelines.product_variants import ProductVariants

# Incremented when the same file would give other products, so that cached results are not reused.
_RESULTS = 6
# Products are dated with the start of the transaction that wrote them; none takes longer.
_LONGEST_WRITE = timedelta(minutes=1)
_LABELS = {"title": "title", "brand": "brand", "sku": "identifiers.sku"}
Intent = Literal["check", "create", "update", "merge", "replace", "ignoreExisting"]


class ExtractionConfig(ReadingConfig):
    """What is not given is detected: the mapping from names and contents, the rest from cells."""

    profile: str | None = Field(None, max_length=100, description="A saved profile, by name.")
    mapping: dict[str, str | None] | None = Field(
        None,
        description="Column to field; null keeps it as a custom field, `ignore` leaves it out.",
    )
    intent: Intent = Field("check", description="What may be written to the catalog.")
    source: str | None = Field(None, max_length=100, description="Where the products come from.")
    decimal: Literal["comma", "point"] | None = None
    dates: Literal["dmy", "mdy"] | None = None
    currency: str | None = Field(None, pattern=r"^[A-Z]{3}$")
    base_currency: str = Field("USD", pattern=r"^[A-Z]{3}$")
    required: list[str] | None = None
    strict: list[str] | None = Field(
        None,
        description="Fields whose unreadable value makes the row invalid, `*` for all, `[]` for"
        " those that identify the product or are required. Other fields are left empty with a"
        " warning. Without it, as the profile says: the price.",
    )
    rules: dict[str, Any] | None = Field(None, description="JSON Schema that products must fit.")
    contract: Contract | None = None
    winner: Winner | None = None
    key: Key | None = None
    price_guard: float | None = Field(
        None,
        ge=0,
        le=100_000,
        description="A price of a known product that changes by more percent than this, or by a"
        " factor near 10, 100 or 1000, is held back until it is accepted; 0 switches that off."
        " Without it, as the profile says: 50.",
    )
    missing: Literal["report", "unpublish"] | None = Field(
        None,
        description="What to do with products of this source that the file does not contain: report"
        " or unpublish them.",
    )

    @model_validator(mode="after")
    def _check_profile(self) -> ExtractionConfig:
        """Refuse a config that no file could satisfy before a job is created."""
        if self.missing == "unpublish" and self.intent == "check":
            raise ValueError("missing: a check writes nothing; use `report`, or set `intent`")
        columns = {name: {"target": target} for name, target in (self.mapping or {}).items()}
        asked: dict[str, Any] = {"name": "asked", "columns": columns, "currency": self.currency}
        asked |= {"required": self.required, "strict": self.strict, "rules": self.rules}
        try:
            compile_validator(compile_plan(list(columns), profiles.from_input(asked)))
        except BadInput as error:
            raise ValueError(error.message) from error
        return self


# Words for rows that were skipped; the code says more than "Skipped".
_SHOWN = {
    PRICE_HELD: "Price held",
    GTIN_HELD: "GTIN held",
    "DUPLICATE_IN_FILE": "Duplicate",
    "PART_OF_PRODUCT": "Part of product",
    "NOT_IN_CATALOG": "Not in catalog",
    "EXISTS_ALREADY": "In catalog",
}


class Extraction(Pipeline):
    name: ClassVar[str] = "extraction"
    amount_columns = AMOUNTS
    # Headings, parts of other rows and rows that repeat another one are no results of their own.
    skipped_results: ClassVar[frozenset[str] | None] = frozenset(
        (PRICE_HELD, GTIN_HELD, "NOT_IN_CATALOG", "EXISTS_ALREADY", "CANCELLED", "JOB_FAILED")
    )
    variant_table = ProductVariants()
    Config: ClassVar[type[Config]] = ExtractionConfig
    needs_file: ClassVar[bool] = True
    checks_first_rows: ClassVar[bool] = True
    needs_brief_only: ClassVar[frozenset[str]] = frozenset(("match",))
    ranges: ClassVar[RangeWork | None] = RangeWork(prepare, complete)
    child_modules: ClassVar[tuple[str, ...]] = (
        read_rows_and_stats.__module__,
        prepare.__module__,
    )

    def traits(self, config: Any) -> Traits:
        return Traits(summarizes=True, needs_full_input=True, profile=config.profile)

    def shown(self, status: ItemStatus, stage: str | None, code: str | None) -> str | None:
        return _SHOWN.get(code) if status is ItemStatus.SKIPPED and code is not None else None

    def stages(self, config: ExtractionConfig) -> tuple[Stage, ...]:
        return (
            Stage("extract", cpu=extract, share=3),
            # All rows of the same product must be known before any of them is matched.
            Stage("match", run=match, barrier=True),
        )

    def check(self, head: bytes, size: int, name: str) -> None:
        check_head(head, size, name)

    def check_remap(
        self, before: ExtractionConfig, after: ExtractionConfig, header: Sequence[str]
    ) -> None:
        check_mapping(header, after.mapping)
        if before.reading() != after.reading():
            raise BadInput(
                "INVALID_PARAMETERS",
                "The rows are stored as they were read. To read the file in another way, clone the"
                " job with the new options.",
            )

    def columns_of(self, context: Mapping[str, Any]) -> list[str] | None:
        return context.get("columns")

    async def rows(
        self, job: Job, ctx: Context, cursor: Mapping[str, Any] | None
    ) -> AsyncGenerator[RowBatch, None]:
        batches = batches_of_file(
            job, ctx, cursor, lambda names: check_mapping(names, job.config.mapping)
        )
        async with aclosing(batches):
            async for batch in batches:
                yield batch

    async def after_ingest(
        self, job: Job, cursor: Mapping[str, Any], ctx: Context
    ) -> Mapping[str, Any]:
        """Decide about each column by all of its cells, and plan how rows become products."""
        found = await self._context(job, job.header or (), cursor, ctx)
        return reading_context(cursor) | found

    def waiting_rows(self, job: Job, cursor: Mapping[str, Any]) -> Sequence[int] | None:
        return similar_rows(job, cursor.get("keys"))

    def labels(self, context: Mapping[str, Any]) -> Mapping[str, int]:
        places = {one["target"]: n for n, one in reversed(list(enumerate(context["mapping"])))}
        return {name: places[target] for name, target in _LABELS.items() if target in places}

    def warnings(self, context: Mapping[str, Any]) -> Sequence[Mapping[str, Any]]:
        found: Sequence[Mapping[str, Any]] = context.get("warnings", ())
        return found

    def cache_key(self, config: ExtractionConfig) -> str:
        """Without intent and price guard, which do not affect the first stage."""
        asked = config.model_dump(mode="json", exclude={"intent", "price_guard"})
        said = f"{__version__}:{_RESULTS}:{orjson.dumps(asked, option=orjson.OPT_SORT_KEYS)!r}"
        return sha256(said.encode()).hexdigest()

    async def is_still_valid(
        self, job: Job, header: Sequence[str], cursor: Mapping[str, Any],
        context: Mapping[str, Any], ctx: Context,
    ) -> bool:  # fmt: skip
        """Not for files with variants, whose rows depend on each other."""
        grouped = any(one["target"] in GROUPS for one in context["mapping"])
        return not grouped and await same_plan(job, header, context, ctx)

    async def has_same_outcome(
        self, job: Job, config: Mapping[str, Any], started_at: datetime, ctx: Context
    ) -> bool:
        """If rows are compared in the same way with the same catalog. A file whose missing products
        are reported needs the names of all rows."""
        before = ExtractionConfig.model_validate(config)
        now: ExtractionConfig = job.config
        if now.missing or (before.intent, before.price_guard) != (now.intent, now.price_guard):
            return False
        since = started_at - _LONGEST_WRITE
        return not await ctx.port(Products).changed_since(job.org_id, since)

    def reused_summary(self, job: Job, summary: Mapping[str, Any]) -> Mapping[str, Any]:
        """Other jobs may have changed what the job is warned of."""
        return {**summary, "warnings": job.context.get("warnings", [])}

    async def _context(
        self, job: Job, header: Sequence[str], cursor: Mapping[str, Any], ctx: Context
    ) -> dict[str, Any]:
        stats = [ColumnStats.from_json(one) for one in cursor["columns"]]
        profile, proposal, origin = await choose_profile(job, header, stats, ctx.port(Profiles))
        rates = await ctx.port(Profiles).rates(job.config.base_currency, today())
        base = job.config.base_currency
        reading = cursor.get("reading", {})
        found = build_context(header, stats, profile, proposal, origin, rates, base, reading)
        require_naming(found)
        found["warnings"] += await source_warnings(job, profile, ctx)
        return found

    async def last_effects(self, job: Job, ctx: Context) -> Sequence[FindMissing]:
        if job.config.missing is None:
            return ()
        refused = await why_not_unpublish(job, ctx)
        return [FindMissing(source_of(job), job.config.missing == "unpublish" and not refused)]

    async def summarize(self, job: Job, ctx: Context) -> Mapping[str, Any]:
        # A check is read column by column before the import; other jobs are not slowed for it.
        is_check = job.config.intent == "check"
        tally = await ctx.port(JobRows).tally(job.id, with_changes=is_check)
        summary = summary_of(job, tally)
        if job.config.missing is not None:
            summary["missing"] = await missing_of(job, ctx)
        return summary

    def column_figures(
        self, context: Mapping[str, Any], tally: Tally
    ) -> Sequence[Mapping[str, Any]] | None:
        mapping = context.get("mapping")
        return None if mapping is None else column_figures(mapping, tally)

    async def check_first_rows(self, job: Job, ctx: Context) -> None:
        await previews.check_first_rows(job, ctx)

    async def preview(self, job: Job, ctx: Context) -> Mapping[str, Any]:
        return await previews.preview(job, ctx)
