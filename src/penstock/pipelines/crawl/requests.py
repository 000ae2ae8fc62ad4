"""Requests of the crawler: pages, sitemaps and robots.txt, each within limits."""

from __future__ import annotations

import asyncio
import gzip
from collections.abc import AsyncIterator, Awaitable, Callable
from dataclasses import dataclass
from hashlib import sha256
from urllib.parse import urljoin, urlsplit

from penstock.model.crawl.pages import CrawlSettings, KnownPage
from penstock.model.crawl.robots import MAX_ROBOTS_BYTES, RobotsRules, parse_robots
from penstock.model.errors import BadInput, PermanentError, RateLimited, Unavailable
from penstock.model.network.fetching import (
    FetchLimits,
    FetchPurpose,
    FetchRequest,
    FetchResponse,
    ResponseHead,
)
from penstock.model.ports import Context, StoredBlob

_TOTAL_MS, _SILENT_MS, _HOPS = 30_000, 10_000, 5
# A server that asks for more than this is asked again all the same, three times at the most.
_MAX_WAIT_MS = 5 * 60_000
UNCHANGED = 304
_REDIRECTS = frozenset((301, 302, 303, 307, 308))
Allows = Callable[[str], Awaitable[bool]]
_HTML = "text/html,application/xhtml+xml;q=0.9,*/*;q=0.1"
_XML = "application/xml,text/xml;q=0.9,*/*;q=0.1"


class Disallowed(Exception):
    """The site's robots.txt does not allow the page."""


class Gone(Exception):
    """The server says that the page does not exist (any more)."""

    def __init__(self, answer: ResponseHead) -> None:
        super().__init__(f"The server answers with {answer.status}.")
        self.answered_at = answer.answered_at if isinstance(answer, FetchResponse) else None


@dataclass(frozen=True, slots=True)
class StoredAnswer:
    """An answer whose body is kept as a compressed blob; ``sha256`` is that of the body."""

    answer: FetchResponse
    blob: StoredBlob
    sha256: str

    def header(self, name: str) -> str | None:
        told = self.answer.header(name)
        return None if told is None else told[:500]


def origin_of(url: str) -> str:
    parts = urlsplit(url)
    return f"{parts.scheme}://{parts.netloc}".lower()


async def fetch_robots(ctx: Context, origin: str, user_agent: str) -> RobotsRules:
    """As RFC 9309 has it: a server without a robots.txt allows everything, one that cannot be
    reached nothing yet."""
    limits = FetchLimits(MAX_ROBOTS_BYTES, _TOTAL_MS, _SILENT_MS, _HOPS, head_only=True)
    answer = await _fetch(ctx, f"{origin}/robots.txt", {"User-Agent": user_agent}, limits)
    if answer.status >= 500 or answer.status in (408, 429):
        raise _refusal(answer, "The server's robots.txt")
    if not 200 <= answer.status < 300:
        return RobotsRules()
    return parse_robots(answer.body, user_agent)


async def fetch_page(
    ctx: Context, url: str, settings: CrawlSettings, known: KnownPage | None,
    allows: Allows | None = None,
) -> FetchResponse:  # fmt: skip
    """The page; with status 304 if it has not changed since ``known`` was fetched. Raises `Gone`,
    and `Disallowed` for a redirect to a page that ``allows`` refuses."""
    headers = {"User-Agent": settings.user_agent, "Accept": _HTML}
    if known is not None and known.etag:
        headers["If-None-Match"] = known.etag
    if known is not None and known.last_modified:
        headers["If-Modified-Since"] = known.last_modified
    answer = await _follow_redirects(ctx, url, headers, settings, allows)
    if answer.status == UNCHANGED and known is not None:
        return answer
    _require_content(answer, "The page's server")
    _require_html(answer)
    return answer


async def _follow_redirects(
    ctx: Context, url: str, headers: dict[str, str], settings: CrawlSettings, allows: Allows | None
) -> FetchResponse:
    """The answer after all redirects, each of which must be allowed by its site, too."""
    limits = FetchLimits(settings.max_page_bytes, _TOTAL_MS, _SILENT_MS, hops=0)
    for _ in range(_HOPS + 1):
        answer = await _fetch(ctx, url, headers, limits)
        location = answer.header("location")
        if answer.status not in _REDIRECTS or not location:
            return answer
        try:
            url = urljoin(answer.url, location)
        except ValueError as error:
            raise BadInput("URL_NOT_ALLOWED", "The page redirects to no address.") from error
        if allows is not None and not await allows(url):
            raise Disallowed
    raise BadInput("TOO_MANY_REDIRECTS", f"The page redirects more than {_HOPS} times.")


async def fetch_sitemap(ctx: Context, url: str, settings: CrawlSettings) -> FetchResponse:
    headers = {"User-Agent": settings.user_agent, "Accept": _XML}
    limits = FetchLimits(settings.max_page_bytes, _TOTAL_MS, _SILENT_MS, _HOPS)
    answer = await _fetch(ctx, url, headers, limits)
    _require_content(answer, "The sitemap's server")
    return answer


async def _fetch(
    ctx: Context, url: str, headers: dict[str, str], limits: FetchLimits
) -> FetchResponse:
    request = FetchRequest(url, headers=headers, limits=limits)
    return await ctx.fetchers[FetchPurpose.PAGE].fetch(request)


def _require_content(answer: ResponseHead, whose: str) -> None:
    status = answer.status
    if status in (404, 410):
        raise Gone(answer)
    if status in (408, 429) or status >= 500:
        raise _refusal(answer, whose)
    if not 200 <= status < 300 or status in (204, 205):
        raise PermanentError("PAGE_UNAVAILABLE", f"{whose} answers with {status}.", status=status)


def _refusal(answer: ResponseHead, whose: str) -> Unavailable | RateLimited:
    told = answer.retry_after_ms
    wait = None if told is None else min(told, _MAX_WAIT_MS)
    if answer.status == 429:
        return RateLimited(
            "API_RATE_LIMIT", f"{whose} asks for fewer requests (429).", retry_after_ms=wait
        )
    return Unavailable(
        "SERVICE_UNAVAILABLE", f"{whose} answers with {answer.status}.", retry_after_ms=wait
    )


def _require_html(answer: FetchResponse) -> None:
    told = (answer.header("content-type") or "").partition(";")[0].strip().lower()
    if told and not (told.startswith("text/") or "html" in told or "xml" in told):
        raise BadInput("UNSUPPORTED_TYPE", f"The address leads to {told[:100]!r}, not to a page.")


async def store_answer(ctx: Context, answer: FetchResponse) -> StoredAnswer:
    """Keep the body, compressed the same way every time: the same page is the same blob."""
    packed, digest = await asyncio.to_thread(_compress, answer.body)
    blob = await ctx.blobs.put(_as_stream(packed), len(packed))
    return StoredAnswer(answer, blob, digest)


def _compress(body: bytes) -> tuple[bytes, str]:
    return gzip.compress(body, 6, mtime=0), sha256(body).hexdigest()


async def _as_stream(content: bytes) -> AsyncIterator[bytes]:
    yield content
