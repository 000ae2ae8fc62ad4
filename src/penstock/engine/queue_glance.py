"""A look at the queue, at most once a second: counting it for every job would cost more than the
job."""

from __future__ import annotations

import time
from dataclasses import dataclass

from penstock.store import jobs
from penstock.store.database import Connection

_FRESH_SECONDS = 1.0


@dataclass(slots=True)
class QueueGlance:
    """Jobs waiting and how long they may take, as of a moment ago; ours since then are added."""

    _fresh_until: float = 0.0
    _waiting: int = 0
    _job_ms: float = 0.0

    async def place(self, conn: Connection) -> tuple[int, int]:
        """Position of the job just written, and milliseconds until its turn."""
        if time.monotonic() < self._fresh_until:
            self._waiting += 1
        else:
            state = await jobs.queue_state(conn)
            self._fresh_until = time.monotonic() + _FRESH_SECONDS
            self._waiting = max(int(state["waiting"]), 1)
            self._job_ms = float(state["avg_job_ms"] or 0) / max(int(state["slots"]), 1)
        return self._waiting, round((self._waiting - 1) * self._job_ms)
