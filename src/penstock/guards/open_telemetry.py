"""Traces for OpenTelemetry; needs the extra `otel`. Imported only if an address is configured."""

from __future__ import annotations

import asyncio
import time
from collections.abc import Iterator
from contextlib import AbstractContextManager, contextmanager
from contextvars import ContextVar
from datetime import datetime
from importlib import import_module

from opentelemetry.context import Context
from opentelemetry.sdk.resources import Resource
from opentelemetry.sdk.trace import SpanProcessor, TracerProvider
from opentelemetry.sdk.trace.export import BatchSpanProcessor, SpanExporter
from opentelemetry.sdk.trace.id_generator import RandomIdGenerator
from opentelemetry.trace import (
    INVALID_SPAN,
    NonRecordingSpan,
    SpanContext,
    SpanKind,
    Status,
    StatusCode,
    TraceFlags,
    set_span_in_context,
)

from penstock import __version__
from penstock.model.monitor.traces import Attributes, JobTrace

_NANO = 1_000_000_000
# The ids of the next span: trace, span.
_ids: ContextVar[tuple[int, int] | None] = ContextVar("ids", default=None)


class _JobIds(RandomIdGenerator):
    """Ids that follow from a job's id, where they are set."""

    def generate_trace_id(self) -> int:
        chosen = _ids.get()
        return super().generate_trace_id() if chosen is None else chosen[0]

    def generate_span_id(self) -> int:
        chosen = _ids.get()
        return super().generate_span_id() if chosen is None else chosen[1]


class _Provider(TracerProvider):
    def _handle_fork(self) -> None:
        """Nothing: our children run another program at once. The SDK would start threads in them
        before that, and a process with threads can enter no user namespace."""


class OpenTelemetryTraces:
    """Implements `model.monitor.traces.Traces`."""

    def __init__(self, processor: SpanProcessor) -> None:
        resource = Resource.create({"service.name": "penstock", "service.version": __version__})
        self._provider = _Provider(
            resource=resource, id_generator=_JobIds(), shutdown_on_exit=False
        )
        self._provider.add_span_processor(processor)
        self._tracer = self._provider.get_tracer("penstock", __version__)

    def request(self, trace: JobTrace, began: float, ended: float, attributes: Attributes) -> None:
        with _chosen_ids(trace, "request"):
            span = self._tracer.start_span(
                "request", context=_caller(trace),
                kind=SpanKind.SERVER, attributes=dict(attributes), start_time=int(began * _NANO),
            )  # fmt: skip
        span.end(int(ended * _NANO))

    def job(
        self,
        trace: JobTrace,
        began: datetime,
        ended: datetime,
        failed: bool,
        attributes: Attributes,
    ) -> None:
        with _chosen_ids(trace, "job"):
            span = self._tracer.start_span(
                "job", context=_parent(trace, "request"), attributes=dict(attributes),
                start_time=int(began.timestamp() * _NANO),
            )  # fmt: skip
        if failed:
            span.set_status(Status(StatusCode.ERROR))
        span.end(int(ended.timestamp() * _NANO))

    def slice(self, trace: JobTrace, attributes: Attributes) -> AbstractContextManager[None]:
        return self._slice(trace, attributes)

    @contextmanager
    def _slice(self, trace: JobTrace, attributes: Attributes) -> Iterator[None]:
        context = _parent(trace, "job")
        with self._tracer.start_as_current_span(
            "slice", context=context, kind=SpanKind.CONSUMER, attributes=dict(attributes)
        ):
            yield

    def call(self, provider: str, seconds: float, throttled: bool) -> None:
        now = time.time_ns()
        span = self._tracer.start_span(
            "provider call", kind=SpanKind.CLIENT, start_time=now - int(seconds * _NANO),
            attributes={"provider": provider, "throttled": throttled},
        )  # fmt: skip
        span.end(now)

    async def close(self) -> None:
        await asyncio.to_thread(self._provider.shutdown)


@contextmanager
def _chosen_ids(trace: JobTrace, span: str) -> Iterator[None]:
    token = _ids.set((trace.trace_id, trace.span_id(span)))
    try:
        yield
    finally:
        _ids.reset(token)


def _caller(trace: JobTrace) -> Context:
    """The caller's span as the parent; without one the request is the first span."""
    caller = trace.caller
    if caller is None:
        return set_span_in_context(INVALID_SPAN)
    return _remote(caller.trace_id, caller.span_id, caller.flags)


def _parent(trace: JobTrace, span: str) -> Context:
    """A span of another process as the parent."""
    flags = TraceFlags.SAMPLED if trace.caller is None else trace.caller.flags
    return _remote(trace.trace_id, trace.span_id(span), flags)


def _remote(trace_id: int, span_id: int, flags: int) -> Context:
    known = SpanContext(trace_id, span_id, is_remote=True, trace_flags=TraceFlags(flags))
    return set_span_in_context(NonRecordingSpan(known))


def traces_to(endpoint: str) -> OpenTelemetryTraces:
    """Traces that are sent to a collector by OTLP over HTTP."""
    sender = import_module("opentelemetry.exporter.otlp.proto.http.trace_exporter")
    exporter: SpanExporter = sender.OTLPSpanExporter(endpoint=endpoint)
    return OpenTelemetryTraces(BatchSpanProcessor(exporter))
