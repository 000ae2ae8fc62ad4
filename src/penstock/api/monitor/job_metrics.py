"""Metrics of jobs, checks and providers for Prometheus, from what is stored for all processes."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from penstock.api.monitor.prometheus import Exposition, Sample
from penstock.api.monitor.stored_health import InstallationHealth
from penstock.model.monitor.durations import LAST_CLASS, class_end_ms
from penstock.model.monitor.health import HealthStatus
from penstock.store.monitor.monitor import EndedJobs, WaitingJobs


def add_health(page: Exposition, health: InstallationHealth, alerts: Mapping[str, int]) -> None:
    page.add(
        "penstock_health_status",
        [({"status": one.value}, int(one is health.status)) for one in HealthStatus],
    )
    page.add(
        "penstock_check_ok",
        [
            ({"check": one["name"], "scope": one["scope"] or ""}, int(one["ok"]))
            for one in health.checks
        ],
    )
    page.add(
        "penstock_alerts_open",
        [({"severity": name}, alerts.get(name, 0)) for name in ("warning", "critical")],
    )
    page.add("penstock_leases_taken_back_recent", [({}, health.figures.get("stalled10m", 0))])
    _add_providers(page, health.figures.get("providers", {}))


def _add_providers(page: Exposition, providers: Mapping[str, Mapping[str, Any]]) -> None:
    page.add(
        "penstock_provider_calls_recent",
        [
            ({"provider": name, "outcome": outcome}, one[key])
            for name, one in providers.items()
            for outcome, key in (("all", "calls"), ("failed", "failed"), ("throttled", "throttled"))
        ],
    )
    page.add(
        "penstock_provider_p95_seconds",
        [
            ({"provider": name}, one["p95Ms"] / 1000)
            for name, one in providers.items()
            if one.get("p95Ms") is not None
        ],
    )


def add_waiting(page: Exposition, waiting: list[WaitingJobs]) -> None:
    page.add(
        "penstock_jobs_waiting",
        [({"lane": one.lane, "pipeline": one.pipeline}, one.waiting) for one in waiting],
    )
    pending: dict[str, int] = {}
    for one in waiting:
        pending[one.pipeline] = pending.get(one.pipeline, 0) + one.items
    page.add("penstock_items_pending", [({"pipeline": name}, n) for name, n in pending.items()])


def add_ended(page: Exposition, ended: list[EndedJobs]) -> None:
    """Counted since the installation began; the sums outlive the jobs."""
    page.add(
        "penstock_jobs_ended_total",
        [
            ({"pipeline": one.pipeline, "status": status}, count)
            for one in ended
            for status, count in (
                ("succeeded", one.succeeded), ("failed", one.failed), ("cancelled", one.cancelled),
            )
        ],
    )  # fmt: skip
    page.add("penstock_job_rows_total", [({"pipeline": one.pipeline}, one.rows) for one in ended])
    page.add_histogram("penstock_job_duration_seconds", _buckets(ended))


def _buckets(ended: list[EndedJobs]) -> Iterator[tuple[str, Sample]]:
    """Every fourth class is a bucket: its end grows by a factor of four."""
    for one in ended:
        labels, total = {"pipeline": one.pipeline}, 0
        for number in range(LAST_CLASS):
            total += one.durations.get(number, 0)
            if number % 4 == 0:
                yield "_bucket", ({**labels, "le": f"{class_end_ms(number) / 1000:g}"}, total)
        total += one.durations.get(LAST_CLASS, 0)
        yield "_bucket", ({**labels, "le": "+Inf"}, total)
        yield "_sum", (labels, one.total_ms / 1000)
        yield "_count", (labels, total)
