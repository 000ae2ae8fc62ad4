"""Progress of running imports: how many are done per minute, and what the others wait for."""

from __future__ import annotations

import asyncio
import os
import time
from collections.abc import AsyncIterator, Awaitable, Callable, Sequence
from contextlib import asynccontextmanager, suppress
from dataclasses import dataclass, field
from typing import Any

import psutil

Query = Callable[[str], Awaitable[Sequence[Any]]]

# Items that are not done, by what they wait for. An item without a due time, or with one that has
# passed, waits for a worker. `its turn`: the process has enough calls to this server under way.
_WAITS = """
SELECT s.name AS stage, count(*) AS n,
    CASE
        WHEN i.status = 'PROCESSING' THEN 'their slice'
        WHEN i.due_at IS NULL OR i.due_at <= now() THEN 'a free worker'
        WHEN i.error->>'code' = 'CIRCUIT_OPEN' THEN 'the circuit'
        -- Only calls that wait for a shared limit name their provider.
        WHEN i.error->>'code' = 'API_RATE_LIMIT' AND i.error->>'message' LIKE '% may not be called%'
            THEN CASE WHEN i.error->'details' ? 'provider' THEN 'the limit' ELSE 'its turn' END
        ELSE 'a retry after ' || coalesce(i.error->>'code', 'no error')
    END AS waits_for,
    max(extract(epoch FROM i.due_at - now()))::float8 AS seconds
FROM job_items i JOIN job_stages s ON s.job_id = i.job_id AND s.position = i.stage
WHERE i.status IN ('PENDING', 'PROCESSING')
GROUP BY 1, 3 ORDER BY n DESC LIMIT 20
"""
_DONE = """
SELECT (SELECT count(*) FROM jobs WHERE state = 'done') AS jobs,
       (SELECT count(*) FROM job_items WHERE status = 'DONE') AS items,
       (SELECT count(*) FROM job_items WHERE status IN ('PENDING', 'PROCESSING')) AS open
"""


@dataclass
class CpuTimes:
    """Processor seconds of the workers, of PostgreSQL, and of this process with its sandbox."""

    workers: Sequence[int]
    # The server's main process.
    server: int
    _last: dict[str, float] = field(default_factory=dict)
    _ended: dict[str, dict[int, float]] = field(default_factory=dict)

    def spent(self) -> dict[str, float]:
        """Since the last call. Processes are counted until they were last seen."""
        told: dict[str, float] = {}
        for name, seconds in self._totals().items():
            told[name] = round(seconds - self._last.get(name, 0.0), 1)
            self._last[name] = seconds
        return told

    def _totals(self) -> dict[str, float]:
        self._note("sandbox and test", [psutil.Process()])
        for pid in self.workers:
            with suppress(psutil.Error):
                worker = psutil.Process(pid)
                self._note("workers", [worker])
                self._note("children of workers", worker.children(recursive=True))
        with suppress(psutil.Error):
            self._note("postgres", psutil.Process(self.server).children())
        return {name: sum(of.values()) for name, of in self._ended.items()}

    def _note(self, name: str, processes: Sequence[psutil.Process]) -> None:
        known = self._ended.setdefault(name, {})
        for one in processes:
            with suppress(psutil.Error):
                times = one.cpu_times()
                known[one.pid] = times.user + times.system


@dataclass
class Progress:
    """Prints a line per interval, and what open items wait for."""

    rows: Query
    cpu: CpuTimes
    every: float = 60.0
    _began: float = field(default_factory=time.monotonic)
    _items: int = 0
    _at: float = field(default_factory=time.monotonic)
    # When an item was last seen to be done.
    _moved_at: float = field(default_factory=time.monotonic)

    @property
    def idle_seconds(self) -> float:
        """Seconds without a done item, as of the last line."""
        return self._at - self._moved_at

    async def print_once(self) -> None:
        now = time.monotonic()
        done = (await self.rows(_DONE))[0]
        rate = (done["items"] - self._items) / max(now - self._at, 0.001)
        if done["items"] != self._items:
            self._moved_at = now
        self._items, self._at = done["items"], now
        load = os.getloadavg()[0]
        print(
            f"{now - self._began:5.0f} s: {done['jobs']} imports and {done['items']} items done"
            f" ({rate:.1f} items/s), {done['open']} open, load {load:.1f},"
            f" CPU seconds {self.cpu.spent()}",
            flush=True,
        )
        for row in await self.rows(_WAITS):
            late = "" if row["seconds"] is None else f", {row['seconds']:.1f} s at most"
            print(f"        {row['n']:5} of {row['stage']} wait for {row['waits_for']}{late}")

    async def run(self) -> None:
        while True:
            await asyncio.sleep(self.every)
            await self.print_once()


@asynccontextmanager
async def printed_progress(
    rows: Query, workers: Sequence[int], every: float = 60.0
) -> AsyncIterator[Progress]:
    session = (await rows("SELECT pg_backend_pid() AS pid"))[0]["pid"]
    progress = Progress(rows, CpuTimes(workers, psutil.Process(session).ppid()), every)
    task = asyncio.create_task(progress.run())
    try:
        yield progress
    finally:
        task.cancel()
        with suppress(asyncio.CancelledError):
            await task
        await progress.print_once()
