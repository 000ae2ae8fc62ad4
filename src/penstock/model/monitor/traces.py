"""Traces of jobs: request → job → slice → call. The ids of their spans follow from the job's id, so
that processes need not pass them on. A request that names the trace of its caller (`traceparent`,
W3C Trace Context) continues that trace; others begin one, whose id is the job's id."""

from __future__ import annotations

import re
from collections.abc import Mapping
from contextlib import AbstractContextManager, nullcontext
from contextvars import ContextVar
from dataclasses import dataclass
from datetime import datetime
from hashlib import sha256
from typing import Any, Protocol, Self
from uuid import UUID

Attributes = Mapping[str, Any]
# Later versions may add fields at the end.
_HEADER = re.compile(r"([0-9a-f]{2})-([0-9a-f]{32})-([0-9a-f]{16})-([0-9a-f]{2})(-.*)?")
_LONGEST = 200


@dataclass(frozen=True, slots=True)
class TraceParent:
    """A span of a caller, as the header `traceparent` names it."""

    trace_id: int
    span_id: int
    flags: int

    @classmethod
    def parse(cls, header: str | None) -> Self | None:
        """None for a header that is missing or malformed: it is ignored, as the standard says."""
        found = _HEADER.fullmatch(header) if header and len(header) <= _LONGEST else None
        if found is None:
            return None
        version, trace_id, span_id, flags, more = found.groups()
        made = cls(int(trace_id, 16), int(span_id, 16), int(flags, 16))
        if version == "ff" or (version == "00" and more) or not (made.trace_id and made.span_id):
            return None
        return made

    def __str__(self) -> str:
        return f"00-{self.trace_id:032x}-{self.span_id:016x}-{self.flags:02x}"


_caller: ContextVar[TraceParent | None] = ContextVar("caller", default=None)


def continue_trace(caller: TraceParent | None) -> None:
    """Jobs that this task creates belong to the trace of ``caller``."""
    _caller.set(caller)


def current_trace() -> TraceParent | None:
    return _caller.get()


@dataclass(frozen=True, slots=True)
class JobTrace:
    """The trace of a job."""

    job_id: UUID
    caller: TraceParent | None = None

    @classmethod
    def of(cls, job_id: UUID, traceparent: str | None) -> Self:
        return cls(job_id, TraceParent.parse(traceparent))

    @property
    def trace_id(self) -> int:
        return self.job_id.int if self.caller is None else self.caller.trace_id

    def span_id(self, span: str) -> int:
        """The id of a span that other processes refer to: `request` or `job`."""
        return int.from_bytes(sha256(self.job_id.bytes + span.encode()).digest()[:8], "big") or 1


class Traces(Protocol):
    """Records spans."""

    def request(self, trace: JobTrace, began: float, ended: float, attributes: Attributes) -> None:
        """A request that created a job, from and to these seconds since the epoch."""

    def job(
        self,
        trace: JobTrace,
        began: datetime,
        ended: datetime,
        failed: bool,
        attributes: Attributes,
    ) -> None:
        """A job that has ended."""

    def slice(self, trace: JobTrace, attributes: Attributes) -> AbstractContextManager[None]:
        """A slice while it is worked on."""

    def call(self, provider: str, seconds: float, throttled: bool) -> None:
        """A call to a provider that has ended now, within a slice."""

    async def close(self) -> None: ...


class NoTraces:
    """Records nothing."""

    def request(self, trace: JobTrace, began: float, ended: float, attributes: Attributes) -> None:
        return

    def job(
        self,
        trace: JobTrace,
        began: datetime,
        ended: datetime,
        failed: bool,
        attributes: Attributes,
    ) -> None:
        return

    def slice(self, trace: JobTrace, attributes: Attributes) -> AbstractContextManager[None]:
        return nullcontext()

    def call(self, provider: str, seconds: float, throttled: bool) -> None:
        return

    async def close(self) -> None:
        return
