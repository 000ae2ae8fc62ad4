"""Rows that wait for their next try, tried now instead. Their tries are counted on as before."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from contextlib import AbstractAsyncContextManager
from dataclasses import dataclass
from uuid import UUID

from penstock.store.database import Connection
from penstock.store.jobs import claims, pending
from penstock.store.jobs.pending import Wanted
from penstock.store.jobs.transitions import JobMove, write_moves

# Under the claim lock, for which everyone waits.
MOST_AT_ONCE = 2000
_JOBS_AT_ONCE = 100
Opened = Callable[[], AbstractAsyncContextManager[Connection]]


@dataclass(frozen=True, slots=True)
class Hurried:
    """``lanes`` are to be woken. ``more``: time was up before all of them were due."""

    rows: int = 0
    lanes: frozenset[str] = frozenset()
    more: bool = False


async def hurry_named(opened: Opened, rows: Mapping[UUID, Sequence[int]]) -> Hurried:
    """These rows, each job's in a transaction of its own. One that runs, that is in line already
    or that has ended is left as it is, and so is a job that the caller may not change."""
    done = Hurried()
    for job_id in sorted(rows):
        async with opened() as conn:
            await claims.lock_claims(conn)
            done = _sum(done, await _hurry(conn, job_id, rows[job_id]))
    return done


async def hurry_all(opened: Opened, wanted: Wanted, time_is_up: Callable[[], bool]) -> Hurried:
    """All waiting rows of the jobs that are wanted."""
    done = Hurried()
    while True:
        async with opened() as conn:
            jobs = await pending.waiting_jobs(conn, wanted, _JOBS_AT_ONCE)
        left = len(jobs) == _JOBS_AT_ONCE
        for job_id in jobs:
            async with opened() as conn:
                await claims.lock_claims(conn)
                rows = await pending.waiting_rows(conn, job_id, wanted, MOST_AT_ONCE)
                done = _sum(done, await _hurry(conn, job_id, rows))
            left = left or len(rows) == MOST_AT_ONCE
            if time_is_up():
                return Hurried(done.rows, done.lanes, more=True)
        if not left:
            return done


async def _hurry(conn: Connection, job_id: UUID, rows: Sequence[int]) -> Hurried:
    """Under the claim lock: nobody claims, cancels or reopens them meanwhile."""
    stages = await pending.wait_no_longer(conn, job_id, rows)
    if not stages:
        return Hurried()
    move, moved = JobMove(), sum(stages.values())
    for stage in stages:
        move.stage(stage).wait(0)
    move.events.append(("job.status", {"retriedNow": moved}))
    written = await write_moves(conn, {job_id: move}, None)
    return Hurried(moved, written.lanes)


def _sum(one: Hurried, other: Hurried) -> Hurried:
    return Hurried(one.rows + other.rows, one.lanes | other.lanes)
