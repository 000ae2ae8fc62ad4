"""Crawl runs: what is submitted, and how a run stands."""

from __future__ import annotations

from collections.abc import AsyncIterator, Mapping, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from typing import Any
from uuid import UUID

from penstock.app.uploads import Upload, forget_upload
from penstock.engine.runtime import Runtime
from penstock.engine.submit import Order
from penstock.model.errors import NotThere
from penstock.model.ids import new_id
from penstock.model.text.json_text import to_json
from penstock.store.accounts.audit_log import Caller
from penstock.store.crawl import runs
from penstock.store.crawl.runs import PIPELINE, CompanyCount, RunRow
from penstock.store.database import Connection

COUNTS = ("pending", "crawled", "ready", "skipped", "expired", "error")
_SHOWN_STATE = {
    "queued": "queued", "delayed": "queued", "running": "running", "paused": "paused",
    "cancelling": "aborting", "cancelled": "aborted", "done": "finished", "failed": "failed",
}  # fmt: skip
_ENDED = {"DONE": "ready", "SKIPPED": "skipped", "NOT_FOUND": "expired", "ERROR": "error"}


@dataclass(frozen=True, slots=True)
class RunOrder:
    """What a caller asks for; ``companies`` is JSON that was checked."""

    companies: Sequence[Mapping[str, Any]]
    config: Mapping[str, Any]
    name: str
    priority: int


@dataclass(slots=True)
class CompanyState:
    """Pages of one company; ``stopped``: after too many failures."""

    company: str
    counts: dict[str, int] = field(default_factory=lambda: dict.fromkeys(COUNTS, 0))
    stopped: bool = False

    @property
    def found(self) -> int:
        return sum(self.counts.values())


@dataclass(frozen=True, slots=True)
class RunState:
    """A run: its job, and its pages by company."""

    job: RunRow
    companies: Sequence[CompanyState]

    @property
    def status(self) -> str:
        return status_of(self.job)

    @property
    def counts(self) -> dict[str, int]:
        return {name: sum(one.counts[name] for one in self.companies) for name in COUNTS}


def no_such_run() -> NotThere:
    return NotThere("NOT_FOUND", "There is no such run.")


def status_of(job: RunRow) -> str:
    return _SHOWN_STATE[job.state]


@asynccontextmanager
async def run_upload(
    runtime: Runtime, caller: Caller, asked: RunOrder, key: str | None
) -> AsyncIterator[tuple[Order, Upload]]:
    """The job of a run, and its list of pages as a file; an error leaves nothing of it behind."""
    content = to_json({"companies": list(asked.companies)}).encode()
    blob = await runtime.blobs.put(_as_stream(content), runtime.settings.max_file_bytes)
    upload = Upload(new_id(), "pages.json", "application/json", blob)
    order = Order(
        pipeline=PIPELINE, config=dict(asked.config), file_id=upload.id, priority=asked.priority,
        name=asked.name or _name_of(asked.companies), ip=caller.ip, idempotency_key=key,
        content_sha256=blob.sha256,
    )  # fmt: skip
    try:
        yield order, upload
    except BaseException:
        await forget_upload(runtime, upload)
        raise


async def _as_stream(content: bytes) -> AsyncIterator[bytes]:
    yield content


def _name_of(companies: Sequence[Mapping[str, Any]]) -> str:
    names = list(dict.fromkeys(str(one["company"]) for one in companies))
    if len(names) == 1:
        return f"Crawl of {names[0]}"[:200]
    return f"Crawl of {len(names)} companies"


async def get_run(conn: Connection, run_id: UUID) -> RunState:
    job = await runs.get_run(conn, run_id)
    if job is None:
        raise no_such_run()
    return RunState(job, companies_of(await runs.counts_by_company(conn, run_id)))


def companies_of(counted: Sequence[CompanyCount]) -> list[CompanyState]:
    """A sitemap that was read is no page; while it waits, or if it failed, it counts as one."""
    found: dict[str, CompanyState] = {}
    for one in counted:
        state = found.setdefault(one.company, CompanyState(one.company))
        state.stopped = state.stopped or one.stopped > 0
        if one.is_sitemap and one.status == "DONE":
            continue
        name = _ENDED.get(one.status) or ("crawled" if one.stage > 0 else "pending")
        state.counts[name] += one.items
    return sorted(found.values(), key=lambda one: one.company)


async def counts_of_runs(conn: Connection, rows: Sequence[RunRow]) -> dict[UUID, dict[str, int]]:
    """Counts of many runs, from the counters of their jobs."""
    crawled = await runs.open_in_stage(conn, [row.id for row in rows], "extract")
    counts: dict[UUID, dict[str, int]] = {}
    for row in rows:
        waiting = min(crawled.get(row.id, 0), row.open)
        counts[row.id] = {
            "pending": row.open - waiting, "crawled": waiting, "ready": row.done,
            "skipped": row.skipped, "expired": row.not_found, "error": row.error,
        }  # fmt: skip
    return counts
