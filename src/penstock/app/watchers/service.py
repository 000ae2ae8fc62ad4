"""Scans watched places when they are due. The leader runs it; two leaders do no harm."""

from __future__ import annotations

from dataclasses import dataclass
from uuid import UUID

from penstock.app.watchers.scan import scan
from penstock.engine.runtime import Runtime
from penstock.engine.services.service_tasks import ServiceTasks
from penstock.engine.settle import TRANSIENT_DB_ERRORS
from penstock.store.watchers import files
from penstock.store.watchers import watchers as store


@dataclass(frozen=True, slots=True)
class WatchConfig:
    every_ms: int = 500
    # How long one run waits for scans, which continue afterwards.
    wait_seconds: float = 1.0
    forget_days: float = 90.0
    forget_at_once: int = 1000


class WatchService:
    """Starts scans of due watchers. They run concurrently, so that a slow place delays no other."""

    name = "watchers"

    def __init__(self, runtime: Runtime, config: WatchConfig | None = None) -> None:
        self._runtime = runtime
        self._config = config or WatchConfig()
        self.every_ms = self._config.every_ms
        self._running: ServiceTasks[UUID] = ServiceTasks()

    async def run_once(self) -> int:
        """Returns how many scans it started."""
        free = self._runtime.settings.watch_scans_at_once - len(self._running)
        started = 0
        if free > 0:
            async with self._runtime.db.transaction() as conn:
                due = await store.take_due(conn, free)
                await files.forget(conn, self._config.forget_days, self._config.forget_at_once)
            for watcher_id in due:
                if watcher_id not in self._running:
                    self._running.start(watcher_id, self._scan(watcher_id))
                    started += 1
        # When this process no longer leads, or stops, scans stop: claims of unread files expire.
        await self._running.wait(self._config.wait_seconds)
        return started

    async def _scan(self, watcher_id: UUID) -> None:
        try:
            await scan(self._runtime, watcher_id)
        except TRANSIENT_DB_ERRORS as error:
            self._runtime.log.warning(
                "scan will be retried", watcher=str(watcher_id), error=repr(error)
            )
        except Exception as error:
            self._runtime.log.error(
                "scan failed", watcher=str(watcher_id), error=repr(error), exc_info=True
            )
