"""Traces of jobs: request → job → slice → call. The ids follow from the job's id, so that processes
need not pass them on."""

from __future__ import annotations

from collections.abc import Mapping
from contextlib import AbstractContextManager, nullcontext
from datetime import datetime
from hashlib import sha256
from typing import Any, Protocol
from uuid import UUID

Attributes = Mapping[str, Any]


def trace_id_of(job_id: UUID) -> int:
    return job_id.int


def span_id_of(job_id: UUID, span: str) -> int:
    """The id of a span that other processes refer to: `request` or `job`."""
    return int.from_bytes(sha256(job_id.bytes + span.encode()).digest()[:8], "big") or 1


class Traces(Protocol):
    """Records spans."""

    def request(self, job_id: UUID, began: float, ended: float, attributes: Attributes) -> None:
        """A request that created a job, from and to these seconds since the epoch."""

    def job(
        self, job_id: UUID, began: datetime, ended: datetime, failed: bool, attributes: Attributes
    ) -> None:
        """A job that has ended."""

    def slice(self, job_id: UUID, attributes: Attributes) -> AbstractContextManager[None]:
        """A slice while it is worked on."""

    def call(self, provider: str, seconds: float, throttled: bool) -> None:
        """A call to a provider that has ended now, within a slice."""

    async def close(self) -> None: ...


class NoTraces:
    """Records nothing."""

    def request(self, job_id: UUID, began: float, ended: float, attributes: Attributes) -> None:
        return

    def job(
        self, job_id: UUID, began: datetime, ended: datetime, failed: bool, attributes: Attributes
    ) -> None:
        return

    def slice(self, job_id: UUID, attributes: Attributes) -> AbstractContextManager[None]:
        return nullcontext()

    def call(self, provider: str, seconds: float, throttled: bool) -> None:
        return

    async def close(self) -> None:
        return
