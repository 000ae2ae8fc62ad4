"""Events for operators about errors of workers."""

from __future__ import annotations

from contextlib import suppress
from uuid import UUID

from penstock.engine.runtime import Runtime
from penstock.engine.settle import TRANSIENT_DB_ERRORS
from penstock.store.workers import workers

SLICE_FAILED = "SLICE_FAILED"
CHILD_CRASHED = "CHILD_CRASHED"


async def report_worker_error(
    runtime: Runtime, worker: str, reason: str, error: str, job_id: UUID, stage: str
) -> None:
    """Write a `worker.error`; the log has the details if the database does not take it."""
    data = {"reason": reason, "error": error, "jobId": str(job_id), "stage": stage}
    with suppress(*TRANSIENT_DB_ERRORS):
        async with runtime.db.transaction() as conn:
            await workers.add_system_event(conn, "worker.error", worker, data)
