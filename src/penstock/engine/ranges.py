"""Run the first stage over a range of rows, and store the rows as items in the state that results:
one fenced transaction, in which each row is written once."""

from __future__ import annotations

from collections import Counter
from typing import Any

from penstock.engine.claim import Claim
from penstock.engine.context import StopSign, Timer, stage_context
from penstock.engine.runtime import Runtime
from penstock.engine.settle import TRANSIENT_DB_ERRORS
from penstock.engine.worker_errors import CHILD_CRASHED, report_worker_error
from penstock.model.effects import Asked, EffectBatch, EffectWriter, LockOrder
from penstock.model.errors import ChildCrashed
from penstock.model.pipeline import Job
from penstock.model.ports import Context
from penstock.model.ranges import RangeResult, RangeWork
from penstock.model.states import ItemStatus
from penstock.model.ticket import Ticket
from penstock.store.database import Connection
from penstock.store.errors import UniqueViolationError
from penstock.store.jobs import ranges, slices
from penstock.store.jobs.ranges import RANGES
from penstock.store.jobs.transitions import COUNTER_OF, JobMove, Written, write_moves

# How often a result is computed again because what it was compared with has changed.
_MAX_TRIES = 3


class _OutOfDate(Exception):
    """What the result was compared with has changed."""


async def store_range(runtime: Runtime, claimed: Claim, stop: StopSign, worker: str) -> None:
    """Store the range of a claim, or turn it into ordinary items if that fails."""
    timer = Timer()
    if claimed.range is None:
        return
    writing = _RangeWriting(runtime, claimed, worker, timer)
    try:
        written = await _store(runtime, claimed, stop, writing)
    except TRANSIENT_DB_ERRORS:
        raise
    except Exception as error:
        # One row may be the reason: as items of the first stage the others are not affected.
        runtime.log.warning(
            "range could not be stored at once", job=str(claimed.work.job_id),
            first_row=claimed.range.rows.first_row, error=repr(error),
        )  # fmt: skip
        if isinstance(error, ChildCrashed):
            await report_worker_error(
                runtime, worker, CHILD_CRASHED, str(error), claimed.work.job_id, claimed.work.stage
            )
        written = await writing.as_items()
    if written is not None:
        for lane in written.lanes:
            await runtime.broker.send(Ticket(lane))


async def _store(
    runtime: Runtime, claimed: Claim, stop: StopSign, writing: _RangeWriting
) -> Written | None:
    job = runtime.job(claimed.jobs[0])
    work = runtime.pipeline(job.pipeline).ranges
    assert work is not None
    assert claimed.range is not None
    rows = claimed.range.rows
    ctx = stage_context(runtime, stop, float("inf"), runtime.log)
    async with runtime.range_slots:
        async with runtime.range_child:
            prepared = await runtime.children.call(work.prepare, job, rows)
        runtime.failpoints.reach("range_prepared")
        return await _compare_and_write(claimed, job, work, prepared, ctx, writing)


async def _compare_and_write(
    claimed: Claim, job: Job, work: RangeWork, prepared: Any, ctx: Context, writing: _RangeWriting
) -> Written | None:
    assert claimed.range is not None
    rows = claimed.range.rows
    for _ in range(_MAX_TRIES):
        result = await work.complete(job, rows, prepared, ctx)
        if len(result.rows) != claimed.range.count:
            raise RuntimeError(f"{len(result.rows)} results for {claimed.range.count} rows")
        try:
            return await writing.write(result)
        except (_OutOfDate, UniqueViolationError):
            continue
    raise RuntimeError("other jobs change the same products again and again")


class _RangeWriting:
    def __init__(self, runtime: Runtime, claimed: Claim, worker: str, timer: Timer) -> None:
        self._runtime = runtime
        self._claim = claimed
        self._worker = worker
        self._timer = timer
        self._job = claimed.jobs[0]
        assert claimed.range is not None
        self._range = claimed.range

    async def write(self, result: RangeResult) -> Written | None:
        """Store the rows; None if the lease was lost."""
        move = _move_of(result, self._range.count)
        async with self._runtime.db.transaction() as conn:
            if not await self._take(conn):
                return None
            await ranges.copy_items(
                conn, self._runtime.db.schema, self._job, self._range.rows, result.rows
            )
            await self._write_effects(conn, result, move)
            move.stage(RANGES).item_ms = self._timer.ms
            written = await write_moves(conn, {self._job.id: move}, self._worker)
            await slices.charge(conn, self._claim.turn, self._timer.ms)
            self._runtime.failpoints.reach("range_before_commit")
        self._runtime.failpoints.reach("range_after_commit")
        self._runtime.db.note_written(self._range.count)
        return written

    async def as_items(self) -> Written | None:
        move = JobMove()
        async with self._runtime.db.transaction() as conn:
            if not await slices.take(conn, [self._claim.leases[0].id]):
                return None
            first_row = self._range.rows.first_row
            await ranges.as_items(conn, self._job.id, first_row, ItemStatus.PENDING)
            move.stage(RANGES).open -= 1
            move.stage(0).enter(self._range.count, 0)
            written = await write_moves(conn, {self._job.id: move}, self._worker)
            await slices.charge(conn, self._claim.turn, self._timer.ms)
        return written

    async def _take(self, conn: Connection) -> bool:
        """The fence: the lease is still there, and the range is its own."""
        lease = self._claim.leases[0].id
        held = await slices.take(conn, [lease]) and await ranges.end(
            conn, self._job.id, self._range.rows.first_row, lease
        )
        if not held:
            self._runtime.figures.lost_lease()
        return bool(held)

    async def _write_effects(self, conn: Connection, result: RangeResult, move: JobMove) -> None:
        by_writer: dict[EffectWriter, list[Asked]] = {}
        first = self._range.rows.first_row
        for row_no, effect in result.effects:
            stored = result.rows[row_no - first]
            checked = self._runtime.effects.check(effect)
            asked = Asked(row_no, checked, stored.error, stored.attempts)
            by_writer.setdefault(self._runtime.effects.writer(checked), []).append(asked)
        for writer in sorted(by_writer, key=lambda one: one.order):
            if writer.order is LockOrder.JOBS:
                raise RuntimeError(f"{writer.effect.__name__} cannot be an effect of a range")
            batch = EffectBatch(
                self._job.org_id, self._job.id, self._worker, by_writer[writer], True, move.emit
            )
            if await writer.write(conn, batch):
                raise _OutOfDate


def _move_of(result: RangeResult, count: int) -> JobMove:
    """The change of the job's counters. The rows were counted as pending when they were read."""
    move = JobMove()
    move.count("pending", -count)
    move.stage(RANGES).open -= 1
    waiting: Counter[int] = Counter()
    statuses: Counter[Any] = Counter()
    for one in result.rows:
        statuses[one.status] += 1
        if one.status is ItemStatus.PENDING:
            waiting[one.stage] += 1
        elif one.error is not None:
            move.failed(one.error.code)
    for status, rows in statuses.items():
        move.count(COUNTER_OF[status], rows)
    for stage, rows in waiting.items():
        move.stage(stage).enter(rows, 0)
    return move
