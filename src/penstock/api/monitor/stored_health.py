"""The health of the installation: what the monitor stored, with the queue as it is now."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Any

from penstock.engine.queue_depth import Queue
from penstock.engine.runtime import Runtime
from penstock.model.monitor.checks import (
    HealthCheck,
    Measured,
    checks_of,
    status_of_checks,
)
from penstock.model.monitor.health import HealthStatus
from penstock.monitor.measure import check_shape, figures_shape, measure
from penstock.store.database import Connection
from penstock.store.monitor import monitor

# A check that is older was stored by a monitor that no longer runs.
_STALE_INTERVALS = 3


@dataclass(frozen=True, slots=True)
class InstallationHealth:
    status: HealthStatus
    checks: list[dict[str, Any]]
    figures: dict[str, Any]
    checked_at: datetime
    since: datetime | None

    @property
    def problems(self) -> list[dict[str, Any]]:
        return [check for check in self.checks if not check["ok"]]


async def installation_health(
    runtime: Runtime, conn: Connection, queue: Queue | None = None
) -> InstallationHealth:
    """What the monitor stored last; without a monitor, what is measured now. With ``queue``, the
    checks of the queue and the workers are those of this moment."""
    settings = runtime.settings
    stored = await monitor.newest_check(conn)
    if stored is None or stored.age_ms > settings.monitor_every_ms * _STALE_INTERVALS:
        measured = await measure(conn, runtime.queue.levels, settings.monitor_thresholds)
        checks = [check_shape(one) for one in checks_of(measured, settings.monitor_thresholds)]
        figures, at, since = figures_shape(measured), datetime.now(UTC), None
    else:
        checks, figures, at, since = stored.checks, stored.figures, stored.at, stored.since
    if queue is not None:
        checks = _with_current_queue(checks, runtime, queue)
    failed = sum(not check["ok"] for check in checks)
    status = status_of_checks([HealthCheck("depth", 1.0, 0.0)] * failed)
    return InstallationHealth(status, checks, figures, at, since)


def _with_current_queue(
    checks: list[dict[str, Any]], runtime: Runtime, queue: Queue
) -> list[dict[str, Any]]:
    measured = Measured(
        depth=queue.depth, waiting=queue.waiting, oldest_ms=queue.oldest_ms,
        dead_letters=queue.dead_letters, workers=queue.workers,
    )  # fmt: skip
    current = {
        one.name: check_shape(one)
        for one in checks_of(measured, runtime.settings.monitor_thresholds)
        if one.name in ("depth", "oldest_ms", "dead_letters", "workers")
    }
    by_shown_name = {shape["name"]: shape for shape in current.values()}
    return [by_shown_name.get(check["name"], check) for check in checks]
