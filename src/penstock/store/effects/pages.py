"""Crawled pages, what was extracted from them, and the rules of robots.txt."""

from __future__ import annotations

from penstock.model.crawl.pages import (
    ExpirePage,
    KeepExtraction,
    KeepPage,
    KeepPosting,
    KeepRobots,
)
from penstock.model.effects import EffectBatch, EffectWriter, LockOrder
from penstock.model.errors import ItemError
from penstock.store.crawl import pages, postings
from penstock.store.database import Connection, to_json

_MAX_URL_LENGTH = 4000


def _check_url(url: str) -> None:
    if not 0 < len(url) <= _MAX_URL_LENGTH:
        raise ValueError(f"the URL of a page has 1 to {_MAX_URL_LENGTH} characters")


class Pages(EffectWriter):
    """Writes `KeepPage`."""

    effect = KeepPage
    order = LockOrder.RECORDS
    late = ItemError("PAGE_CHANGED", "The page was stored by another run meanwhile")

    def check(self, effect: KeepPage) -> KeepPage:
        _check_url(effect.url)
        return effect

    async def write(self, conn: Connection, batch: EffectBatch) -> set[int]:
        late = set()
        for one in sorted(batch.asked, key=lambda one: one.effect.page_id):
            if not await pages.save_page(conn, batch.org_id, batch.job_id, one.row_no, one.effect):
                late.add(one.row_no)
        return late


class ExpiredPages(EffectWriter):
    """Writes `ExpirePage`."""

    effect = ExpirePage
    order = LockOrder.RECORDS

    async def write(self, conn: Connection, batch: EffectBatch) -> tuple[()]:
        gone = [one.effect for one in batch.asked]
        await pages.expire_pages(conn, batch.org_id, batch.job_id, gone)
        return ()


class Extractions(EffectWriter):
    """Writes `KeepExtraction`."""

    effect = KeepExtraction
    order = LockOrder.RECORDS

    def check(self, effect: KeepExtraction) -> KeepExtraction:
        to_json(effect.fields)
        to_json(effect.lineage)
        return effect

    async def write(self, conn: Connection, batch: EffectBatch) -> tuple[()]:
        for one in sorted(batch.asked, key=lambda one: one.effect.page_id):
            await pages.save_extraction(conn, batch.org_id, one.effect)
        return ()


class Postings(EffectWriter):
    """Writes `KeepPosting`."""

    effect = KeepPosting
    order = LockOrder.RECORDS

    def check(self, effect: KeepPosting) -> KeepPosting:
        _check_url(effect.url)
        to_json(effect.data)
        return effect

    async def write(self, conn: Connection, batch: EffectBatch) -> tuple[()]:
        for one in sorted(batch.asked, key=lambda one: one.effect.page_id):
            await postings.save(conn, batch.org_id, batch.job_id, one.row_no, one.effect)
        return ()


class Robots(EffectWriter):
    """Writes `KeepRobots`."""

    effect = KeepRobots
    order = LockOrder.RECORDS

    async def write(self, conn: Connection, batch: EffectBatch) -> tuple[()]:
        for one in sorted(batch.asked, key=lambda one: one.effect.origin):
            await pages.save_robots(conn, batch.org_id, one.effect)
        return ()
