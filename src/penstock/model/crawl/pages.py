"""Crawled pages: what is known of them, and the effects that change it."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Literal, Protocol
from uuid import UUID

from penstock.model.crawl.robots import RobotsRules
from penstock.model.effects import Effect
from penstock.model.errors import NotThere

PageKind = Literal["product", "job"]
# An item whose company was stopped was not requested, so it is not a failure itself.
COMPANY_STOPPED = "COMPANY_STOPPED"
UNCHANGED = "UNCHANGED"
# The counter of pages that a sitemap or a link added to the run.
FOUND = "found"


def no_such_page() -> NotThere:
    return NotThere("NOT_FOUND", "There is no such page.")


@dataclass(frozen=True, slots=True)
class CrawlSettings:
    """Settings of the installation that the stages of a crawl need."""

    user_agent: str
    max_page_bytes: int
    versions_kept: int


@dataclass(frozen=True, slots=True)
class KnownPage:
    """A page with its newest version."""

    id: UUID
    version: int
    etag: str | None
    last_modified: str | None
    final_url: str
    content_type: str | None
    blob_key: str
    sha256: str
    simhash: int | None
    digest: str | None


@dataclass(frozen=True, slots=True)
class Baseline:
    """The newest version that was extracted before this run: what a page is compared with."""

    version: int
    blob_key: str
    final_url: str
    content_type: str | None
    sha256: str
    simhash: int | None
    digest: str
    kind: str | None
    extractor: str | None


@dataclass(frozen=True, slots=True)
class KeepPage(Effect):
    """A page was fetched. With ``is_new`` its content is a new version; else it is that of
    ``version`` still. Nothing is written if the page has another version by then."""

    page_id: UUID
    company: str
    url: str
    version: int
    is_new: bool
    final_url: str
    content_type: str | None
    etag: str | None
    last_modified: str | None
    blob_key: str
    sha256: str
    size: int
    simhash: int | None
    # Older versions are deleted.
    versions_kept: int = 20


@dataclass(frozen=True, slots=True)
class ExpirePage(Effect):
    """The server says that the page is gone. Its versions stay; a job posting of it expires."""

    company: str
    url: str


@dataclass(frozen=True, slots=True)
class KeepExtraction(Effect):
    """What was extracted from a version of a page. ``same_as`` names an older version with the same
    content: then the version of the page is deleted, and the older one is the newest again."""

    page_id: UUID
    version: int
    kind: str | None
    fields: Mapping[str, Any]
    lineage: Mapping[str, Any]
    digest: str
    extractor: str
    same_as: int | None = None


@dataclass(frozen=True, slots=True)
class KeepPosting(Effect):
    """Write the job posting of a page over what is known of it."""

    page_id: UUID
    company: str
    url: str
    data: Mapping[str, Any]
    lineage: Mapping[str, Any] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class KeepRobots(Effect):
    """The rules of a robots.txt that apply to our user agent."""

    origin: str
    user_agent: str
    rules: RobotsRules


class PageIndex(Protocol):
    """Read access of stages to the org's pages."""

    async def page(self, org_id: int, company: str, url: str) -> KnownPage | None:
        """The page with its newest version."""

    async def baselines(
        self, org_id: int, job_id: UUID, pages: Sequence[tuple[UUID, int]]
    ) -> Mapping[UUID, Baseline]:
        """For each page and version, the newest extracted version up to it that another job
        fetched."""

    async def robots(self, org_id: int, origin: str, user_agent: str) -> RobotsRules | None:
        """Rules that were read within the last day."""

    async def failures(self, job_id: UUID, company: str, most: int) -> int:
        """How many pages of the company failed in the job, up to ``most``."""

    async def new_keys(self, job_id: UUID, keys: Sequence[str]) -> Sequence[str]:
        """Those of the keys that no item of the job has."""

    async def found(self, job_id: UUID, company: str) -> int:
        """How many pages of the company were found by the job itself (`FOUND`)."""
