"""Run jobs and items again that failed since some time: one transaction for each job."""

from __future__ import annotations

import time
from dataclasses import dataclass
from datetime import datetime
from uuid import UUID

from penstock.app.bulk import reprocess_job
from penstock.engine.runtime import Runtime
from penstock.model.errors import PermanentError
from penstock.model.reprocess import Selection
from penstock.model.states import ItemStatus, JobState
from penstock.model.ticket import Ticket
from penstock.store.accounts.accounts import Principal
from penstock.store.database import Transaction
from penstock.store.jobs import reprocess as store

MOST_AT_ONCE = 1000
# A caller waits for the answer.
_SECONDS = 10.0


@dataclass(frozen=True, slots=True)
class RetryFailedResult:
    jobs: tuple[UUID, ...]
    more: bool


async def retry_failed(
    runtime: Runtime,
    transaction: Transaction,
    who: Principal,
    since: datetime | None = None,
    ip: str | None = None,
    pipeline: str | None = None,
) -> RetryFailedResult:
    """Failed jobs as a whole, and what failed in those that are done, if they ended since then (or
    within a day), of all pipelines or one. ``transaction`` says which of them are seen; ``more``
    were left for next time."""
    deadline = time.monotonic() + _SECONDS
    async with transaction() as conn:
        found = await store.failures_since(conn, since, MOST_AT_ONCE + 1, pipeline)
    retried: list[UUID] = []
    lanes: set[str] = set()
    more = len(found) > MOST_AT_ONCE
    for job in found[:MOST_AT_ONCE]:
        if time.monotonic() > deadline:
            more = True
            break
        whole = job.state == JobState.FAILED
        selection = Selection() if whole else Selection(statuses=(ItemStatus.ERROR,))
        try:
            async with transaction() as conn:
                made = await reprocess_job(runtime, conn, who, job.id, selection, ip)
        except PermanentError as refused:
            # Another request has reprocessed it meanwhile.
            if refused.code != "INVALID_STATE":
                raise
            continue
        if made.lane is not None:
            retried.append(job.id)
            lanes.add(made.lane)
    for lane in sorted(lanes):
        await runtime.broker.send(Ticket(lane))
    return RetryFailedResult(tuple(retried), more)
