"""End a job early: cancel it, or fail it for good."""

from __future__ import annotations

import traceback
from dataclasses import dataclass
from typing import Any
from uuid import UUID

from penstock.engine.runtime import Runtime
from penstock.engine.settle import TRANSIENT_DB_ERRORS
from penstock.model.errors import ItemError, PenstockError, PermanentError, TransientError
from penstock.model.policy import JOB, RetryPolicy
from penstock.model.text.redaction import redacted
from penstock.model.ticket import Ticket
from penstock.store.database import Connection
from penstock.store.jobs import claims, dead_letters, jobs, slices
from penstock.store.jobs.claims import ClaimedJob
from penstock.store.workers import workers

# Open items that are skipped in the transaction that ends the job. A worker skips the rest.
MAX_SKIPPED_AT_ONCE = 2000
_RETRY_AFTER_OUTAGE_MS = 500
_MAX_TRACE_CHARACTERS = 16_000
_POLICY = RetryPolicy()


async def cancel(conn: Connection, job_id: UUID) -> str | None:
    """Cancel in the caller's transaction; answers the lane to wake, or None if the job had
    ended."""
    return await _end(conn, job_id, "cancelled", None)


async def fail(
    conn: Connection, job_id: UUID, error: ItemError, worker: str | None, *, runs: int = 1,
    trace: str | None = None,
) -> str | None:  # fmt: skip
    """Fail the job for good and write its dead letter. ``runs``: the number of runs that ended with
    this failure."""
    return await _end(conn, job_id, "failed", _Failure(error, worker, runs, trace))


@dataclass(frozen=True, slots=True)
class _Failure:
    error: ItemError
    worker: str | None
    runs: int
    trace: str | None


async def _end(conn: Connection, job_id: UUID, ending: str, failure: _Failure | None) -> str | None:
    error = None if failure is None else failure.error
    job = await jobs.begin_ending(conn, job_id, ending, None if error is None else error.as_json())
    if job is None:
        return None
    if failure is not None:
        # Only one transaction begins the ending, so each failure has one dead letter.
        await dead_letters.add_letter(
            conn, job_id, job.pipeline, failure.error,
            runs=failure.runs, trace=failure.trace, worker=failure.worker,
        )  # fmt: skip
        data = {
            "jobId": str(job_id), "pipeline": job.pipeline, "code": failure.error.code,
            "message": failure.error.message,
        }  # fmt: skip
        await workers.add_system_event(conn, "alert.job_failed", failure.worker, data)
    if job.open_items <= MAX_SKIPPED_AT_ONCE:
        await jobs.skip_open_items(conn, job_id, skip_reason(ending, error), MAX_SKIPPED_AT_ONCE)
        await jobs.end_ending(conn, job_id, None if failure is None else failure.worker)
    return job.lane


def skip_reason(ending: str | None, error: ItemError | None) -> dict[str, Any]:
    if ending == "failed":
        why = f": {error.message}" if error is not None else ""
        cause = {} if error is None else {"cause": error.code}
        return ItemError("JOB_FAILED", f"The job failed{why}", details=cause).as_json()
    return ItemError("CANCELLED", "The job was cancelled").as_json()


async def fail_or_retry(
    runtime: Runtime,
    slice_id: UUID,
    job_row: ClaimedJob,
    position: int,
    error: Exception,
    worker: str,
) -> None:
    """An ingest or finish raised an error: retry the job later, or fail it for good."""
    shown = ItemError.of(error)
    if isinstance(error, TRANSIENT_DB_ERRORS) and not isinstance(error, OSError):
        # The database failed, not the job: this counts as no attempt.
        return await _postpone(runtime, slice_id, job_row, position)
    if isinstance(error, PenstockError) and not error.counted:
        return await _postpone(runtime, slice_id, job_row, position, error.retry_after_ms)
    attempts = job_row.attempts + 1
    permanent = isinstance(error, PermanentError) or (
        not isinstance(error, TransientError) and _POLICY.rule(shown.code).retries == 0
    )
    runtime.log.warning(
        "a step of the job failed", job=str(job_row.id), error=shown.code, attempt=attempts
    )
    lane: str | None = None
    async with runtime.db.transaction() as conn:
        # Take the claim lock before the slice, as a cancel does, so that the two cannot deadlock.
        await claims.lock_claims(conn)
        if not await slices.take(conn, [slice_id]):
            return
        if permanent or attempts > JOB.retries:
            lane = await fail(conn, job_row.id, shown, worker, trace=trace_of(error))
        # A job that is ending must end, however many attempts that takes.
        if lane is None:
            delay = JOB.delay_ms(
                attempts, runtime.chance.random(), getattr(error, "retry_after_ms", 0) or 0
            )
            await slices.yield_whole(
                conn,
                job_row.id,
                position,
                after_ms=delay,
                attempts=attempts,
                error=shown.as_json(),
            )
            await _add_retry_events(conn, job_row, shown, attempts, delay, worker)
    if lane is not None:
        await runtime.broker.send(Ticket(lane))


async def _add_retry_events(
    conn: Connection, job_row: ClaimedJob, error: ItemError, attempts: int, delay: int, worker: str
) -> None:
    data = {"attempt": attempts, "inMs": delay, "error": error.as_json()}
    await jobs.add_event(conn, job_row.id, "job.retrying", data, worker)
    again = {"jobId": str(job_row.id), "pipeline": job_row.pipeline, "attempt": attempts,
             "code": error.code}  # fmt: skip
    await workers.add_system_event(conn, "alert.job_retry", worker, again)


def trace_of(error: BaseException) -> str:
    """The traceback, cut to its last lines."""
    return redacted("".join(traceback.format_exception(error)))[-_MAX_TRACE_CHARACTERS:]


async def _postpone(
    runtime: Runtime,
    slice_id: UUID,
    job_row: ClaimedJob,
    position: int,
    after_ms: int | None = None,
) -> None:
    async with runtime.db.transaction() as conn:
        if await slices.take(conn, [slice_id]):
            await slices.yield_whole(
                conn, job_row.id, position, after_ms=after_ms or _RETRY_AFTER_OUTAGE_MS,
                attempts=job_row.attempts,
            )  # fmt: skip
