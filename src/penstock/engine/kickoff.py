"""Work on one job inside a request, for as long as the caller says: installs without workers."""

from __future__ import annotations

from uuid import UUID

from penstock.engine.parts import Parts
from penstock.engine.worker import Worker
from penstock.store.claims import Served


async def kickoff(parts: Parts, job_id: UUID, duration_ms: int) -> int:
    """Slices of this job worked within the time; 0 when nothing of it was due."""
    worker = Worker(parts, Served(job_id=job_id), sweeps=False, announces=False)
    async with worker:
        return await worker.run_for(duration_ms / 1000)
