"""What child processes do with stored pages: decode them, hash their text, find their links, and
extract fields. Pages are untrusted, so nothing here runs in a worker itself."""

from __future__ import annotations

import html
import re
import zlib
from collections.abc import Iterator, Sequence
from hashlib import sha256
from itertools import islice
from pathlib import Path
from typing import Any
from urllib.parse import urljoin, urlsplit

from penstock.catalog.pages import extract_page
from penstock.catalog.pages.decode import decode_page
from penstock.model.crawl.plan import MAX_URL_LENGTH
from penstock.model.crawl.robots import wildcard_match
from penstock.model.errors import BadInput
from penstock.model.text.json_text import to_json
from penstock.pipelines.crawl.simhash import simhash

_MAX_LINKS = 5000
_MAX_TAGS = 50_000
_GZIP = 31
_LINK = re.compile(r"<(a|base)\b", re.IGNORECASE)
_HREF = re.compile(r"\shref\s{0,20}=\s{0,20}(?:\"([^\"]*)\"|'([^']*)'|([^\s\"'>]+))", re.IGNORECASE)


def unpacked(path: str, most_bytes: int) -> bytes:
    """The content of a compressed blob, up to a limit."""
    unpacker = zlib.decompressobj(_GZIP)
    content = unpacker.decompress(Path(path).read_bytes(), most_bytes + 1)
    if len(content) > most_bytes:
        raise BadInput("FETCH_TOO_LARGE", f"The page is larger than {most_bytes:,} bytes.")
    return content


def read_page(
    path: str, content_type: str | None, most_bytes: int, url: str, follow: Sequence[str] | None
) -> tuple[int, list[str]]:
    """The SimHash of the page, and the links to follow; none where ``follow`` is None."""
    text = decode_page(unpacked(path, most_bytes), content_type)
    return simhash(text), [] if follow is None else list(links_to_follow(text, url, follow))


def links_to_follow(text: str, url: str, follow: Sequence[str]) -> Iterator[str]:
    """Links to pages of the same host whose paths match one of the patterns."""
    origin, base = urlsplit(url), url
    seen = {url}
    for name, href in _hrefs(text):
        if name == "base":
            base = _joined(url, href) or base
            continue
        found = _joined(base, href)
        if found is None or found in seen or len(seen) > _MAX_LINKS:
            continue
        seen.add(found)
        parts = urlsplit(found)
        path = (parts.path or "/") + (f"?{parts.query}" if parts.query else "")
        same_site = (parts.scheme, parts.netloc) == (origin.scheme, origin.netloc)
        if same_site and (not follow or any(wildcard_match(one, path) for one in follow)):
            yield found


def _hrefs(text: str) -> Iterator[tuple[str, str]]:
    for found in islice(_LINK.finditer(text), _MAX_TAGS):
        # A tag of more than some thousand characters is none.
        end = text.find(">", found.end(), found.end() + 2 * MAX_URL_LENGTH)
        if end < 0:
            continue
        href = _HREF.search(text, found.end(), end)
        if href is not None:
            yield found.group(1).lower(), html.unescape(href[1] or href[2] or href[3] or "")


def _joined(base: str, href: str) -> str | None:
    try:
        found = urlsplit(urljoin(base, href.strip()))
        known = found.scheme in ("http", "https") and found.hostname
    except ValueError:
        return None
    url = found._replace(fragment="").geturl()
    return url if known and len(url) <= MAX_URL_LENGTH and url.isprintable() else None


def extract_stored(
    path: str, content_type: str | None, most_bytes: int, url: str, kind: Any
) -> dict[str, Any]:
    """What a stored page says, and the digest of it."""
    return extracted(unpacked(path, most_bytes), content_type, url, kind)


def extracted(content: bytes, content_type: str | None, url: str, kind: Any) -> dict[str, Any]:
    page = extract_page(content, url, content_type=content_type, kind=kind)
    meaning = to_json({"kind": page.kind, "fields": _sorted(page.fields)})
    return {
        "kind": page.kind,
        "fields": dict(page.fields),
        "lineage": {name: dict(one) for name, one in page.lineage.items()},
        "digest": sha256(meaning.encode()).hexdigest(),
    }


def _sorted(value: Any) -> Any:
    """With the members of objects in order, so that equal fields have equal digests."""
    if isinstance(value, dict):
        return {name: _sorted(value[name]) for name in sorted(value)}
    if isinstance(value, list | tuple):
        return [_sorted(one) for one in value]
    return value
