"""The body and the answer of a request for many jobs."""

from __future__ import annotations

from datetime import datetime
from uuid import UUID

from pydantic import Field, model_validator

from penstock.api.http.schemas import ErrorShape, Shape
from penstock.api.jobs.schemas import JobOrder

MAX_JOBS = 200


class BatchOrder(JobOrder):
    """A job of a batch. Files are uploaded before."""

    idempotency_key: str | None = Field(
        None,
        min_length=1,
        max_length=255,
        pattern=r"^[\x20-\x7e]+$",
        description="As the header `Idempotency-Key` of a single job.",
    )

    @model_validator(mode="after")
    def _uploaded(self) -> BatchOrder:
        if self.path is not None or self.url is not None:
            raise ValueError("a batch takes no `path` or `url`: upload the file, give its `fileId`")
        return self


class JobBatch(Shape):
    """Jobs to create."""

    jobs: list[BatchOrder] = Field(min_length=1, max_length=MAX_JOBS)


class BatchResult(Shape):
    """The answer for one job: what a single request would have been answered."""

    status: int = Field(description="202: accepted. Else the status of its error.")
    replayed: bool | None = Field(None, description="It was accepted before, by the same key.")
    job_id: UUID | None = None
    position: int | None = None
    estimated_wait_ms: int | None = None
    delayed_until: datetime | None = None
    error: ErrorShape | None = None
    retry_after_ms: int | None = None


class BatchAnswer(Shape):
    accepted: int
    refused: int
    results: list[BatchResult] = Field(description="One for each job, in order.")
