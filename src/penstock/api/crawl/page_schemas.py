"""Pages, job postings and previews as the API shows them."""

from __future__ import annotations

from datetime import datetime
from typing import Any, Literal
from uuid import UUID

from pydantic import Field

from penstock.api.http.answers import stored
from penstock.api.http.schemas import PRINTABLE, Shape
from penstock.app.crawl.pages import VersionWithChanges
from penstock.model.crawl.plan import PageUrl
from penstock.store.crawl.pages import PageRow
from penstock.store.crawl.postings import PostingRow

_MAX_HTML = 900_000


class PageSummary(Shape):
    id: UUID
    company: str
    url: str
    state: Literal["live", "expired"]
    version: int = Field(description="The newest version that is kept.")
    kind: Literal["product", "job"] | None
    fields: dict[str, Any] | None = Field(description="What the newest version says.")
    org: str
    job_id: UUID = Field(description="The run that looked at it last.")
    created_at: datetime
    checked_at: datetime


class FieldChange(Shape):
    field: str
    before: Any
    after: Any


class PageVersion(Shape):
    version: int
    run_id: UUID
    row_no: int
    final_url: str
    content_type: str | None
    sha256: str
    size: int
    simhash: str | None = Field(description="64 bits, in hexadecimal.")
    raw_url: str = Field(description="Where the page is, as it was fetched.")
    kind: Literal["product", "job"] | None
    fields: dict[str, Any] | None
    lineage: dict[str, Any] | None
    extractor: str | None
    fetched_at: datetime
    extracted_at: datetime | None
    changes: list[FieldChange] | None = Field(description="Against the version before.")


class FullPage(PageSummary):
    versions: list[PageVersion]


class PagePage(Shape):
    items: list[PageSummary]
    next: str | None


class DeletedPage(Shape):
    id: UUID


class PagesQuery(Shape):
    company: str = Field("", max_length=100, pattern=PRINTABLE)
    url: str = Field("", max_length=4000, pattern=PRINTABLE, description="Exactly this one.")
    page_size: int = Field(50, ge=1, le=200)
    after: str = Field("", description="`next` of the page before.")


class PostingShape(Shape):
    id: UUID
    page_id: UUID
    company: str
    url: str
    title: str
    state: Literal["open", "expired"]
    fields: dict[str, Any]
    lineage: dict[str, Any]
    run_id: UUID
    row_no: int
    created_at: datetime
    updated_at: datetime


class PostingPage(Shape):
    items: list[PostingShape]
    next: str | None


class DeletedPosting(Shape):
    id: UUID


class PostingFilterQuery(Shape):
    q: str = Field(
        "", max_length=200, pattern=PRINTABLE,
        description="Words in title, employer or locations, capitals or not.",
    )  # fmt: skip
    company: str = Field("", max_length=100, pattern=PRINTABLE)
    state: Literal["open", "expired"] | None = None
    run_id: UUID | None = None


class PostingsQuery(PostingFilterQuery):
    page_size: int = Field(50, ge=1, le=200)
    after: str = Field("", description="`next` of the page before.")


class PostingsExportQuery(PostingFilterQuery):
    format: Literal["csv", "xlsx", "json", "ndjson"] = "csv"


class PreviewOrder(Shape):
    """A page to fetch, or its HTML with the address it belongs to."""

    url: PageUrl = Field(examples=["https://shop.example/p/1"])
    html: str | None = Field(None, max_length=_MAX_HTML, description="Instead of fetching it.")
    kind: Literal["product", "job", "auto"] = "auto"
    robots: bool = Field(True, description="Keep to robots.txt.")


class PagePreview(Shape):
    url: str
    final_url: str
    content_type: str | None
    size: int
    simhash: str
    kind: Literal["product", "job"] | None
    fields: dict[str, Any]
    lineage: dict[str, dict[str, Any]] = Field(
        description="Of each field, where it comes from and how sure it is."
    )
    text: str = Field(description="The beginning of the visible text.")


def page_shape(row: PageRow) -> dict[str, Any]:
    return {
        "id": str(row.id),
        "company": row.company,
        "url": row.url,
        "state": row.state,
        "version": row.version,
        "kind": row.kind,
        "fields": stored(row.fields),
        "org": row.org,
        "jobId": str(row.job_id),
        "createdAt": row.created_at,
        "checkedAt": row.checked_at,
    }


def version_shape(page_id: UUID, one: VersionWithChanges) -> dict[str, Any]:
    row = one.row
    return {
        "version": row.version,
        "runId": str(row.job_id),
        "rowNo": row.row_no,
        "finalUrl": row.final_url,
        "contentType": row.content_type,
        "sha256": row.sha256,
        "size": row.size,
        "simhash": None if row.simhash is None else f"{row.simhash & (1 << 64) - 1:016x}",
        "rawUrl": f"/api/pages/{page_id}/versions/{row.version}/raw",
        "kind": row.kind,
        "fields": stored(row.fields),
        "lineage": stored(row.lineage),
        "extractor": row.extractor,
        "fetchedAt": row.fetched_at,
        "extractedAt": row.extracted_at,
        "changes": one.changes,
    }


def posting_shape(row: PostingRow) -> dict[str, Any]:
    return {
        "id": str(row.id),
        "pageId": str(row.page_id),
        "company": row.company,
        "url": row.url,
        "title": row.title,
        "state": row.state,
        "fields": stored(row.data),
        "lineage": stored(row.lineage),
        "runId": str(row.job_id),
        "rowNo": row.row_no,
        "createdAt": row.created_at,
        "updatedAt": row.updated_at,
    }
