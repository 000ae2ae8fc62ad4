"""Items that are sitemaps: they add pages and further sitemaps to the run.

A sitemap may name tens of thousands of pages. They are added some thousand at a time, by an item
of its own each time. The sitemap is fetched once: its blob has no reference, so that it is deleted
later, and fetched again only if that has happened.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from penstock.model.crawl.pages import FOUND, CrawlSettings, PageIndex
from penstock.model.crawl.plan import MAX_PAGES, SITEMAP, item_key, page_input
from penstock.model.effects import CountInGroup, Effect, SetPace
from penstock.model.errors import BadInput
from penstock.model.outcomes import Child, Done, Outcome
from penstock.model.pipeline import Item
from penstock.model.ports import Context, InputFile
from penstock.pipelines.crawl.requests import fetch_sitemap, store_answer
from penstock.pipelines.crawl.sitemap import read_sitemap

_ADDED_AT_ONCE = 2000
_MAX_DEPTH = 3
# A sitemap that names itself under ever new addresses ends here.
_MAX_SITEMAPS = 1000


async def read_sitemap_item(item: Item, ctx: Context, pace: list[Effect]) -> Outcome:
    told, settings = item.input, ctx.port(CrawlSettings)
    blob, effects = told.get("blob"), [*pace]
    if blob is not None and await ctx.blobs.exists(blob):
        effects = [SetPace(0)]
    else:
        stored = await store_answer(ctx, await fetch_sitemap(ctx, told["url"], settings))
        blob = stored.blob.key
    async with ctx.blobs.local(blob) as path:
        is_index, urls = await ctx.children.call(
            read_sitemap, InputFile(path), settings.max_page_bytes
        )
    begin = int(told.get("from", 0))
    some = urls[begin : begin + _ADDED_AT_ONCE]
    spawn = _sitemaps(told, some) if is_index else _pages(told, some)
    spawn = await _within_limit(item, ctx, spawn)
    if not is_index and spawn:
        effects = [*effects, CountInGroup(told["company"], {FOUND: len(spawn)})]
    if spawn and begin + len(some) < len(urls):
        rest = {**told, "blob": blob, "from": begin + len(some)}
        spawn.append(Child(item_key(rest), rest, "crawl", told["company"]))
    named = "sitemaps" if is_index else "pages"
    cells = {"company": told["company"], "url": told["url"], "kind": SITEMAP}
    cells["title"] = f"Sitemap: {len(some)} {named}"
    return Done(cells, effects=effects, spawn=spawn)


def _pages(told: dict[str, Any], urls: Sequence[str]) -> list[Child]:
    inputs = [page_input(told["company"], url) | {"listed": False} for url in urls]
    return [Child(item_key(one), one, "crawl", told["company"]) for one in inputs]


def _sitemaps(told: dict[str, Any], urls: Sequence[str]) -> list[Child]:
    depth = int(told.get("depth", 0)) + 1
    if depth > _MAX_DEPTH:
        raise BadInput(
            "SITEMAP_TOO_DEEP", f"Sitemaps name further sitemaps more than {_MAX_DEPTH} times."
        )
    inputs = [
        {"company": told["company"], "url": url, "role": SITEMAP, "depth": depth}
        for url in urls[:_MAX_SITEMAPS]
    ]
    return [Child(item_key(one), one, "crawl", told["company"]) for one in inputs]


async def _within_limit(item: Item, ctx: Context, spawn: list[Child]) -> list[Child]:
    """A company has at most as many pages as a run takes URLs."""
    if not spawn:
        return spawn
    have = await ctx.port(PageIndex).found(item.job.id, item.input["company"])
    return spawn[: max(0, MAX_PAGES - have)]
