"""Extraction jobs in the words of their older call."""

from __future__ import annotations

from datetime import datetime
from typing import Any, Literal
from uuid import UUID

from pydantic import (
    Field,
)

from penstock.api.http.schemas import SOME_ID, Priority, Shape
from penstock.api.jobs.schemas import JobOrder
from penstock.model.fairness import DEFAULT_PRIORITY


class ExtractionOrder(Shape):
    """A job of the pipeline `extraction`, in the words of its older call."""

    upload_id: UUID | None = Field(None, description="A file uploaded before.", examples=[SOME_ID])
    config: dict[str, Any] = Field(default_factory=dict, description="As `extraction` knows it.")
    priority: Priority = DEFAULT_PRIORITY

    def job_order(self) -> JobOrder:
        return JobOrder.model_validate(
            {"config": self.config, "priority": self.priority, "fileId": self.upload_id}
        )


class ExtractionProgress(Shape):
    percent_complete: float
    current_step: str | None
    rows_processed: int
    rows_total: int
    elapsed_ms: int
    estimated_remaining_ms: int | None


class ExtractionError(Shape):
    code: str
    message: str
    details: dict[str, Any]


class ExtractionJob(Shape):
    """A job as its older call shows it."""

    job_id: UUID
    upload_id: UUID | None
    status: Literal["queued", "processing", "completed", "failed", "cancelled"]
    priority: int
    progress: ExtractionProgress
    retry_count: int
    result_ref: str | None = Field(description="Where the results are, once there are all.")
    summary: dict[str, Any] | None
    error: ExtractionError | None
    created_at: datetime
    started_at: datetime | None
    completed_at: datetime | None
