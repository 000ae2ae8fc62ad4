"""Records changes of the queue's load level, and alerts operators."""

from __future__ import annotations

from dataclasses import dataclass

from penstock.engine.queue_depth import Queue, count_queue
from penstock.engine.runtime import Runtime
from penstock.model.backpressure import Level
from penstock.settings import Settings
from penstock.store.workers import queue_level, workers


@dataclass(frozen=True, slots=True)
class WatchConfig:
    every_ms: int
    alert_again_ms: int

    @classmethod
    def of(cls, settings: Settings) -> WatchConfig:
        return cls(settings.depth_check_ms, settings.depth_alert_ms)


class QueueWatch:
    """Workers hold back ingests by the recorded level, and submit checks the queue itself: both
    resume once enough work is done."""

    name = "queue watch"

    def __init__(self, runtime: Runtime, config: WatchConfig | None = None) -> None:
        self._runtime = runtime
        self._config = config or WatchConfig.of(runtime.settings)
        self.every_ms = self._config.every_ms

    async def run_once(self) -> Level:
        async with self._runtime.db.transaction() as conn:
            # Lock first, so that two leaders do not both report one change.
            before = await queue_level.lock(conn)
            queue = await count_queue(conn, self._runtime.queue.levels)
            changed = before.level != queue.level
            alerts = queue.level is Level.OVERLOAD and (
                changed or before.alerted_ms_ago >= self._config.alert_again_ms
            )
            queue.since = await queue_level.record(
                conn, queue.level, queue.depth, changed=changed, alerted=alerts
            )
            data = _event_data(queue)
            if changed:
                data["before"] = before.level
                await workers.add_system_event(conn, "queue.backpressure", None, data)
            if alerts:
                await workers.add_system_event(conn, "alert.backpressure", None, data)
        if changed:
            self._runtime.log.warning("the queue's level changed", **data)
        return queue.level


def _event_data(queue: Queue) -> dict[str, object]:
    return {
        "level": queue.level,
        "since": queue.since,
        "depth": queue.depth,
        "waiting": queue.waiting,
        "active": queue.active,
        "delayed": queue.delayed,
        "oldestWaitingMs": queue.oldest_ms,
        "workers": queue.workers,
        "slots": queue.slots,
    }
