"""Read sitemaps: pages and further sitemaps, from XML or plain text, compressed or not.

XML is not parsed but searched for `<loc>`: sitemaps of the web are often not well-formed, and
nothing is expanded that could grow.
"""

from __future__ import annotations

import html
import zlib

from penstock.model.crawl.plan import MAX_URL_LENGTH, PageOrder
from penstock.model.errors import BadInput
from penstock.pipelines.crawl.reading import unpacked

# The protocol's own limit.
MAX_LOCATIONS = 50_000
# Pictures and videos of a page are no pages.
_OTHER_LOCATIONS = frozenset(("image:", "video:", "video:content_", "video:player_"))
_GZIP_MAGIC = b"\x1f\x8b"
_EITHER_GZIP_OR_ZLIB = 47


def read_sitemap(path: str, most_bytes: int) -> tuple[bool, list[str]]:
    """Whether it is an index of sitemaps, and its URLs."""
    content = unpacked(path, most_bytes)
    if content.startswith(_GZIP_MAGIC):
        try:
            inner = zlib.decompressobj(_EITHER_GZIP_OR_ZLIB).decompress(content, most_bytes + 1)
        except zlib.error as error:
            raise BadInput("SITEMAP_INVALID", "The sitemap's compression is invalid.") from error
        if len(inner) > most_bytes:
            raise BadInput(
                "SITEMAP_TOO_LARGE", f"The sitemap unpacks to more than {most_bytes:,} bytes."
            )
        content = inner
    text = content.decode("utf-8-sig", "replace")
    head = text[:2000].lower()
    if "<" not in head:
        return False, _checked([line.strip() for line in text.splitlines()[: MAX_LOCATIONS * 2]])
    return "sitemapindex" in head, _checked(_locations(text))


def _locations(text: str) -> list[str]:
    found: list[str] = []
    place = 0
    while len(found) < MAX_LOCATIONS:
        begin = text.find("loc>", place)
        if begin < 0:
            break
        end = text.find("<", begin)
        if end < 0:
            break
        place = text.find(">", end) + 1 or len(text)
        name = text[text.rfind("<", max(0, begin - 20), begin) + 1 : begin]
        if name in _OTHER_LOCATIONS:
            continue
        told = text[begin + 4 : end].strip()
        if not told and text.startswith("<![CDATA[", end):
            close = text.find("]]>", end)
            told = text[end + 9 : close].strip() if close >= 0 else ""
            place = max(place, close + 3)
            # Past the closing tag, which reads `loc>` too.
            place = text.find(">", place) + 1 or len(text)
        if told and len(told) <= 2 * MAX_URL_LENGTH:
            found.append(html.unescape(told))
    return found


def _checked(urls: list[str]) -> list[str]:
    """Those that can be crawled, each once, in order."""
    kept: dict[str, None] = {}
    for url in urls[: MAX_LOCATIONS * 2]:
        try:
            kept[PageOrder(url=url, external_id=None).url] = None
        except ValueError:
            continue
        if len(kept) >= MAX_LOCATIONS:
            break
    return list(kept)
