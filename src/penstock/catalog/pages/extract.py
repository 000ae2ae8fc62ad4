"""A page into the fields of a product or of a job posting, each with its source and confidence."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any, Literal

from penstock.catalog.pages.candidates import Chosen
from penstock.catalog.pages.decode import decode_page
from penstock.catalog.pages.html_tree import parse
from penstock.catalog.pages.job_page import JOB_FIELDS, read_job
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
    meta = MetaTags(page)
    chosen: Chosen | None = None
    found: PageKind | None = None
    if kind in ("job", "auto"):
        chosen, found = read_job(page, things, meta, locale, asked=kind == "job"), "job"
    if chosen is None and kind in ("product", "auto"):
        chosen = read_product(page, things, meta, locale, url, asked=kind == "product")
        found = "product"
    if chosen is None:
        return PageData(url, None, locale.language)
    order = PRODUCT_FIELDS if found == "product" else JOB_FIELDS
    kept = [(name, chosen[name]) for name in order if name in chosen]
    return PageData(
        url,
        found,
        locale.language,
        {name: one.value for name, one in kept},
        {
            name: {"source": one.source, "confidence": round(one.confidence, 2)}
            for name, one in kept
        },
    )
