"""Answers of calls. Fields that a newer server adds are ignored, so that old clients still work."""

from __future__ import annotations

from datetime import datetime
from typing import Any
from uuid import UUID

from pydantic import BaseModel, ConfigDict
from pydantic.alias_generators import to_camel

ENDED = frozenset({"done", "failed", "cancelled"})


class Shape(BaseModel):
    model_config = ConfigDict(
        extra="ignore", frozen=True, alias_generator=to_camel, populate_by_name=True
    )


class File(Shape):
    id: UUID
    name: str
    size: int
    sha256: str
    media_type: str


class Counters(Shape):
    total: int
    pending: int
    processing: int
    done: int
    error: int
    not_found: int
    skipped: int


class Progress(Shape):
    percent: float
    stage: str | None
    message: str
    rows_done: int
    rows_total: int
    elapsed_ms: int
    estimated_remaining_ms: int | None


class Job(Shape):
    id: UUID
    pipeline: str
    name: str
    state: str
    priority: int
    lane: str
    org: str
    file: File | None
    config: dict[str, Any]
    counters: Counters
    progress: Progress
    summary: dict[str, Any] | None
    last_error: dict[str, Any] | None
    attempts: int
    created_at: datetime
    due_at: datetime | None
    started_at: datetime | None
    finished_at: datetime | None
    updated_at: datetime
    errors: dict[str, int] = {}

    @property
    def ended(self) -> bool:
        return self.state in ENDED


class Receipt(Shape):
    job_id: UUID
    position: int
    estimated_wait_ms: int
    delayed_until: datetime | None = None


class BatchResult(Shape):
    """What became of one job of a batch: ``error`` is set if it was refused."""

    status: int
    replayed: bool = False
    job_id: UUID | None = None
    position: int | None = None
    estimated_wait_ms: int | None = None
    delayed_until: datetime | None = None
    error: dict[str, Any] | None = None
    retry_after_ms: int | None = None


class Item(Shape):
    id: str
    row_no: int
    status: str
    stage: str | None
    attempts: int
    input: Any
    normalized: dict[str, Any] | None
    result: dict[str, Any] | None
    error: dict[str, Any] | None
    updated_at: datetime


class Event(Shape):
    event: str
    job_id: UUID | None
    worker_id: str | None
    data: dict[str, Any]
    timestamp: datetime
    seq: int | None


class Reprocessed(Shape):
    reprocessed: int
    left_out: int
    job: Job
    operation_id: UUID | None = None


class PreviewRow(Shape):
    """One row of the sample: what it would become, and what is wrong with it."""

    row_no: int
    cells: list[str]
    verdict: str
    result: dict[str, Any] | None
    problems: list[dict[str, Any]]
    match: str | None
    changes: list[dict[str, Any]] = []
    links: list[dict[str, Any]] = []
    held: dict[str, Any] | None = None
    duplicate_of: int | None = None
    part_of: int | None = None


class Preview(Shape):
    """What a job would make of a file. ``file_id`` creates the job without a second upload."""

    file_id: UUID | None
    reading: dict[str, Any]
    header: list[str]
    rows_sampled: int
    rows_estimated: int
    profile: dict[str, Any]
    source: str
    earlier_source: dict[str, Any] | None = None
    warnings: list[dict[str, Any]]
    questions: list[dict[str, Any]]
    mapping: list[dict[str, Any]]
    notes: list[str]
    columns: list[str]
    rows: list[PreviewRow]
    summary: dict[str, Any]


class Refusal(Shape):
    """A product or job posting that was changed since, and was not undone."""

    product_id: UUID | None = None
    posting_id: UUID | None = None
    row_no: int | None
    source: str | None = None
    source_id: str | None = None
    reason: str


class Undone(Shape):
    restored: int
    deleted: int
    postings: int = 0
    refused_count: int
    refused: list[Refusal]
    more: bool
    next: UUID | None

    def plus(self, later: Undone) -> Undone:
        """Both answers as one."""
        return Undone(
            restored=self.restored + later.restored,
            deleted=self.deleted + later.deleted,
            postings=self.postings + later.postings,
            refused_count=self.refused_count + later.refused_count,
            refused=[*self.refused, *later.refused],
            more=later.more,
            next=later.next,
        )
