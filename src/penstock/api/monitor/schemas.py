"""Workers and lanes as the API shows them."""

from __future__ import annotations

from datetime import datetime
from typing import Any, Literal

from pydantic import (
    Field,
)

from penstock.api.http.schemas import Shape


class HeldSlice(Shape):
    job_id: str
    name: str = Field(description="Of the job.")
    org: str
    pipeline: str
    stage: str
    kind: str
    items: int = Field(description="Rows of the slice; 0 for an ingest, a range or a finish.")
    since: datetime


class WorkerShape(Shape):
    id: str
    host: str
    pid: int
    started_at: datetime
    silent_ms: int = Field(description="Time since its last heartbeat.")
    slots: int
    figures: dict[str, Any] = Field(
        description="Load, sizes and rates as the worker told them, every two seconds."
    )
    holds: list[HeldSlice] = Field(description="What it works on now, the longest held first.")


class WorkerCounts(Shape):
    active: int = Field(description="Workers that hold a slice.")
    idle: int
    total: int


class WorkerQueue(Shape):
    waiting: int
    active: int
    completed: int = Field(description="Jobs that ended well in the last hour.")
    failed: int = Field(description="Jobs that failed in the last hour, or all of whose rows did.")


class WorkerPerformance(Shape):
    avg_processing_time: float | None = Field(
        description="Seconds from the queue to the end of a job; null: nothing has ended."
    )
    success_rate: float | None = Field(description="In percent; null: nothing has ended.")
    throughput: float = Field(description="Jobs that ended, per minute.")


class WorkerPage(Shape):
    workers: WorkerCounts
    queue: WorkerQueue
    performance: WorkerPerformance
    window: Literal["1h"] = Field(
        description="The period of `completed`, `failed` and `performance`: the last hour."
    )
    instances: list[WorkerShape] = Field(description="Each worker.")


class LaneShape(Shape):
    lane: str
    jobs: int = Field(description="Live jobs.")
    running: int
    paused: bool
    paused_at: datetime | None
    paused_by: str | None
    reason: str | None


class LanePage(Shape):
    items: list[LaneShape]


class PauseLaneQuery(Shape):
    reason: str = Field("", max_length=500, description="Shown beside the paused lane.")
