"""Make rows due now that wait for their next try. Their tries keep counting."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any
from uuid import UUID

from penstock.store.accounts.audit_log import Caller, audit
from penstock.store.database import Connection, Transaction
from penstock.store.jobs import claims, pending
from penstock.store.jobs.pending import OpenRowFilter
from penstock.store.jobs.transitions import JobMove, write_moves

# Done under the claim lock, which every claim waits for.
MOST_AT_ONCE = 2000
_JOBS_AT_ONCE = 100


@dataclass(frozen=True, slots=True)
class RetryNowResult:
    """``lanes`` are to be woken. ``more``: time was up before all rows were due."""

    rows: int = 0
    lanes: frozenset[str] = frozenset()
    more: bool = False


async def audit_retry(
    transaction: Transaction, caller: Caller, asked: Mapping[str, Any], made: RetryNowResult
) -> None:
    """``asked`` is the request as the audit log shows it."""
    async with transaction() as conn:
        await audit(
            conn, caller.who.org_id, caller.who.user_id, "pending.retry", "pending",
            ip=caller.ip, after={**asked, "rows": made.rows},
        )  # fmt: skip


async def retry_rows(
    transaction: Transaction, rows: Mapping[UUID, Sequence[int]]
) -> RetryNowResult:
    """Make these rows due, in one transaction for each job. A row that runs, is due already or has
    ended is left as it is, and so is a job that the caller may not change."""
    done = RetryNowResult()
    for job_id in sorted(rows):
        async with transaction() as conn:
            await claims.lock_claims(conn)
            done = _sum(done, await _make_due(conn, job_id, rows[job_id]))
    return done


async def retry_matching(
    transaction: Transaction, wanted: OpenRowFilter, time_is_up: Callable[[], bool]
) -> RetryNowResult:
    """Make all waiting rows of the matching jobs due."""
    done = RetryNowResult()
    while True:
        async with transaction() as conn:
            jobs = await pending.waiting_jobs(conn, wanted, _JOBS_AT_ONCE)
        left = len(jobs) == _JOBS_AT_ONCE
        for job_id in jobs:
            async with transaction() as conn:
                await claims.lock_claims(conn)
                rows = await pending.waiting_rows(conn, job_id, wanted, MOST_AT_ONCE)
                done = _sum(done, await _make_due(conn, job_id, rows))
            left = left or len(rows) == MOST_AT_ONCE
            if time_is_up():
                return RetryNowResult(done.rows, done.lanes, more=True)
        if not left:
            return done


async def _make_due(conn: Connection, job_id: UUID, rows: Sequence[int]) -> RetryNowResult:
    """The caller holds the claim lock, so that no claim, cancel or reopen comes between."""
    stages = await pending.make_due(conn, job_id, rows)
    if not stages:
        return RetryNowResult()
    move, moved = JobMove(), sum(stages.values())
    for stage in stages:
        move.stage(stage).wait(0)
    move.events.append(("job.status", {"retriedNow": moved}))
    written = await write_moves(conn, {job_id: move}, None)
    return RetryNowResult(moved, written.lanes)


def _sum(one: RetryNowResult, other: RetryNowResult) -> RetryNowResult:
    return RetryNowResult(one.rows + other.rows, one.lanes | other.lanes)
