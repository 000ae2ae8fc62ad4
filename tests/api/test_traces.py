"""Traces: request → job → slice → provider call, and nothing of them where they are off."""

from __future__ import annotations

import os
import subprocess
import sys
from dataclasses import replace
from importlib.util import find_spec
from typing import Any
from uuid import UUID

import httpx2
import pytest
from opentelemetry.sdk.trace import ReadableSpan
from opentelemetry.sdk.trace.export import SimpleSpanProcessor
from opentelemetry.sdk.trace.export.in_memory_span_exporter import InMemorySpanExporter
from tests.api.conftest import submit_noop
from tests.engine.receiving import past_all
from tests.fixtures import Bench

from penstock.engine.runtime import Runtime
from penstock.guards.call_limits import CallLimiter
from penstock.guards.open_telemetry import OpenTelemetryTraces
from penstock.model.errors import BadInput
from penstock.monitor.job_log import JobLog
from penstock.settings import Settings
from penstock.wiring import open_runtime


class _Calls:
    def __init__(self, traces: OpenTelemetryTraces) -> None:
        self._traces = traces

    def called(self, provider: str, seconds: float, *, throttled: bool) -> None:
        self._traces.call(provider, seconds, throttled)


@pytest.fixture
def exporter() -> InMemorySpanExporter:
    return InMemorySpanExporter()


@pytest.fixture
def runtime(runtime: Runtime, exporter: InMemorySpanExporter) -> Runtime:
    traces = OpenTelemetryTraces(SimpleSpanProcessor(exporter))
    return replace(runtime, traces=traces, calls=CallLimiter(record=_Calls(traces)))


def parent_of(span: ReadableSpan) -> int | None:
    return None if span.parent is None else span.parent.span_id


async def test_a_job_is_one_trace_from_the_request_to_the_call(
    client: httpx2.AsyncClient, bench: Bench, exporter: InMemorySpanExporter
) -> None:
    config: dict[str, Any] = {"items": 2, "provider": "shop", "domain": "a"}
    job = UUID(await submit_noop(client, config=config))
    await bench.work(job)
    await past_all(bench.runtime)
    await JobLog(bench.runtime).run_once()
    spans = exporter.get_finished_spans()
    assert {span.context.trace_id for span in spans} == {job.int}
    by_name: dict[str, list[ReadableSpan]] = {}
    for span in spans:
        by_name.setdefault(span.name, []).append(span)
    [request], [whole] = by_name["request"], by_name["job"]
    assert parent_of(request) is None
    assert parent_of(whole) == request.context.span_id
    assert {parent_of(span) for span in by_name["slice"]} == {whole.context.span_id}
    slices = {span.context.span_id for span in by_name["slice"]}
    assert len(by_name["provider call"]) == 2
    assert {parent_of(span) for span in by_name["provider call"]} <= slices
    assert (whole.attributes or {})["org"] == "acme"
    assert (request.attributes or {})["method"] == "POST"


def _trace(given: str) -> dict[str, str]:
    return {"traceparent": given}


async def test_the_trace_of_the_caller_is_continued(
    client: httpx2.AsyncClient, bench: Bench, exporter: InMemorySpanExporter
) -> None:
    """request → job → slice in the caller's trace; a header that is malformed is ignored, and a
    trace that the caller does not record is not recorded here either."""
    trace_id, span_id = 0x0AF7651916CD43DD8448EB211C80319C, 0xB7AD6B7169203331
    header = f"00-{trace_id:032x}-{span_id:016x}"
    order = {"pipeline": "noop", "config": {"items": 1}}
    jobs = {
        given: UUID(
            (await client.post("/api/jobs", json=order, headers=_trace(given))).json()["jobId"]
        )
        for given in (f"{header}-01", f"{header}-00", f"{header}-01-x", f"00-{0:032x}-{1:016x}-01")
    }
    await bench.work(*jobs.values())
    await past_all(bench.runtime)
    await JobLog(bench.runtime).run_once()
    spans = exporter.get_finished_spans()
    by_trace = {
        known: {one.name: one for one in spans if one.context.trace_id == known}
        for known in {one.context.trace_id for one in spans}
    }
    good, unsampled, *malformed = jobs.values()
    assert set(by_trace) == {trace_id, *(one.int for one in malformed)}
    found = by_trace[trace_id]
    assert set(found) == {"request", "job", "slice"}
    assert parent_of(found["request"]) == span_id
    assert parent_of(found["job"]) == found["request"].context.span_id
    assert parent_of(found["slice"]) == found["job"].context.span_id
    assert (found["job"].attributes or {})["job"] == str(good)
    assert str(unsampled) not in {(one.attributes or {}).get("job") for one in spans}
    assert parent_of(by_trace[malformed[0].int]["request"]) is None


def test_nothing_is_imported_where_traces_are_off() -> None:
    """A worker without the setting does not load the SDK, whether it is installed or not."""
    code = (
        "import sys, penstock.wiring, penstock.cli\n"
        "print([name for name in sys.modules if name.startswith('opentelemetry.sdk')])"
    )
    found = subprocess.run(
        [sys.executable, "-c", code], check=True, capture_output=True, text=True, timeout=60
    )
    assert found.stdout.strip() == "[]"


@pytest.mark.skipif(
    find_spec("opentelemetry.exporter") is not None, reason="the extra is installed"
)
async def test_without_the_extra_the_setting_is_refused(settings: Settings, owner_dsn: str) -> None:
    asked = settings.model_copy(update={"otel_endpoint": "http://127.0.0.1:9/v1/traces"})
    with pytest.raises(BadInput, match="extra `otel`"):
        async with open_runtime(asked, owner_dsn, name="test"):
            pass


def test_children_start_without_threads(exporter: InMemorySpanExporter) -> None:
    """What the SDK does after a fork must not keep a child from entering a user namespace."""
    traces = OpenTelemetryTraces(SimpleSpanProcessor(exporter))
    threads: list[int] = []
    for _ in range(20):
        reader, writer = os.pipe()
        if (child := os.fork()) == 0:
            os.write(writer, bytes([len(os.listdir("/proc/self/task"))]))
            os._exit(0)
        os.waitpid(child, 0)
        threads.append(os.read(reader, 1)[0])
        os.close(reader)
        os.close(writer)
    assert threads == [1] * 20
    assert traces is not None
