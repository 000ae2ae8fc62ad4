"""Crawl runs as the API takes and shows them."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from datetime import datetime
from typing import Any, Literal
from uuid import UUID

from pydantic import Field

from penstock.api.http.answers import stored
from penstock.api.http.schemas import PRINTABLE, Priority, Shape
from penstock.app.crawl.runs import CompanyState, RunState, status_of
from penstock.model.crawl.plan import CompanyOrder
from penstock.model.fairness import DEFAULT_PRIORITY
from penstock.store.crawl.runs import RunRow

RunStatus = Literal["queued", "running", "paused", "aborting", "finished", "aborted", "failed"]
_EXAMPLE = {"company": "acme", "urls": ["https://shop.example/p/1", "https://shop.example/p/2"]}


class RunOrderShape(Shape):
    """Companies and their pages. Longer lists than a request takes belong into a file: upload it,
    and create a job of the pipeline `crawl`."""

    companies: list[CompanyOrder] = Field(min_length=1, max_length=10_000, examples=[[_EXAMPLE]])
    name: str = Field("", max_length=200, pattern=PRINTABLE)
    kind: Literal["product", "job", "auto"] = Field("auto", description="What the pages are.")
    rate: float | None = Field(
        None, ge=0.01, le=50, description="Requests a second to each company; 1 without it."
    )
    robots: bool = Field(True, description="Keep to robots.txt.")
    recrawl: bool = Field(
        False, description="Fetch and write every page, even if it has not changed."
    )
    intent: Literal["check", "create", "update", "merge", "replace", "ignoreExisting"] = Field(
        "merge", description="What may be written to the catalog; `check` writes nothing."
    )
    price_guard: float = Field(
        0, ge=0, le=100_000, description="Hold back prices that change by more percent; 0: none."
    )
    base_currency: str = Field("USD", pattern=r"^[A-Z]{3}$")
    priority: Priority = DEFAULT_PRIORITY

    def config(self) -> dict[str, Any]:
        named = {"kind", "rate", "robots", "recrawl", "intent", "price_guard", "base_currency"}
        return self.model_dump(by_alias=True, include=named, exclude_none=True, exclude_unset=True)

    def plan(self) -> list[dict[str, Any]]:
        return [one.model_dump(by_alias=True, exclude_none=True) for one in self.companies]


class RunReceipt(Shape):
    run_id: UUID
    job_id: UUID = Field(description="The same: a run is a job of the pipeline `crawl`.")
    position: int
    estimated_wait_ms: int
    delayed_until: datetime | None = None


class RunCounts(Shape):
    pending: int = Field(description="Not fetched yet.")
    crawled: int = Field(description="Fetched and stored, not extracted yet.")
    ready: int
    skipped: int = Field(description="Unchanged, not allowed by robots.txt, or without content.")
    expired: int = Field(description="The server said 404 or 410.")
    error: int


class RunCompany(Shape):
    company: str
    found: int = Field(description="Pages in all.")
    counts: RunCounts
    stopped: bool = Field(description="Stopped after five failures; the rest was not requested.")


class StageProgress(Shape):
    done: int
    total: int


class RunSummaryShape(Shape):
    id: UUID
    name: str
    status: RunStatus
    counts: RunCounts
    config: dict[str, Any]
    owner: str | None
    org: str
    created_at: datetime
    started_at: datetime | None
    finished_at: datetime | None


class RunShape(RunSummaryShape):
    companies: list[RunCompany]
    crawl: StageProgress
    extract: StageProgress
    percent: float
    summary: dict[str, Any] | None
    last_error: dict[str, Any] | None


class RunPage(Shape):
    items: list[RunSummaryShape]
    next: str | None


class RunsQuery(Shape):
    q: str = Field("", max_length=200, pattern=PRINTABLE, description="With this in the name.")
    page_size: int = Field(50, ge=1, le=200)
    after: str = Field("", description="`next` of the page before.")


def summary_shape(job: RunRow, counts: Mapping[str, int]) -> dict[str, Any]:
    return {
        "id": str(job.id),
        "name": job.name,
        "status": status_of(job),
        "counts": dict(counts),
        "config": stored(job.config),
        "owner": job.owner,
        "org": job.org,
        "createdAt": job.created_at,
        "startedAt": job.started_at,
        "finishedAt": job.finished_at,
    }


def run_shape(run: RunState) -> dict[str, Any]:
    counts = run.counts
    total = sum(counts.values())
    return summary_shape(run.job, counts) | {
        "companies": _companies(run.companies),
        "crawl": {"done": total - counts["pending"], "total": total},
        "extract": {"done": total - counts["pending"] - counts["crawled"], "total": total},
        "percent": round(run.job.percent, 1),
        "summary": stored(run.job.summary),
        "lastError": stored(run.job.last_error),
    }


def _companies(companies: Sequence[CompanyState]) -> list[dict[str, Any]]:
    return [
        {
            "company": one.company, "found": one.found, "counts": one.counts,
            "stopped": one.stopped,
        }
        for one in companies
    ]  # fmt: skip
