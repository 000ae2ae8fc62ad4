"""The last step of a job: write its summary, or skip the open items of a job that ends early."""

from __future__ import annotations

from uuid import UUID

from penstock.engine.claim import Claim
from penstock.engine.context import StopSign, Timer, stage_context
from penstock.engine.ending import fail_or_retry, skip_reason
from penstock.engine.runtime import Runtime
from penstock.model.effects import Effect
from penstock.model.errors import ItemError
from penstock.model.pipeline import Job
from penstock.store.database import from_json, to_json
from penstock.store.jobs import jobs, slices
from penstock.store.jobs.claims import ClaimedJob
from penstock.store.jobs.result_cache import copied_summary, remember
from penstock.store.jobs.transitions import end_jobs, write_events

_CHUNK = 5000


async def finish(runtime: Runtime, claimed: Claim, stop: StopSign, worker: str) -> None:
    row, lease = claimed.jobs[0], claimed.leases[0]
    timer = Timer()
    try:
        if row.state == "cancelling":
            await _skip_rest(runtime, claimed, stop, worker)
            return
        ctx = stage_context(runtime, stop, runtime.settings.item_timeout_ms / 1000, runtime.log)
        job = runtime.job(row)
        pipeline = runtime.pipeline(job.pipeline)
        for effect in await pipeline.last_effects(job, ctx):
            if not await _write_effect(runtime, lease.id, job, effect):
                return
        async with runtime.db.acquire() as conn:
            copied = await copied_summary(conn, job.id)
        if copied is not None:
            summary = pipeline.reused_summary(job, copied)
        else:
            summary = await pipeline.summarize(job, ctx)
        runtime.failpoints.reach("in_finish")
        async with runtime.db.transaction() as conn:
            if not await slices.take(conn, [lease.id]):
                return
            events = await end_jobs(conn, [job.id], to_json(dict(summary)))
            await write_events(conn, events, worker)
            if (named := pipeline.cache_key(job.config)) is not None and job.file is not None:
                await remember(conn, job.id, named)
            await slices.charge(conn, claimed.turn, timer.ms)
    except Exception as error:
        await fail_or_retry(runtime, lease.id, row, jobs.FINISH, error, worker)


async def _write_effect(runtime: Runtime, lease: UUID, job: Job, effect: Effect) -> bool:
    """Write a job effect in chunks, each in its own transaction under the lease; False if it was
    lost."""
    writer = runtime.effects.job_writer(effect)
    place: str | None = None
    while True:
        async with runtime.db.transaction() as conn:
            if not await slices.hold(conn, [lease]):
                return False
            place = await writer.write_some(conn, job.org_id, job.id, effect, place)
            runtime.failpoints.reach("job_effect_before_commit")
        runtime.failpoints.reach("job_effect_after_commit")
        if place is None:
            return True


async def _skip_rest(runtime: Runtime, claimed: Claim, stop: StopSign, worker: str) -> None:
    row, lease = claimed.jobs[0], claimed.leases[0]
    reason = skip_reason(row.ending, _error_of(row))
    still_open = 1
    while still_open:
        async with runtime.db.transaction() as conn:
            if not await slices.hold(conn, [lease.id]):
                return
            still_open = await jobs.skip_open_items(conn, row.id, reason, _CHUNK)
        runtime.failpoints.reach("in_finish")
        if stop.reason is not None:
            break
    async with runtime.db.transaction() as conn:
        if not await slices.take(conn, [lease.id]):
            return
        if still_open:
            await slices.yield_whole(conn, row.id, jobs.FINISH, after_ms=0, attempts=row.attempts)
        else:
            await jobs.end_ending(conn, row.id, worker)


def _error_of(row: ClaimedJob) -> ItemError | None:
    error = from_json(row.last_error)
    return None if error is None else ItemError(error["code"], error["message"])
