"""A look at one page: what would be extracted from it. Nothing is stored."""

from __future__ import annotations

import asyncio
from collections.abc import Mapping
from itertools import islice
from typing import Any

from penstock.catalog.pages.decode import decode_page
from penstock.model.crawl.pages import CrawlSettings
from penstock.model.errors import BadInput, NotThere, PenstockError
from penstock.model.pipeline import Job
from penstock.model.ports import Context
from penstock.pipelines.crawl.reading import extracted
from penstock.pipelines.crawl.requests import Disallowed, Gone, fetch_page
from penstock.pipelines.crawl.robots import RobotsGate
from penstock.pipelines.crawl.simhash import simhash, visible_text

_MAX_TEXT = 20_000


async def preview_page(job: Job, ctx: Context) -> Mapping[str, Any]:
    """The page at ``context["url"]``, or the HTML given with it."""
    url, html = job.context["url"], job.context.get("html")
    if html is not None:
        page = {"url": url, "finalUrl": url, "contentType": "text/html; charset=utf-8"}
        body = html.encode("utf-8", "replace")
    else:
        answer = await _fetch_page(job, ctx, url)
        page = {"url": url, "finalUrl": answer.url, "contentType": answer.header("content-type")}
        body = answer.body
    try:
        told = await ctx.children.call(
            look_at, body, page["contentType"], page["finalUrl"], job.config.kind
        )
    except (PenstockError, asyncio.CancelledError):
        raise
    except Exception as error:
        ctx.log.warning("page could not be extracted", url=url, error=repr(error))
        why = "The page is more than the extractor can take."
        raise BadInput("PAGE_UNREADABLE", why) from error
    return {**page, "size": len(body), **told}


async def _fetch_page(job: Job, ctx: Context, url: str) -> Any:
    settings = ctx.port(CrawlSettings)
    allows = RobotsGate(ctx, job.org_id).allows if job.config.robots else None
    try:
        if allows is not None and not await allows(url):
            raise Disallowed
        answer = await fetch_page(ctx, url, settings, None, allows)
    except Disallowed:
        raise BadInput(
            "ROBOTS_DISALLOWED", "The site's robots.txt does not allow this page."
        ) from None
    except Gone as error:
        raise NotThere("PAGE_GONE", str(error)) from error
    return answer


def look_at(body: bytes, content_type: str | None, url: str, kind: Any) -> dict[str, Any]:
    """Runs in a child process."""
    text = decode_page(body, content_type)
    shown = " ".join(" ".join(islice(visible_text(text), 5000)).split())
    found = extracted(body, content_type, url, kind)
    del found["digest"]
    return {**found, "simhash": f"{simhash(text):016x}", "text": shown[:_MAX_TEXT]}
