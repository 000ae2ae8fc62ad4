"""The depth of the queue, counted at most once a second: counting for every submit would cost more
than the submit."""

from __future__ import annotations

import asyncio
import time
from collections.abc import Iterable
from dataclasses import dataclass, field
from datetime import datetime

from penstock.model.backpressure import Level, Levels, level_of
from penstock.model.fairness import WaitingJobs
from penstock.store.database import Connection
from penstock.store.jobs import jobs
from penstock.store.jobs.job_rows import WaitingLine

_CACHE_SECONDS = 1.0


@dataclass(slots=True)
class Queue:
    """Waiting jobs, running jobs and available slots, without standing jobs."""

    depth: int
    waiting: int
    active: int
    delayed: int
    oldest_ms: int
    workers: int
    slots: int
    # Average time between finished jobs, over all slots; 0 is unknown.
    job_ms: float
    # When the queue watch first saw this level; None before its first check.
    since: datetime | None
    level: Level
    dead_letters: int
    # Waiting jobs by org.
    lines: dict[int, WaitingJobs] = field(default_factory=dict)


@dataclass(slots=True)
class QueueDepthCache:
    """The cached depth, plus the jobs that this process added since it was counted."""

    levels: Levels = field(default_factory=Levels)
    _fresh_until: float = 0.0
    _queue: Queue | None = None
    _first: asyncio.Lock = field(default_factory=asyncio.Lock)

    async def look(self, conn: Connection) -> Queue:
        if self._queue is None:
            async with self._first:
                return self._queue or await self._count(conn)
        if time.monotonic() >= self._fresh_until:
            return await self._count(conn)
        return self._queue

    async def _count(self, conn: Connection) -> Queue:
        # Concurrent callers use the last count instead of counting too.
        self._fresh_until = time.monotonic() + _CACHE_SECONDS
        try:
            self._queue = await count_queue(conn, self.levels)
        except BaseException:
            self._fresh_until = 0.0
            raise
        return self._queue

    def joined(self, org_id: int, weight: int, priority: int, *, delayed: bool) -> None:
        """Count a job that this process adds."""
        queue = self._queue
        if queue is not None:
            if not delayed:
                queue.lines.setdefault(org_id, WaitingJobs(weight)).add(priority)
            queue.depth += 1
            queue.delayed += delayed
            queue.waiting += not delayed
            queue.level = level_of(queue.depth, self.levels)


async def count_queue(conn: Connection, levels: Levels) -> Queue:
    row = await jobs.queue_state(conn, levels.countable)
    level = level_of(row.depth, levels)
    return Queue(
        depth=row.depth,
        waiting=row.waiting,
        active=row.active,
        delayed=row.delayed,
        oldest_ms=round(row.oldest_ms or 0),
        workers=row.workers,
        slots=row.slots,
        job_ms=float(row.avg_job_ms or 0) / max(row.slots, 1),
        since=row.since if row.level == level else None,
        level=level,
        dead_letters=row.dead_letters,
        lines=_lines(row.lines),
    )


def _lines(found: Iterable[WaitingLine]) -> dict[int, WaitingJobs]:
    lines: dict[int, WaitingJobs] = {}
    for one in found:
        lines.setdefault(one.org_id, WaitingJobs(one.weight)).add(one.priority, one.jobs)
    return lines
