"""Pages of companies' sites and their versions. `StoredPages` implements `PageIndex`."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from hashlib import sha256
from uuid import UUID

from penstock.model.crawl.pages import (
    COMPANY_STOPPED,
    FOUND,
    Baseline,
    ExpirePage,
    KeepExtraction,
    KeepPage,
    KeepRobots,
    KnownPage,
)
from penstock.model.crawl.robots import RobotsRules
from penstock.store import blob_refs
from penstock.store.crawl import postings
from penstock.store.database import Connection, Database, from_json, to_json
from penstock.store.queries import load

_sql = load("pages")
# The kind of the references to raw pages.
RAW_PAGE = "page"


def url_hash(url: str) -> str:
    return sha256(url.encode()).hexdigest()


def _owner(page_id: UUID, version: int) -> str:
    return f"{page_id}:{version}"


async def save_page(
    conn: Connection, org_id: int, job_id: UUID, row_no: int, page: KeepPage
) -> bool:
    """False if the page has another version than the stage saw; then nothing is written."""
    before = page.version - 1 if page.is_new else page.version
    saved = await conn.fetchval(
        _sql.save_page, page.page_id, org_id, page.company, url_hash(page.url), page.url,
        page.version, before, page.etag, page.last_modified, job_id,
    )  # fmt: skip
    if saved is None:
        return False
    if page.is_new:
        await conn.execute(
            _sql.add_version, page.page_id, page.version, org_id, job_id, row_no, page.final_url,
            page.content_type, page.blob_key, page.sha256, page.size, page.simhash,
        )  # fmt: skip
        reference = (page.blob_key, RAW_PAGE, _owner(page.page_id, page.version))
        await blob_refs.add(conn, org_id, [reference])
        oldest = page.version - page.versions_kept
        for old in await conn.fetch(_sql.drop_old_versions, page.page_id, oldest):
            await blob_refs.remove(conn, org_id, RAW_PAGE, _owner(page.page_id, old["version"]))
    return True


async def expire_pages(
    conn: Connection, org_id: int, job_id: UUID, pages: Sequence[ExpirePage]
) -> None:
    rows = await conn.fetch(
        _sql.expire_pages, org_id, job_id, [one.company for one in pages],
        [url_hash(one.url) for one in pages],
    )  # fmt: skip
    if rows:
        await postings.expire(conn, org_id, job_id, [row["id"] for row in rows])


async def save_extraction(conn: Connection, org_id: int, found: KeepExtraction) -> None:
    if found.same_as is None or found.same_as == found.version:
        await conn.execute(
            _sql.save_extraction, found.page_id, found.version, found.kind, to_json(found.fields),
            to_json(found.lineage), found.digest, found.extractor,
        )  # fmt: skip
        return
    if await conn.fetchval(_sql.back_to_version, found.page_id, found.version, found.same_as):
        await conn.execute(_sql.drop_version, found.page_id, found.version)
        await blob_refs.remove(conn, org_id, RAW_PAGE, _owner(found.page_id, found.version))


async def save_robots(conn: Connection, org_id: int, found: KeepRobots) -> None:
    await conn.execute(
        _sql.save_robots, org_id, found.origin, found.user_agent, to_json(found.rules.as_json())
    )


async def drop_old_robots(conn: Connection, most: int) -> int:
    """Answers the number of deleted rules."""
    done = await conn.execute(_sql.drop_old_robots, most)
    return int(done.removeprefix("DELETE "))


@dataclass(frozen=True, slots=True)
class PageRow:
    """A page; ``kind`` and ``fields`` (JSON) are those of its newest version."""

    id: UUID
    company: str
    url: str
    state: str
    version: int
    org: str
    kind: str | None
    fields: str | None
    job_id: UUID
    created_at: datetime
    checked_at: datetime


@dataclass(frozen=True, slots=True)
class VersionRow:
    """A version of a page; ``fields`` and ``lineage`` are JSON."""

    version: int
    job_id: UUID
    row_no: int
    final_url: str
    content_type: str | None
    blob_key: str
    sha256: str
    size: int
    simhash: int | None
    kind: str | None
    fields: str | None
    lineage: str | None
    extractor: str | None
    fetched_at: datetime
    extracted_at: datetime | None


async def list_pages(
    conn: Connection, after: UUID | None, company: str | None, url: str | None, limit: int
) -> list[PageRow]:
    """Oldest first."""
    rows = await conn.fetch(_sql.list_pages, after, company, url, limit)
    return [PageRow(**row) for row in rows]


async def get_page(conn: Connection, page_id: UUID) -> PageRow | None:
    row = await conn.fetchrow(_sql.get_page, page_id)
    return None if row is None else PageRow(**row)


async def versions_of_page(conn: Connection, page_id: UUID) -> list[VersionRow]:
    """Newest first."""
    return [VersionRow(**row) for row in await conn.fetch(_sql.versions_of_page, page_id)]


async def blob_of_version(conn: Connection, page_id: UUID, version: int) -> str | None:
    """The key of the blob that holds the raw page."""
    key: str | None = await conn.fetchval(_sql.blob_of_version, page_id, version)
    return key


async def delete(conn: Connection, page_id: UUID) -> bool:
    """Delete a page with its versions, what they keep in blobs, and its job posting."""
    await conn.execute(_sql.release_blobs, page_id, RAW_PAGE)
    return bool(await conn.fetch(_sql.delete_page, page_id))


class StoredPages:
    """Implements `model.crawl.pages.PageIndex`."""

    def __init__(self, db: Database) -> None:
        self._db = db

    async def page(self, org_id: int, company: str, url: str) -> KnownPage | None:
        async with self._db.acquire() as conn:
            row = await conn.fetchrow(_sql.known_page, org_id, company, url_hash(url))
        return None if row is None else KnownPage(**row)

    async def baselines(
        self, org_id: int, job_id: UUID, pages: Sequence[tuple[UUID, int]]
    ) -> Mapping[UUID, Baseline]:
        if not pages:
            return {}
        ids, versions = zip(*pages, strict=True)
        async with self._db.acquire() as conn:
            rows = await conn.fetch(_sql.baselines, org_id, job_id, ids, versions)
        return {
            row["page_id"]: Baseline(**{k: v for k, v in row.items() if k != "page_id"})
            for row in rows
        }

    async def robots(self, org_id: int, origin: str, user_agent: str) -> RobotsRules | None:
        async with self._db.acquire() as conn:
            rules = await conn.fetchval(_sql.known_robots, org_id, origin, user_agent)
        return None if rules is None else RobotsRules.of_json(from_json(rules))

    async def failures(self, job_id: UUID, company: str, most: int) -> int:
        async with self._db.acquire() as conn:
            return int(
                await conn.fetchval(_sql.count_failures, job_id, company, most, COMPANY_STOPPED)
            )

    async def new_keys(self, job_id: UUID, keys: Sequence[str]) -> Sequence[str]:
        async with self._db.acquire() as conn:
            rows = await conn.fetch(_sql.known_keys, job_id, list(keys))
        known = {row["key"] for row in rows}
        return [key for key in keys if key not in known]

    async def found(self, job_id: UUID, company: str) -> int:
        async with self._db.acquire() as conn:
            return int(await conn.fetchval(_sql.counter_of_group, job_id, company, FOUND) or 0)


async def drop_versions_before(conn: Connection, org_id: int, days: float, most: int) -> int:
    """Delete old versions of pages, but the newest one of each page. Return how many."""
    rows = await conn.fetch(_sql.versions_before, org_id, days, most)
    for row in rows:
        await conn.execute(_sql.drop_version, row["page_id"], row["version"])
        await blob_refs.remove(conn, org_id, RAW_PAGE, _owner(row["page_id"], row["version"]))
    return len(rows)


async def count_versions_before(conn: Connection, org_id: int, days: float) -> int:
    return int(await conn.fetchval(_sql.count_versions_before, org_id, days))
