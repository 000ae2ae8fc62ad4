"""The file of a feed: built from the catalog, stored as a blob, and used until it is too old."""

from __future__ import annotations

import asyncio
from collections import Counter
from collections.abc import AsyncGenerator, Sequence
from contextlib import AbstractAsyncContextManager
from typing import Any
from uuid import UUID

from penstock.app.exports import in_export_thread
from penstock.catalog.feeds.google import WRITERS, FeedOptions, Offer, offer_of
from penstock.engine.runtime import Runtime
from penstock.store.catalog import catalog
from penstock.store.catalog.catalog import ProductDocument
from penstock.store.database import Connection, Scope, from_json
from penstock.store.feeds import feeds as store
from penstock.store.feeds.feeds import FeedFile, FeedRow

_PAGE_PRODUCTS = 1000
_SHOWN = 20
_MOST_BYTES = 4 * 1024**3
_BUILDS_AT_ONCE = 2


class FeedBuilder:
    """Builds of one process: one at a time for each feed, and few in all."""

    def __init__(self, runtime: Runtime) -> None:
        self._runtime = runtime
        self._slots = asyncio.Semaphore(_BUILDS_AT_ONCE)
        self._locks: dict[tuple[UUID, str], asyncio.Lock] = {}

    async def file(self, feed: FeedRow, kind: str) -> FeedFile:
        """A file that is not older than the feed allows."""
        found = await self._fresh(feed, kind)
        if found is not None:
            return found
        lock = self._locks.setdefault((feed.id, kind), asyncio.Lock())
        async with lock, self._slots:
            # Another request may have built it meanwhile.
            found = await self._fresh(feed, kind)
            if found is None:
                await self._build(feed, kind)
                found = await self._fresh(feed, kind)
        self._locks.pop((feed.id, kind), None)
        if found is None:
            raise LookupError("the feed was changed or deleted while it was built")
        return found

    async def _fresh(self, feed: FeedRow, kind: str) -> FeedFile | None:
        seconds = feed.settings.max_age_minutes * 60
        async with self._runtime.db.acquire() as conn:
            found = await store.fresh_file(conn, feed.id, kind, seconds)
        if found is None or not await self._runtime.blobs.exists(found.blob_key):
            return None
        return found

    async def _build(self, feed: FeedRow, kind: str) -> None:
        told = _Told()
        blob = await self._runtime.blobs.put(self._pieces(feed, kind, told), _MOST_BYTES)
        async with self._runtime.db.transaction() as conn:
            await store.save_file(conn, feed, kind, blob, told.included, told.as_json())

    async def _pieces(self, feed: FeedRow, kind: str, told: _Told) -> AsyncGenerator[bytes, None]:
        def opened() -> AbstractAsyncContextManager[Connection]:
            return self._runtime.db.scoped(Scope(feed.org_id), readonly=True)

        given = feed.settings
        options = FeedOptions(
            given.title, given.site, given.link, given.condition, given.availability
        )
        writer = WRITERS[kind](options)
        wanted = catalog.ProductFilter(feed.org_id, source=given.source, published=True)

        def page(rows: Sequence[ProductDocument]) -> bytes:
            return writer.page(told.offers(rows, options))

        yield writer.head()
        after: catalog.ExportCursor | None = None
        while True:
            async with opened() as conn:
                ids, after = await catalog.next_ids(conn, wanted, after, _PAGE_PRODUCTS)
            left: Sequence[UUID] = ids
            while left:
                async with opened() as conn:
                    rows, left = await catalog.documents(conn, left)
                yield await in_export_thread(page, rows)
            if after is None:
                break
        yield writer.end()


class _Told:
    """What was included, and why the rest was not."""

    def __init__(self) -> None:
        self.included = 0
        self._reasons: Counter[str] = Counter()
        self._first: list[dict[str, str]] = []

    def offers(self, rows: Sequence[ProductDocument], options: FeedOptions) -> list[Offer]:
        found: list[Offer] = []
        for row in rows:
            product = from_json(row.data)
            made = offer_of(product, options)
            if isinstance(made, str):
                self._leave_out(str(row.id), product, made)
            else:
                found.append(made)
        self.included += len(found)
        return found

    def _leave_out(self, product_id: str, product: Any, reason: str) -> None:
        self._reasons[reason] += 1
        if len(self._first) < _SHOWN:
            title = str(product.get("title") or "")[:200]
            self._first.append({"productId": product_id, "title": title, "reason": reason})

    def as_json(self) -> dict[str, Any]:
        return {"reasons": dict(self._reasons), "products": self._first}
