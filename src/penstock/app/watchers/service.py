"""Scans watched places when they are due. The leader runs it; two leaders do no harm."""

from __future__ import annotations

import asyncio
from dataclasses import dataclass
from uuid import UUID

from penstock.app.watchers.scan import scan
from penstock.engine.runtime import Runtime
from penstock.engine.settle import TRANSIENT_DB_ERRORS
from penstock.store.watchers import files
from penstock.store.watchers import watchers as store


@dataclass(frozen=True, slots=True)
class WatchConfig:
    every_ms: int = 500
    # How long one run waits for scans, which go on afterwards.
    wait_seconds: float = 1.0
    forget_days: float = 90.0
    forget_at_once: int = 1000


class WatchService:
    """Starts scans of due watchers. A slow place delays no other: scans go on beside each other."""

    name = "watchers"

    def __init__(self, runtime: Runtime, config: WatchConfig | None = None) -> None:
        self._runtime = runtime
        self._config = config or WatchConfig()
        self.every_ms = self._config.every_ms
        self._running: dict[UUID, asyncio.Task[None]] = {}

    async def run_once(self) -> int:
        """Returns how many scans it started."""
        self._running = {key: task for key, task in self._running.items() if not task.done()}
        free = self._runtime.settings.watch_scans_at_once - len(self._running)
        started = 0
        if free > 0:
            async with self._runtime.db.transaction() as conn:
                due = await store.take_due(conn, free)
                await files.forget(conn, self._config.forget_days, self._config.forget_at_once)
            for watcher_id in due:
                if watcher_id not in self._running:
                    self._running[watcher_id] = asyncio.create_task(self._scan(watcher_id))
                    started += 1
        if self._running:
            await self._wait()
        return started

    async def _wait(self) -> None:
        running = list(self._running.values())
        try:
            await asyncio.wait(running, timeout=self._config.wait_seconds)
        except asyncio.CancelledError:
            # This process leads no more, or stops: claims of unread files expire.
            for task in running:
                task.cancel()
            await asyncio.gather(*running, return_exceptions=True)
            raise

    async def _scan(self, watcher_id: UUID) -> None:
        try:
            await scan(self._runtime, watcher_id)
        except TRANSIENT_DB_ERRORS as error:
            self._runtime.log.warning(
                "scan will be tried again", watcher=str(watcher_id), error=repr(error)
            )
        except Exception as error:
            self._runtime.log.error(
                "scan failed", watcher=str(watcher_id), error=repr(error), exc_info=True
            )
