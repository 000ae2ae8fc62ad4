"""What calls answer. Fields that a newer server adds are ignored, so that old clients go on."""

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
