"""A page into the fields of a product or of a job posting, each with its source and confidence."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any, Literal

from penstock.catalog.pages.decode import decode_page
from penstock.catalog.pages.html_tree import parse
from penstock.catalog.pages.locale import locale_of
from penstock.catalog.pages.meta_tags import MetaTags
from penstock.catalog.pages.product_page import PRODUCT_FIELDS, read_product
from penstock.catalog.pages.things import read_things

PageKind = Literal["product", "job"]
# Pages are cut off after this many bytes; the crawler refuses larger ones before.
MAX_BYTES = 10_000_000


@dataclass(frozen=True, slots=True)
class PageData:
    """``kind`` is None for a page that is neither. ``lineage`` has for each field
    `{"source", "confidence"}`."""

    url: str
    kind: PageKind | None
    language: str | None
    fields: dict[str, Any] = field(default_factory=dict)
    lineage: dict[str, dict[str, Any]] = field(default_factory=dict)


def extract_page(
    html: bytes | str,
    url: str,
    *,
    content_type: str | None = None,
    kind: Literal["product", "job", "auto"] = "auto",
) -> PageData:
    """Read a product or a job posting from the page. Pure: no network, no clock."""
    text = html[:MAX_BYTES]
    page = parse(decode_page(text, content_type) if isinstance(text, bytes) else text)
    locale = locale_of(page, url)
    things = read_things(page, url)
    found = None
    if kind in ("product", "auto"):
        found = read_product(page, things, MetaTags(page), locale, url, asked=kind == "product")
    if found is None:
        return PageData(url, None, locale.language)
    return PageData(url, "product", locale.language, *found.as_fields(PRODUCT_FIELDS))
