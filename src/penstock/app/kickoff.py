"""Work on one job inside a request, for a limited time: for installations without workers."""

from __future__ import annotations

import asyncio
from uuid import UUID

from penstock.engine.runtime import Runtime
from penstock.engine.worker.loop import Worker
from penstock.model.errors import Unavailable
from penstock.store.jobs.claims import Served

# Each takes a thread and a connection, so a page that repeats the request must not take all.
MOST_AT_ONCE = 4
_room = asyncio.Semaphore(MOST_AT_ONCE)


async def kickoff(runtime: Runtime, job_id: UUID, duration_ms: int) -> int:
    """Return how many slices of this job were worked on; 0 if nothing of it was due."""
    if _room.locked():
        raise Unavailable(
            "SERVICE_UNAVAILABLE", f"{MOST_AT_ONCE} kickoffs run already. Try again soon."
        )
    async with (
        _room,
        Worker(runtime, Served(job_id=job_id), sweeps=False, announces=False) as worker,
    ):
        return await worker.run_for(duration_ms / 1000)
