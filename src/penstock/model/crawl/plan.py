"""What a crawl is asked for: companies and their pages. Pure."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from hashlib import sha256
from typing import Annotated, Any
from urllib.parse import urlsplit

from pydantic import AfterValidator, Field, model_validator

from penstock.model.pipeline import Config, Row

MAX_PAGES = 100_000
MAX_URL_LENGTH = 2000
DEFAULT_LIMIT = 100
MAX_LIMIT = 50_000
_MAX_ID = 300
_UNSAFE = re.compile(r"[\x00-\x20\x7f]")
PAGE, SITEMAP, START = "page", "sitemap", "start"


def _checked_url(url: str) -> str:
    """An absolute address of a site, without its fragment."""
    if _UNSAFE.search(url):
        raise ValueError("a URL has no spaces or control characters; encode them")
    try:
        parts = urlsplit(url)
        # Reading the port checks it.
        known = parts.hostname and (parts.port is None or parts.port > 0)
    except ValueError as error:
        raise ValueError(f"not a URL: {error}") from error
    if parts.scheme not in ("http", "https") or not known:
        raise ValueError("a URL begins with http:// or https:// and names a host")
    if parts.username is not None or parts.password is not None:
        raise ValueError("a URL carries no user name or password")
    return parts._replace(fragment="").geturl()


PageUrl = Annotated[
    str, Field(min_length=1, max_length=MAX_URL_LENGTH), AfterValidator(_checked_url)
]
CompanyName = Annotated[
    str, Field(min_length=1, max_length=100, pattern=r"^[^\x00-\x1f\x7f]*[^\s\x00-\x1f\x7f]$")
]
ExternalId = Annotated[str, Field(min_length=1, max_length=_MAX_ID, pattern=r"^[^\x00-\x1f\x7f]+$")]


class PageOrder(Config):
    """A page with an id of the caller's own."""

    url: PageUrl
    external_id: ExternalId | None = Field(
        None, description="Names the page in messages; else its URL without the scheme does."
    )


class StartOrder(Config):
    """A page whose links are followed."""

    url: PageUrl
    follow: list[Annotated[str, Field(min_length=1, max_length=500)]] = Field(
        default_factory=list,
        max_length=50,
        description="Patterns of paths to follow, such as `/products/*`: they match from the"
        " beginning, `*` stands for any characters and a final `$` for the end. Without any, all"
        " links of the same host are followed.",
    )
    limit: int = Field(DEFAULT_LIMIT, ge=1, le=MAX_LIMIT, description="Most pages of the company.")


class CompanyOrder(Config):
    """A company and exactly one way to find its pages."""

    company: CompanyName = Field(examples=["acme"])
    urls: list[PageUrl | PageOrder] | None = Field(
        None, min_length=1, max_length=MAX_PAGES, examples=[["https://shop.example/p/1"]]
    )
    sitemap: PageUrl | None = Field(None, description="A sitemap, or an index of sitemaps.")
    start: StartOrder | None = None

    @model_validator(mode="after")
    def _one_source(self) -> CompanyOrder:
        if sum(one is not None for one in (self.urls, self.sitemap, self.start)) != 1:
            raise ValueError("give exactly one of `urls`, `sitemap` and `start`")
        return self

    def rows(self) -> Iterator[dict[str, Any]]:
        """The inputs of the items that the company begins with."""
        if self.sitemap is not None:
            yield {"company": self.company, "url": self.sitemap, "role": SITEMAP}
        if self.start is not None:
            yield {
                "company": self.company, "url": self.start.url, "role": START,
                "follow": list(self.start.follow), "limit": self.start.limit,
            }  # fmt: skip
        for one in self.urls or ():
            if isinstance(one, PageOrder):
                yield page_input(self.company, one.url, one.external_id)
            else:
                yield page_input(self.company, one)


class CrawlPlan(Config):
    """All companies of a run."""

    companies: list[CompanyOrder] = Field(min_length=1, max_length=10_000)

    @model_validator(mode="after")
    def _not_too_many(self) -> CrawlPlan:
        pages = sum(len(one.urls or ()) for one in self.companies)
        if pages > MAX_PAGES:
            raise ValueError(f"a run takes at most {MAX_PAGES:,} URLs, not {pages:,}")
        return self

    def rows(self) -> list[Row]:
        """The first items of the run; a page that is named twice is crawled once."""
        found: dict[str, Row] = {}
        for one in self.companies:
            for told in one.rows():
                key = item_key(told)
                found.setdefault(key, Row(told, key, one.company))
        return list(found.values())


def page_input(company: str, url: str, external_id: str | None = None) -> dict[str, Any]:
    return {"company": company, "url": url, "externalId": external_id or default_id(url)}


def default_id(url: str) -> str:
    """The URL without its scheme; the end of a long one is replaced by a hash."""
    name = url.partition("://")[2]
    if len(name) <= _MAX_ID:
        return name
    return f"{name[: _MAX_ID - 65]}#{sha256(name.encode()).hexdigest()}"


def item_key(told: Mapping[str, Any]) -> str:
    """The key of an item in its run."""
    if told.get("role") == SITEMAP:
        return f"{SITEMAP}:{told['company']}|{default_id(told['url'])}|{told.get('from', 0)}"
    return page_key(told["company"], told.get("externalId") or default_id(told["url"]))


def page_key(company: str, external_id: str) -> str:
    """The key of a page in its run."""
    return f"{PAGE}:{company}|{external_id}"
