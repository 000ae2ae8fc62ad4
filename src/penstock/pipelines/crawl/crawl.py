"""The stage `crawl`: fetch a page, keep it, and note what is needed to extract and compare it.

Items of one company run one after the other, with the pace of the stage in between; an item that
sends no request sets no pace. The page is recorded with the item's own settle, so that a page that
was stored is never fetched again by the same run.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from penstock.model.crawl.pages import (
    COMPANY_STOPPED,
    FOUND,
    CrawlSettings,
    ExpirePage,
    KeepPage,
    KnownPage,
    PageIndex,
)
from penstock.model.crawl.plan import PAGE, SITEMAP, item_key, page_input
from penstock.model.effects import CountInGroup, Effect, SetPace
from penstock.model.errors import ChildCrashed, ItemError, PermanentError
from penstock.model.ids import new_id
from penstock.model.outcomes import Advance, Child, Fail, NotFound, Outcome, Retry, Skip
from penstock.model.pipeline import Item, each
from penstock.model.ports import Context, InputFile
from penstock.pipelines.crawl.config import MAX_FAILURES, CrawlConfig
from penstock.pipelines.crawl.reading import read_page
from penstock.pipelines.crawl.requests import (
    UNCHANGED,
    Disallowed,
    Gone,
    StoredAnswer,
    fetch_page,
    store_answer,
)
from penstock.pipelines.crawl.robots import RobotsGate
from penstock.pipelines.crawl.simhash import signed
from penstock.pipelines.crawl.sitemaps import read_sitemap_item

_UNPACED = SetPace(0)


async def crawl(batch: Sequence[Item], ctx: Context) -> Sequence[Outcome | None]:
    return await each(_crawl)(batch, ctx)


async def _crawl(item: Item, ctx: Context) -> Outcome:
    told, config = item.input, item.job.config
    company, index = told["company"], ctx.port(PageIndex)
    if await index.failures(item.job.id, company, MAX_FAILURES) >= MAX_FAILURES:
        why = f"{MAX_FAILURES} pages of {company} failed in this run, so it was stopped."
        return Fail(ItemError(COMPANY_STOPPED, why), _cells(told), effects=[_UNPACED])
    pace_ms = config.pace_ms
    gate = RobotsGate(ctx, item.job.org_id) if config.robots else None
    if gate is not None:
        rules = await gate.known(told["url"])
        if rules is None:
            return await _read_robots(gate, told["url"])
        if not rules.allows(told["url"]):
            return _disallowed_outcome(told, [_UNPACED])
        pace_ms = max(pace_ms, rules.crawl_delay_ms)
    try:
        if told.get("role") == SITEMAP:
            return await read_sitemap_item(item, ctx, [SetPace(pace_ms)])
        return await _page(item, ctx, config, pace_ms, gate)
    except Disallowed:
        return _disallowed_outcome(told, [SetPace(pace_ms), *_read_rules(gate)])
    except Gone as error:
        gone = ItemError("PAGE_GONE", str(error))
        expired = [] if told.get("role") == SITEMAP else [ExpirePage(company, told["url"])]
        pace = SetPace(pace_ms, error.answered_at)
        return NotFound(gone, effects=[pace, *_read_rules(gate), *expired])


async def _read_robots(gate: RobotsGate, url: str) -> Retry:
    """Reading robots.txt is a request of its own: the page waits for its turn again."""
    await gate.rules(url)
    waiting = ItemError("READING_ROBOTS", "The site's robots.txt was read; the page comes next.")
    return Retry(waiting, 0, counted=False, effects=_read_rules(gate))


def _read_rules(gate: RobotsGate | None) -> list[Effect]:
    return [] if gate is None else list(gate.read)


def _disallowed_outcome(told: Mapping[str, Any], effects: list[Effect]) -> Skip:
    why = "The site's robots.txt does not allow this page."
    return Skip(why, _cells(told), "ROBOTS_DISALLOWED", effects=effects)


async def _page(
    item: Item, ctx: Context, config: CrawlConfig, pace_ms: int, gate: RobotsGate | None
) -> Outcome:
    told, settings = item.input, ctx.port(CrawlSettings)
    company, url = told["company"], told["url"]
    known = await ctx.port(PageIndex).page(item.job.org_id, company, url)
    allows = None if gate is None else gate.allows
    answer = await fetch_page(ctx, url, settings, None if config.recrawl else known, allows)
    if answer.status == UNCHANGED and known is not None:
        kept = _kept_outcome(known, company, url, settings)
        links = await _links_of(item, ctx, known)
    else:
        stored = await store_answer(ctx, answer)
        found, links = await _read(
            item, ctx, stored.blob.key, stored.header("content-type"), answer.url
        )
        kept = _page_outcome(known, company, url, stored, found, settings)
    spawn = await _children(item, ctx, links)
    pace = SetPace(pace_ms, answer.answered_at)
    effects: list[Effect] = [pace, *_read_rules(gate), kept]
    if spawn:
        effects.append(CountInGroup(company, {FOUND: len(spawn)}))
    return Advance(_checkpoint(kept), _cells(told), effects=effects, spawn=spawn)


def _kept_outcome(known: KnownPage, company: str, url: str, settings: CrawlSettings) -> KeepPage:
    """The page as it was, which the server says it still is."""
    return KeepPage(
        known.id, company, url, known.version, False, known.final_url, known.content_type,
        known.etag, known.last_modified, known.blob_key, known.sha256, 0, known.simhash,
        settings.versions_kept,
    )  # fmt: skip


def _page_outcome(
    known: KnownPage | None, company: str, url: str, stored: StoredAnswer, simhash: int | None,
    settings: CrawlSettings,
) -> KeepPage:  # fmt: skip
    answer = stored.answer
    is_new = known is None or known.sha256 != stored.sha256
    version = (0 if known is None else known.version) + is_new
    blob_key = stored.blob.key if known is None or is_new else known.blob_key
    return KeepPage(
        new_id() if known is None else known.id, company, url, version, is_new, answer.url,
        stored.header("content-type"), stored.header("etag"), stored.header("last-modified"),
        blob_key, stored.sha256, len(answer.body),
        None if simhash is None else signed(simhash), settings.versions_kept,
    )  # fmt: skip


async def _read(
    item: Item, ctx: Context, blob_key: str, content_type: str | None, url: str
) -> tuple[int | None, list[str]]:
    """SimHash and links. A page that no child process can read is kept without them: the next
    stage says what is wrong with it."""
    most = ctx.port(CrawlSettings).max_page_bytes
    try:
        async with ctx.blobs.local(blob_key) as path:
            simhash, links = await ctx.children.call(
                read_page, InputFile(path), content_type, most, url, item.input.get("follow")
            )
    except (ChildCrashed, PermanentError) as error:
        ctx.log.warning("page could not be read", row=item.row_no, error=repr(error))
        return None, []
    return int(simhash), list(links)


async def _links_of(item: Item, ctx: Context, known: KnownPage) -> list[str]:
    """The links of a page that has not changed."""
    if "follow" not in item.input:
        return []
    _, links = await _read(item, ctx, known.blob_key, known.content_type, known.final_url)
    return links


async def _children(item: Item, ctx: Context, links: Sequence[str]) -> Sequence[Child]:
    """Pages that the run does not have yet, up to the company's limit. Items of one company run one
    after the other, so the count is exact."""
    told = item.input
    if not links:
        return ()
    index, company = ctx.port(PageIndex), told["company"]
    inputs: dict[str, Mapping[str, Any]] = {}
    for url in links:
        one = page_input(company, url) | {"follow": told["follow"], "limit": told["limit"]}
        inputs[item_key(one)] = one
    room = told["limit"] - 1 - await index.found(item.job.id, company)
    fresh = await index.new_keys(item.job.id, list(inputs)) if room > 0 else ()
    return [Child(key, inputs[key], "crawl", company) for key in fresh[: max(room, 0)]]


def _checkpoint(page: KeepPage) -> dict[str, Any]:
    """What the stage `extract` begins with."""
    return {
        "page": {
            "id": str(page.page_id), "version": page.version, "blob": page.blob_key,
            "finalUrl": page.final_url, "contentType": page.content_type,
            "simhash": None if page.simhash is None else f"{page.simhash & (1 << 64) - 1:016x}",
        }
    }  # fmt: skip


def _cells(told: Mapping[str, Any]) -> dict[str, Any]:
    return {"company": told["company"], "url": told["url"], "kind": told.get("role", PAGE)}
