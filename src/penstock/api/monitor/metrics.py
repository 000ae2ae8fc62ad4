"""Metrics of the installation and of each worker, for Prometheus and for people; admins only."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from fastapi import APIRouter, Request, Response

from penstock.api.http.access import Admin, ApiParts
from penstock.api.http.answers import answer
from penstock.api.http.work import Turns
from penstock.api.monitor.health import queue_now
from penstock.api.monitor.job_metrics import add_ended, add_health, add_waiting
from penstock.api.monitor.metric_table import METRICS
from penstock.api.monitor.prometheus import MEDIA_TYPE, Exposition, Sample, histogram_samples
from penstock.api.monitor.schemas import WorkerPage
from penstock.api.monitor.stored_health import installation_health
from penstock.engine.queue_depth import Queue
from penstock.guards.cpu_budget import CpuBudget
from penstock.model.backpressure import Level
from penstock.model.monitor.histogram import HistogramSet
from penstock.model.monitor.last_hour import MINUTES
from penstock.store.monitor import alerts, monitor
from penstock.store.workers import activity

router = APIRouter(prefix="/metrics", tags=["operations"])
Worker = Mapping[str, Any]
# If more jobs end in an hour, the figures are of the latest ones.
MOST_JOBS = 5000

# Name, and where it is among a worker's figures.
_GAUGES = (
    ("busy_slots", ("busy",)),
    ("cpu_share", ("cpuShare",)),
    ("resident_memory_bytes", ("rssBytes",)),
    ("memory_budget_bytes", ("memoryBytes",)),
    ("claim_factor", ("claimFactor",)),
    ("items_per_second", ("itemsPerSecond",)),
    ("claims_per_second", ("claimsPerSecond",)),
    ("rows_per_second", ("rowsPerSecond",)),
    ("ingest_batch_rows", ("ingest", "batchRows")),
    ("db_latency_seconds", ("ingest", "dbLatencyMs")),
    ("pool_wait_seconds", ("ingest", "poolWaitMs")),
)
_COUNTERS = (
    ("items_settled_total", "items"),
    ("items_retried_total", "retried"),
    ("claims_total", "claims"),
    ("ingested_rows_total", "rows"),
    ("leases_lost_total", "leasesLost"),
)
_ENDINGS = {"done": "done", "error": "error", "notFound": "not_found", "skipped": "skipped"}
_STAGES = (
    ("stage_item_seconds", "itemMs"),
    ("stage_claim_items", "claim"),
    ("stage_lease_seconds", "leaseMs"),
    ("stage_error_share", "errorShare"),
    ("stage_retry_spacing", "spacing"),
)
_TIMES = ("claim", "slice", "settle", "ingest_batch", "provider_call")
_CALLS = (
    ("calls_limit", "limit"),
    ("calls_delay_seconds", "delayMs"),
)


@router.get(
    "",
    summary="Metrics for Prometheus",
    response_class=Response,
    responses={200: {"content": {"text/plain": {"schema": {"type": "string"}}}}},
)
async def metrics(request: Request, api: ApiParts, who: Admin) -> Response:
    """The queue, and the current values of each worker, reported every two seconds."""
    queue: Queue | None = await request.app.state.pulse.queue()
    async with api.db.scoped(who.scope, readonly=True) as conn:
        found = await activity.workers(conn)
        slices = await activity.slices(conn)
        health = await installation_health(api.runtime, conn, queue)
        open_alerts = await alerts.open_alerts(conn)
        waiting = await monitor.waiting_jobs(conn)
        ended = await monitor.ended_jobs(conn)
        taken_back = await monitor.leases_taken_back(conn)
    page = Exposition()
    add_health(page, health, Counter(one.severity for one in open_alerts.values()))
    add_waiting(page, waiting)
    add_ended(page, ended)
    page.add("penstock_leases_taken_back_total", [({}, taken_back)])
    _add_requests(page, request.app.state.request_times)
    _add_turns(page, api.turns)
    _add_cpu_budget(page, request.app.state.cpu_budget)
    if queue is not None:
        _add_queue(page, queue)
    page.add(
        "penstock_slices",
        [({"kind": kind}, count) for kind, count in slices.items()],
    )  # fmt: skip
    _add_workers(page, found)
    return Response(page.text(), media_type=MEDIA_TYPE)


@router.get("/worker", summary="Workers and their figures", responses={200: {"model": WorkerPage}})
async def worker_metrics(request: Request, api: ApiParts, who: Admin) -> Response:
    """The workers, the queue and the last hour in a few figures, and those of each worker."""
    queue = await queue_now(request)
    async with api.db.scoped(who.scope, readonly=True) as conn:
        found = await activity.workers(conn)
        jobs = (await monitor.job_figures(conn, ())).all
    active = sum(bool(one["figures"].get("busy")) for one in found)
    rate, ended = jobs.success_rate, jobs.succeeded + jobs.failed
    shown = {
        "workers": {"active": active, "idle": len(found) - active, "total": len(found)},
        "queue": {
            "waiting": queue.waiting,
            "active": queue.active,
            "completed": jobs.succeeded,
            "failed": jobs.failed,
        },
        "performance": {
            "avgProcessingTime": None if jobs.duration_ms is None else jobs.duration_ms / 1000,
            "successRate": None if rate is None else rate * 100,
            "throughput": ended / MINUTES,
        },
        "window": "1h",
        "instances": found,
    }
    return answer(shown)


def _add_turns(page: Exposition, turns: Turns) -> None:
    """Of the process that answers this request."""
    running, refused = turns.gate.running(), turns.gate.refused()
    page.add(
        "penstock_api_work_running",
        [({"work": name}, count) for name, count in sorted(running.items())],
    )  # fmt: skip
    page.add(
        "penstock_api_work_refused_total",
        [({"work": name}, count) for name, count in sorted(refused.items())],
    )  # fmt: skip


def _add_cpu_budget(page: Exposition, budget: CpuBudget) -> None:
    """Of the process that answers."""
    page.add(
        "penstock_api_cpu_waiting",
        [({}, budget.waiting)],
    )  # fmt: skip
    page.add(
        "penstock_api_cpu_refused_total",
        [({}, budget.refused)],
    )  # fmt: skip


def _add_queue(page: Exposition, queue: Queue) -> None:
    page.add("penstock_queue_depth", [({}, queue.depth)])
    states = {"waiting": queue.waiting, "active": queue.active, "delayed": queue.delayed}
    page.add(
        "penstock_jobs",
        [({"state": state}, count) for state, count in states.items()],
    )  # fmt: skip
    page.add(
        "penstock_queue_level",
        [({"level": level.value}, int(level is queue.level)) for level in Level],
    )  # fmt: skip
    for name, value in (
        ("queue_oldest_waiting_seconds", queue.oldest_ms / 1000),
        ("workers", queue.workers),
        ("slots", queue.slots),
        ("dead_letters_open", queue.dead_letters),
    ):
        page.add(f"penstock_{name}", [({}, value)])


def _add_workers(page: Exposition, workers: Sequence[Worker]) -> None:
    page.add(
        "penstock_worker_slots",
        [({"worker": one["id"]}, one["slots"]) for one in workers],
    )  # fmt: skip
    page.add(
        "penstock_worker_silent_seconds",
        [({"worker": one["id"]}, one["silentMs"] / 1000) for one in workers],
    )  # fmt: skip
    for name, path in _GAUGES:
        page.add(f"penstock_worker_{name}", _in_unit(name, _each(workers, path)))
    for name, key in _COUNTERS:
        page.add(f"penstock_worker_{name}", _each(workers, ("totals", key)))
    page.add(
        "penstock_worker_items_ended_total",
        [
            ({**labels, "status": status}, value)
            for key, status in _ENDINGS.items()
            for labels, value in _each(workers, ("totals", key))
        ],
    )  # fmt: skip
    for name, key in _STAGES:
        samples = _within(workers, "stages", ("pipeline", "stage"), key)
        page.add(f"penstock_worker_{name}", _in_unit(name, samples))
    for name in _TIMES:
        page.add_histogram(f"penstock_worker_{name}_duration_seconds", _times(workers, name))
    page.add(
        "penstock_worker_provider_throttles_total",
        [
            ({"worker": one["id"], "provider": provider}, count)
            for one in workers
            for provider, count in sorted(one["figures"].get("throttles", {}).items())
        ],
    )
    for name, key in _CALLS:
        samples = _within(workers, "calls", ("provider", "domain"), key)
        page.add(f"penstock_worker_{name}", _in_unit(name, samples))


def _times(workers: Sequence[Worker], name: str) -> Iterator[tuple[str, Sample]]:
    """The histograms of each worker that reports them."""
    labels = METRICS[f"penstock_worker_{name}_duration_seconds"].labels
    for worker in workers:
        for one in worker["figures"].get("histograms", ()):
            if one["name"] == name:
                values = (worker["id"], *one["labels"])
                yield from histogram_samples(dict(zip(labels, values, strict=True)), one)


def _add_requests(page: Exposition, times: HistogramSet) -> None:
    """Of the process that answers."""
    samples: list[tuple[str, Sample]] = []
    for one in times.snapshot():
        labels = dict(zip(("method", "route", "status"), one["labels"], strict=True))
        samples += histogram_samples(labels, one)
    page.add_histogram("penstock_api_request_duration_seconds", samples)


def _in_unit(name: str, samples: Iterator[Sample]) -> Iterator[Sample]:
    """Figures are milliseconds, Prometheus counts in seconds."""
    if not name.endswith("_seconds"):
        return samples
    return ((labels, round(value / 1000, 6)) for labels, value in samples)


def _each(workers: Sequence[Worker], path: tuple[str, ...]) -> Iterator[Sample]:
    """A figure of each worker that reports it: workers of another version may not."""
    for worker in workers:
        value = worker["figures"]
        for step in path:
            value = value.get(step) if isinstance(value, Mapping) else None
        if isinstance(value, int | float):
            yield {"worker": worker["id"]}, value


def _within(
    workers: Sequence[Worker], group: str, names: tuple[str, ...], key: str
) -> Iterator[Sample]:
    """A figure of each stage, or domain, of each worker."""
    for worker in workers:
        for one in worker["figures"].get(group, ()):
            if isinstance(one.get(key), int | float):
                labels = {name: str(one.get(name, "")) for name in names}
                yield {"worker": worker["id"], **labels}, one[key]
