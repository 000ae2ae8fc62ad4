"""The monitor: measures the installation, stores the result and tells of changes."""

from __future__ import annotations

import time
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from penstock.engine.chunks import delete_in_chunks
from penstock.engine.runtime import Runtime
from penstock.model.monitor.checks import (
    HealthCheck,
    Measured,
    Thresholds,
    checks_of,
    status_of_checks,
)
from penstock.model.monitor.health import HealthStatus
from penstock.model.monitor.lasting import LastingFailures
from penstock.monitor import alerts
from penstock.monitor.alerts import Links
from penstock.monitor.measure import check_shape, figures_shape, measure
from penstock.monitor.outbox import links_of
from penstock.settings import Settings
from penstock.store.database import Connection
from penstock.store.monitor import alerts as alerts_store
from penstock.store.monitor import monitor, notifications
from penstock.store.monitor.monitor import MonitorState, NewCheck
from penstock.store.workers import workers

_EVENT_OF = {HealthStatus.DEGRADED: "health.warning", HealthStatus.UNHEALTHY: "health.critical"}
# Two leaders do not both check within this share of the interval.
_RECENT = 0.4


@dataclass(frozen=True, slots=True)
class MonitorConfig:
    every_ms: int
    limits: Thresholds
    links: Links
    # How long a check of a moment must fail before it counts: workers start beside the leader.
    grace_ms: int = 0

    @classmethod
    def of(cls, settings: Settings) -> MonitorConfig:
        every_ms = settings.monitor_every_ms
        return cls(every_ms, settings.monitor_thresholds, links_of(settings), grace_ms=2 * every_ms)


class Monitor:
    """Decides in one transaction, under the lock of the monitor's row, so that two leaders neither
    store one check twice nor report one change twice."""

    name = "monitor"

    def __init__(
        self,
        runtime: Runtime,
        config: MonitorConfig | None = None,
        clock: Callable[[], float] = time.monotonic,
    ) -> None:
        self._runtime = runtime
        self._config = config or MonitorConfig.of(runtime.settings)
        self.every_ms = self._config.every_ms
        self._lasting = LastingFailures(self._config.grace_ms)
        self._clock = clock

    async def run_once(self) -> HealthStatus | None:
        """Answers the status; None if another leader has just checked."""
        async with self._runtime.db.transaction() as conn:
            state = await monitor.lock_state(conn, self.every_ms * _RECENT)
            if state.recent:
                return None
            await monitor.roll_up(conn, state.rolled_up_to)
            measured = await measure(conn, self._runtime.queue.levels, self._config.limits)
            checks = self._lasting.judge(checks_of(measured, self._config.limits), self._clock())
            status = status_of_checks(checks)
            await self._store(conn, measured, checks, status)
            change = await self._add_status_events(conn, state, checks, status)
            brief = {one.key for one in checks if one.brief}
            wanted = alerts.alerts_of(checks, status, measured.level)
            changes = await alerts.apply(conn, wanted, self._config.links, brief)
            for alert in changes.opened:
                if alert.event == "alert.dlq":
                    await workers.add_system_event(
                        conn, alert.event, None, alerts.event_data(alert)
                    )
            self._runtime.failpoints.reach("monitor_before_commit")
        self._runtime.failpoints.reach("monitor_after_commit")
        for alert in changes.opened:
            self._runtime.log.warning("alert opened", alert=alert.key, message=alert.message)
        for resolved in changes.resolved:
            self._runtime.log.info("alert resolved", alert=resolved.key)
        if change:
            self._runtime.log.warning("the installation's health changed", **change)
        return status

    async def _store(
        self, conn: Connection, measured: Measured, checks: list[HealthCheck], status: HealthStatus
    ) -> None:
        new = NewCheck(
            status, measured.depth, measured.waiting, measured.active, measured.oldest_ms,
            measured.workers, [check_shape(one) for one in checks], figures_shape(measured),
        )  # fmt: skip
        await monitor.add_check(conn, new)
        await monitor.save_state(conn, status)

    async def _add_status_events(
        self,
        conn: Connection,
        state: MonitorState,
        checks: list[HealthCheck],
        status: HealthStatus,
    ) -> dict[str, Any] | None:
        if status is state.status:
            return None
        change = {
            "status": status,
            "before": state.status,
            "problems": [check_shape(one) for one in checks if not one.ok],
        }
        await workers.add_system_event(conn, "health.status_change", None, change)
        if status in _EVENT_OF:
            await workers.add_system_event(conn, _EVENT_OF[status], None, change)
        return change


@dataclass(frozen=True, slots=True)
class MetricRetentionConfig:
    days: float
    every_ms: int = 3_600_000
    chunk: int = 5000
    # How long messages stay in the log.
    log_days: float = 30


class MetricRetention:
    """Deletes metrics of jobs, sums and checks after their time."""

    name = "metric retention"

    def __init__(self, runtime: Runtime, config: MetricRetentionConfig | None = None) -> None:
        self._runtime = runtime
        self._config = config or MetricRetentionConfig(runtime.settings.monitor_days)
        self.every_ms = self._config.every_ms

    async def run_once(self) -> int:
        """Answers the number of deleted metrics. Each chunk is its own transaction."""
        dropped = await delete_in_chunks(
            self._runtime, self._config.chunk,
            lambda conn, chunk: monitor.drop_old(conn, self._config.days, chunk),
        )  # fmt: skip
        async with self._runtime.db.transaction() as conn:
            await monitor.drop_old_sums(conn)
            await notifications.drop_old(conn, self._config.log_days)
            await alerts_store.drop_old(conn, self._config.days)
        return dropped
