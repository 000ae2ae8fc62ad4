"""Tasks of a service that continue between its runs, such as downloads."""

from __future__ import annotations

import asyncio
from collections.abc import Coroutine, Hashable
from typing import Any, Generic, TypeVar

Key = TypeVar("Key", bound=Hashable)


class ServiceTasks(Generic[Key]):
    """Running tasks by key. They are cancelled when the task that runs the service ends, so that
    none continues when another process leads."""

    def __init__(self) -> None:
        self._running: dict[Key, asyncio.Task[None]] = {}
        # The task that runs the service, which has one callback, however many tasks it starts.
        self._service: asyncio.Task[Any] | None = None

    def __len__(self) -> int:
        return len(self._running)

    def __contains__(self, key: Key) -> bool:
        return key in self._running

    def start(self, key: Key, work: Coroutine[Any, Any, None]) -> None:
        task = asyncio.create_task(work)
        self._running[key] = task
        task.add_done_callback(lambda _: self._running.pop(key, None))
        service = asyncio.current_task()
        if service is not None and service is not self._service:
            self._service = service
            service.add_done_callback(lambda _: self._cancel())

    async def wait(self, seconds: float) -> None:
        """Wait for all of them, at most so long; if this is cancelled, until they have stopped."""
        if not self._running:
            return
        try:
            await asyncio.wait(self._running.values(), timeout=seconds)
        except asyncio.CancelledError:
            await asyncio.gather(*self._cancel(), return_exceptions=True)
            raise

    def _cancel(self) -> list[asyncio.Task[None]]:
        running = list(self._running.values())
        for task in running:
            task.cancel()
        return running
