"""A context for pipelines without an engine: real blobs, real children, nothing recorded."""

from __future__ import annotations

from collections.abc import AsyncIterator, Mapping, Sequence
from contextlib import AbstractAsyncContextManager, asynccontextmanager
from dataclasses import dataclass, field, replace
from datetime import date, datetime
from decimal import Decimal
from pathlib import Path
from typing import Any, cast
from uuid import UUID, uuid4

import structlog
from tests.reused_children import ReusedChildPool

from penstock.blobs.local import LocalBlobs
from penstock.catalog.products.matching import identifiers_of
from penstock.guards.call_limits import CallLimiter
from penstock.guards.fetch import Fetcher
from penstock.model.crawl.pages import Baseline, CrawlSettings, KnownPage, PageIndex
from penstock.model.crawl.robots import RobotsRules
from penstock.model.lookup import CatalogCandidate, CatalogProduct, ImageQuery, SearchQuery
from penstock.model.network.fetching import FetchPurpose
from penstock.model.network.token_bucket import Rate
from penstock.model.network.webhooks import Receiver
from penstock.model.outcomes import Outcome
from penstock.model.pipeline import FileRef, Item, Job, Pipeline, RowBatch, Stage
from penstock.model.ports import (
    Blobs,
    Call,
    Calls,
    Children,
    Fetchers,
    Log,
    MissingProducts,
    P,
    Receivers,
    Tally,
    Winner,
)
from penstock.model.products import (
    FoundProducts,
    KnownPicture,
    KnownProduct,
    LinkCandidate,
    RowNames,
    SourceMatch,
)
from penstock.model.shops.provider import ShopConnection
from penstock.model.sources.search import OpenedSource

LIMITS = {
    "rows": 1_000_000,
    "columns": 2000,
    "cell_bytes": 1024 * 1024,
    "file_bytes": 100 * 1024 * 1024,
    "cells": 50_000_000,
    "inflated_bytes": 1024 * 1024 * 1024,
    "nesting": 64,
    "batch_bytes": 8 * 1024 * 1024,
}


@dataclass
class TrialCatalog:
    """A catalog with these products in it, and rows with these names."""

    products: list[KnownProduct] = field(default_factory=list)
    named: dict[str, dict[int, int]] = field(default_factory=dict)
    rows: dict[int, Mapping[str, Any]] = field(default_factory=dict)
    profiles: dict[str, Mapping[str, Any]] = field(default_factory=dict)
    worth: list[tuple[date, str, Decimal]] = field(default_factory=list)
    states: dict[str, int] = field(default_factory=dict)
    catalog_key: str | None = None
    files: list[str] = field(default_factory=list)

    async def find(
        self, org_id: int, source: str, source_ids: Sequence[str], skus: Sequence[str],
        gtins: Sequence[str],
    ) -> FoundProducts:  # fmt: skip
        """All that share a name, of whatever source: more than the database would give."""
        found = [
            one
            for one in self.products
            if (one.source == source and one.source_id in source_ids)
            or one.sku in skus
            or one.gtin in gtins
        ]
        return FoundProducts(found, self.catalog_key)

    async def link_candidates(
        self, org_id: int, source: str, gtins: Sequence[str], makers: Sequence[str]
    ) -> Sequence[LinkCandidate]:
        known = [(one, identifiers_of(one.data).maker) for one in self.products]
        return [
            LinkCandidate(
                one.id, one.source, one.source_id, one.sku, one.gtin, maker, one.data.get("title")
            )
            for one, maker in known
            if one.source != source and (one.gtin in gtins or maker in makers)
        ]

    async def changed_since(self, org_id: int, since: datetime) -> bool:
        return bool(self.products)

    async def source_with(
        self, org_id: int, source: str, rows: Sequence[RowNames]
    ) -> SourceMatch | None:
        return None

    async def files_of_source(self, org_id: int, source: str) -> Sequence[str]:
        return self.files

    async def rows_named(
        self, job_id: UUID, keys: Sequence[str], most: int
    ) -> Mapping[str, Sequence[int]]:
        return {key: sorted(self.named[key])[:most] for key in keys if key in self.named}

    async def row_to_keep(
        self, job_id: UUID, keys: Sequence[str], winner: Winner
    ) -> Mapping[str, int]:
        found = {}
        for key in keys:
            rows = self.named.get(key, {})
            if rows:
                by = {"first": min(rows), "last": max(rows)}
                best = min(rows, key=lambda row: (-rows[row], row))
                found[key] = by.get(winner, best)
        return found

    async def open(self, org_id: int, connection_id: UUID) -> ShopConnection:
        """A shop at an address that may not be called."""
        return ShopConnection(
            connection_id, org_id, "roastify", "http://127.0.0.1:9", {"apiKey": "none"}
        )

    async def at_urls(self, org_id: int, urls: Sequence[str]) -> Mapping[str, KnownPicture]:
        return {}

    async def with_content(self, org_id: int, hashes: Sequence[str]) -> Mapping[str, KnownPicture]:
        return {}

    async def enabled(self, org_id: int) -> Sequence[OpenedSource]:
        return ()

    async def by_key(
        self, org_id: int, variant: str, queries: Sequence[SearchQuery], source: str | None
    ) -> Mapping[int, Sequence[CatalogCandidate]]:
        return {}

    async def by_words(
        self, org_id: int, queries: Sequence[SearchQuery], source: str | None
    ) -> Mapping[int, Sequence[CatalogCandidate]]:
        return {}

    async def by_image(
        self, org_id: int, queries: Sequence[ImageQuery], source: str | None
    ) -> Mapping[int, Sequence[CatalogCandidate]]:
        return {}

    async def whole_products(self, org_id: int, ids: Sequence[UUID]) -> Mapping[UUID, Any]:
        return {}

    async def written_by(
        self, org_id: int, job_id: UUID, after: UUID | None, most: int
    ) -> Sequence[CatalogProduct]:
        return ()

    async def of_rows(self, job_id: UUID, rows: Sequence[int]) -> Mapping[int, Any]:
        return {}

    async def tally(self, job_id: UUID, *, with_changes: bool = False) -> Tally:
        return Tally(self.states, {})

    async def missing(self, job_id: UUID, most: int) -> MissingProducts:
        return MissingProducts(0, 0, ())

    async def group_counters(self, job_id: UUID, most: int) -> Mapping[str, Mapping[str, int]]:
        return {}

    async def unnamed_rows(self, job_id: UUID) -> int:
        return 0

    async def failures(self, job_id: UUID, most: int) -> Sequence[Any]:
        return ()

    async def names(self, org_id: int) -> Mapping[str, UUID]:
        """Sources of the org."""
        return {"one": UUID(int=1)}

    async def attempts(self, org_id: int, request_id: str) -> Sequence[UUID]:
        """Jobs of a research request."""
        return ()

    async def documents(self, job_id: UUID, rows: Sequence[int]) -> Mapping[int, Mapping[str, Any]]:
        return {row: self.rows[row] for row in rows if row in self.rows}

    async def profile(
        self, org_id: int, name: str | None, fingerprint: str | None
    ) -> Mapping[str, Any] | None:
        return self.profiles.get(name or fingerprint or "")

    async def values(self, org_id: int, source: str) -> Mapping[str, Mapping[str, str]]:
        return {}

    async def rates(self, base: str, day: date) -> Sequence[tuple[date, str, Decimal]]:
        return self.worth


class TrialReceivers:
    """Nobody wants to be told anything."""

    async def find(self, endpoint_ids: Sequence[UUID]) -> Mapping[UUID, Receiver]:
        return {}

    async def of_org(self, org_id: int, url: str) -> Receiver:
        return Receiver(url, [b"secret"])


class TrialPages:
    """No page has been crawled before."""

    async def page(self, org_id: int, company: str, url: str) -> KnownPage | None:
        return None

    async def baselines(
        self, org_id: int, job_id: UUID, pages: Sequence[tuple[UUID, int]]
    ) -> Mapping[UUID, Baseline]:
        return {}

    async def robots(self, org_id: int, origin: str, user_agent: str) -> RobotsRules | None:
        return RobotsRules()

    async def failures(self, job_id: UUID, company: str, most: int) -> int:
        return 0

    async def new_keys(self, job_id: UUID, keys: Sequence[str]) -> Sequence[str]:
        return keys

    async def found(self, job_id: UUID, company: str) -> int:
        return 0


@dataclass
class TrialContext:
    blobs: Blobs
    children: Children
    catalog: TrialCatalog = field(default_factory=TrialCatalog)
    log: Log = field(default_factory=structlog.get_logger)
    batch_rows: int = 64
    item_timeout_ms: int = 5000
    limits: Mapping[str, int] = field(default_factory=lambda: dict(LIMITS))

    call_limits: Calls = field(default_factory=CallLimiter)
    fetchers: Fetchers = field(
        default_factory=lambda: {purpose: Fetcher() for purpose in FetchPurpose}
    )
    receivers: TrialReceivers = field(default_factory=TrialReceivers)
    pages: TrialPages = field(default_factory=TrialPages)

    def port(self, kind: type[P]) -> P:
        others: dict[type, Any] = {
            Receivers: self.receivers,
            PageIndex: self.pages,
            CrawlSettings: CrawlSettings("Penstock/1.0", 1024 * 1024, 20),
        }
        return cast(P, others.get(kind, self.catalog))

    def time_is_up(self) -> bool:
        return False

    def calls(
        self,
        provider: str,
        domain: str = "",
        *,
        company: str | None = None,
        cost: float = 0.0,
        rate: Rate | None = None,
        patience_ms: float | None = None,
    ) -> AbstractAsyncContextManager[Call]:
        return self.call_limits.call(
            provider, domain, until=float("inf"), time_is_up=self.time_is_up
        )


@asynccontextmanager
async def trial_context(folder: Path) -> AsyncIterator[TrialContext]:
    children = ReusedChildPool(1024 * 1024 * 1024, cpu_seconds=20)
    try:
        yield TrialContext(LocalBlobs(folder), children)
    finally:
        await children.close()


async def job_of(
    pipeline: Pipeline, ctx: TrialContext, config: Mapping[str, Any], content: bytes | None = None
) -> Job:
    made = pipeline.Config.model_validate(config)
    if content is None:
        return Job(uuid4(), 1, pipeline.name, made)

    async def chunks() -> AsyncIterator[bytes]:
        yield content

    blob = await ctx.blobs.put(chunks(), len(content))
    file = FileRef(uuid4(), "file.csv", blob.sha256, blob.size, "text/csv", blob.key)
    return Job(uuid4(), 1, pipeline.name, made, file)


async def batches_of(
    pipeline: Pipeline, job: Job, ctx: TrialContext, cursor: Mapping[str, Any] | None = None
) -> list[RowBatch]:
    return [batch async for batch in pipeline.rows(job, ctx, cursor)]


def loaded(pipeline: Pipeline, stage: Stage, item: Item, document: Mapping[str, Any]) -> Item:
    """As the engine loads an item for a stage."""
    if stage.name in pipeline.needs_brief_only:
        return replace(item, input=None, normalized=document.get("brief"), noticed=None)
    return replace(item, normalized=document)


async def outcomes_of(
    stage: Stage, items: Sequence[Item], ctx: TrialContext
) -> Sequence[Outcome | None]:
    """As the engine runs a stage."""
    if stage.run is not None:
        return await stage.run(items, ctx)
    assert stage.cpu is not None
    outcomes: Sequence[Outcome] = await ctx.children.call(stage.cpu, items)
    return outcomes
