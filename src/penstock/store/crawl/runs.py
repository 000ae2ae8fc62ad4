"""Crawl runs: jobs of the pipeline `crawl`, and their pages company by company."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime
from uuid import UUID

from penstock.model.states import shown_state
from penstock.store.database import Connection
from penstock.store.jobs import jobs
from penstock.store.jobs.job_rows import JobRow
from penstock.store.jobs.jobs import Listed
from penstock.store.queries import load

PIPELINE = "crawl"
_sql = load("runs")


@dataclass(frozen=True, slots=True)
class RunRow:
    """The job of a run; ``config``, ``summary`` and ``last_error`` are JSON. ``state`` is the shown
    one of the job."""

    id: UUID
    name: str
    state: str
    config: str
    summary: str | None
    last_error: str | None
    owner: str | None
    org: str
    percent: float
    open: int
    done: int
    skipped: int
    not_found: int
    error: int
    created_at: datetime
    started_at: datetime | None
    finished_at: datetime | None


@dataclass(frozen=True, slots=True)
class CompanyCount:
    """Items of one company in one stage and status."""

    company: str
    stage: int
    status: str
    is_sitemap: bool
    items: int
    stopped: int


async def get_run(conn: Connection, run_id: UUID) -> RunRow | None:
    job = await jobs.get_job(conn, run_id)
    return None if job is None or job.pipeline != PIPELINE else _run(job)


async def list_runs(
    conn: Connection, text: str | None, after: UUID | None, size: int
) -> tuple[list[RunRow], UUID | None]:
    """Newest first, and where to continue."""
    rows, more = await jobs.list_jobs(conn, Listed(pipeline=PIPELINE, text=text), after, size)
    return [_run(row) for row in rows], more


def _run(job: JobRow) -> RunRow:
    return RunRow(
        job.id, job.name,
        shown_state(job.state, paused=job.paused, delayed=job.delayed), job.config,
        job.summary, job.last_error, job.owner, job.org, job.percent,
        job.pending + job.processing, job.done, job.skipped, job.not_found,
        job.error, job.created_at, job.started_at, job.finished_at,
    )  # fmt: skip


async def counts_by_company(conn: Connection, job_id: UUID) -> Sequence[CompanyCount]:
    return [CompanyCount(**row) for row in await conn.fetch(_sql.counts_by_company, job_id)]


async def open_in_stage(conn: Connection, job_ids: Sequence[UUID], stage: str) -> dict[UUID, int]:
    rows = await conn.fetch(_sql.open_in_stage, list(job_ids), stage)
    return {row["job_id"]: row["open"] for row in rows}


@dataclass(frozen=True, slots=True)
class PageState:
    """A page of a run; without ``status``, the run has no such page (yet)."""

    state: str
    user_id: int
    ingest_done: bool
    lane: str
    stage: int | None
    status: str | None


async def state_of_page(conn: Connection, run_id: UUID, key: str) -> PageState | None:
    """None: there is no such run."""
    row = await conn.fetchrow(_sql.state_of_page, run_id, key)
    return None if row is None else PageState(**row)
