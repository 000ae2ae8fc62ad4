"""Jobs, files and the queue as they are read from the database. Documents are JSON texts."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime
from uuid import UUID


@dataclass(frozen=True, slots=True)
class JobRow:
    """A job as lists show it. ``config``, ``summary`` and ``last_error`` are JSON; ``file_…`` is
    None for a job without a file."""

    id: UUID
    org_id: int
    pipeline: str
    name: str
    state: str
    paused: bool
    priority: int
    lane: str
    user_id: int
    config: str
    total: int
    kept_rows: int
    pending: int
    processing: int
    done: int
    error: int
    not_found: int
    skipped: int
    percent: float
    stage: str | None
    summary: str | None
    last_error: str | None
    attempts: int
    created_at: datetime
    due_at: datetime | None
    started_at: datetime | None
    finished_at: datetime | None
    updated_at: datetime
    undone_at: datetime | None
    standing: bool
    cached_from: UUID | None
    file_id: UUID | None
    file_name: str | None
    file_size: int | None
    sha256: str | None
    media_type: str | None
    org: str
    owner: str | None
    elapsed_ms: int | None
    delayed: bool
    lane_paused: bool


@dataclass(frozen=True, slots=True)
class JobDetails(JobRow):
    """One job in full. ``header``, ``context`` and ``errors`` (a count per error code) are JSON."""

    plan: str
    header: str | None
    context: str
    pruned_at: datetime | None
    changes_pruned_at: datetime | None
    errors: str | None


@dataclass(frozen=True, slots=True)
class JobTable:
    """What the items of a job need to be shown. ``config``, ``header`` and ``lines`` (see
    `model.rows.lines`) are JSON."""

    pipeline: str
    config: str
    header: str | None
    total: int
    lines: str | None


@dataclass(frozen=True, slots=True)
class FileRow:
    id: UUID
    org_id: int
    user_id: int
    name: str
    media_type: str
    sha256: str
    size: int
    blob_key: str
    created_at: datetime


@dataclass(frozen=True, slots=True)
class StoredAnswer:
    """What was answered to an idempotency key. ``headers`` is JSON."""

    request_hash: bytes
    response: str
    status: int
    headers: str


@dataclass(frozen=True, slots=True)
class WaitingLine:
    """Waiting jobs of one priority of an org."""

    org_id: int
    weight: int
    priority: int
    jobs: int


@dataclass(frozen=True, slots=True)
class QueueState:
    """Depth and capacity of the whole queue. ``level`` is of the last overload check, since
    ``since``."""

    depth: int
    waiting: int
    active: int
    delayed: int
    oldest_ms: float | None
    slots: int
    workers: int
    avg_job_ms: float | None
    level: str | None
    since: datetime | None
    dead_letters: int
    lines: Sequence[WaitingLine]


@dataclass(frozen=True, slots=True)
class LastHour:
    """Jobs that ended in the last hour; ``paused``: all lanes in which jobs wait are paused."""

    completed: int
    failed: int
    paused: bool
