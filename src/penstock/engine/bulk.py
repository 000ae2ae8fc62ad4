"""Operations over many jobs, in the background: one transaction per job, with the place reached.

Whoever goes on with an operation locks its row first of all, so that any number may try: a step is
done once, and one that was not committed was not done. The row says what is behind it; nothing else
is remembered.
"""

from __future__ import annotations

import time
from collections import deque
from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime
from typing import Any
from uuid import UUID

from penstock.engine import ending, reprocess
from penstock.engine.parts import Parts
from penstock.engine.settle import TRY_AGAIN
from penstock.model.bulk import BulkAction, JobFilter
from penstock.model.errors import ItemError, PermanentError
from penstock.model.ids import new_id
from penstock.model.reprocess import Selection
from penstock.model.states import shown_state
from penstock.store import accounts, bulk, jobs
from penstock.store.accounts import Principal
from penstock.store.bulk import NewOperation, Operation, Reach
from penstock.store.database import Connection

# Jobs looked at by one statement, however few of them match.
_WALK = 5000
MOST_COUNTED = 10_000
_COUNT_SECONDS = 1.0


@dataclass(frozen=True, slots=True)
class Counted:
    """Jobs that match; ``capped``: at least so many."""

    count: int
    capped: bool


def reach_of(who: Principal, org_id: int | None = None) -> Reach:
    """What this principal may touch; an admin may narrow it to one org."""
    scope = who.scope
    return Reach(org_id if scope.admin else scope.org_id, scope.owner_id)


async def count(conn: Connection, reach: Reach, wanted: JobFilter) -> Counted:
    """How many jobs match, as far as a request may look."""
    asked_at = await bulk.now(conn)
    after, found, deadline = bulk.NO_JOB, 0, time.monotonic() + _COUNT_SECONDS
    while True:
        walked = await bulk.walk(conn, reach, wanted, after, asked_at, _WALK)
        found += len(walked.ids)
        if found >= MOST_COUNTED:
            return Counted(MOST_COUNTED, found > MOST_COUNTED or walked.last is not None)
        if walked.last is None:
            return Counted(found, False)
        if time.monotonic() > deadline:
            return Counted(found, True)
        after = walked.last


async def start(
    conn: Connection,
    who: Principal,
    action: BulkAction,
    wanted: JobFilter,
    params: Mapping[str, Any],
    *,
    reach: Reach,
    ip: str | None = None,
) -> tuple[UUID, Counted]:
    """Write the operation down, audited; it begins when this is committed."""
    counted = await count(conn, reach, wanted)
    operation = NewOperation(
        new_id(), who.org_id, who.user_id, action, wanted, reach, params, ip,
        counted.count, counted=not counted.capped,
    )  # fmt: skip
    await bulk.add(conn, operation)
    await accounts.audit(
        conn, who.org_id, who.user_id, f"bulk.{action}", f"bulk:{operation.id}", ip=ip,
        after={"filter": wanted.as_json(), "params": dict(params)},
    )  # fmt: skip
    return operation.id, counted


async def abort(conn: Connection, who: Principal, operation_id: UUID, ip: str | None) -> bool:
    """Stop before the next job; False if it had ended. Waits for the step under way."""
    operation = await bulk.lock(conn, operation_id)
    if operation is None or not operation.live:
        return False
    if operation.target is not None:
        await _leave_target(conn, operation, operation.target)
    await bulk.end(conn, operation_id, "aborted")
    await accounts.audit(
        conn, operation.org_id, who.user_id, "bulk.abort", f"bulk:{operation_id}", ip=ip,
        before={"state": operation.state}, after={"state": "aborted"},
    )  # fmt: skip
    return True


@dataclass(frozen=True, slots=True)
class Reprocessed:
    """``operation_id`` goes on with what one transaction could not hold."""

    items: int
    left_out: int
    lane: str | None
    operation_id: UUID | None = None


async def reprocess_job(
    parts: Parts,
    conn: Connection,
    who: Principal,
    job_id: UUID,
    selection: Selection,
    ip: str | None = None,
) -> Reprocessed:
    """Reprocess one job, audited; of a large one the operation that does is begun."""
    before = await jobs.get_job(conn, job_id)
    operation_id = new_id()
    begun = await reprocess.begin(parts, conn, job_id, selection, operation_id)
    if begun.lane is None:
        return Reprocessed(0, begun.left_out, None)
    if begun.rest is not None:
        assert begun.asked_at is not None
        await bulk.add(
            conn,
            NewOperation(
                operation_id, before["org_id"], who.user_id, BulkAction.REPROCESS,
                JobFilter(job_ids=(job_id,)), reach_of(who), selection.as_json(), ip, 1,
                target=job_id, target_selection=bulk.frozen(begun.rest, begun.asked_at),
            ),
        )  # fmt: skip
    await accounts.audit(
        conn, before["org_id"], who.user_id, "job.reprocess", f"job:{job_id}", ip=ip,
        before={"state": _state(before)},
        after={"state": _state(await jobs.get_job(conn, job_id)), **selection.as_json()},
    )  # fmt: skip
    held = operation_id if begun.rest is not None else None
    return Reprocessed(begun.items, begun.left_out, begun.lane, held)


@dataclass(frozen=True, slots=True)
class BulkConfig:
    every_ms: int = 500
    # So that a long operation does not keep the others waiting.
    turn_seconds: float = 0.5
    most_operations: int = 50


class BulkService:
    """Goes on with every operation, each for a while."""

    name = "bulk"

    def __init__(self, parts: Parts, config: BulkConfig | None = None) -> None:
        self._parts = parts
        self._config = config or BulkConfig()
        self.every_ms = self._config.every_ms

    async def run_once(self) -> int:
        """Answers how many operations there were to go on with."""
        async with self._parts.db.acquire() as conn:
            waiting = await bulk.live(conn, self._config.most_operations)
        for operation_id in waiting:
            await go_on(self._parts, operation_id, self._config.turn_seconds)
        return len(waiting)


async def go_on(parts: Parts, operation_id: UUID, seconds: float) -> bool:
    """Go on with an operation for a while; True once it has ended."""
    turn, deadline = _Turn(parts, operation_id), time.monotonic() + seconds
    while await turn.step():
        if time.monotonic() > deadline:
            return False
    return True


class _Turn:
    """Steps of one operation by one process. ``_page`` are jobs that matched when last looked."""

    def __init__(self, parts: Parts, operation_id: UUID) -> None:
        self._parts = parts
        self._id = operation_id
        self._page: deque[UUID] = deque()
        self._at: UUID | None = None
        self._wake: str | None = None

    async def step(self) -> bool:
        """One transaction; False once the operation has ended."""
        self._at = self._wake = None
        try:
            async with self._parts.db.transaction() as conn:
                operation = await bulk.lock(conn, self._id)
                if operation is None or not operation.live:
                    return False
                goes_on = await self._step(conn, operation)
                self._parts.failpoints.reach("bulk_before_commit")
            self._parts.failpoints.reach("bulk_after_commit")
        except TRY_AGAIN:
            raise
        except Exception as error:
            self._parts.log.error(
                "bulk step failed", operation=str(self._id), job=str(self._at), error=repr(error)
            )
            return await self._note_failure(error)
        if self._wake is not None:
            await self._parts.broker.wake(self._wake)
        return goes_on

    async def _step(self, conn: Connection, operation: Operation) -> bool:
        if operation.state == "counting":
            walked = await self._walk(conn, operation)
            await bulk.count_more(conn, operation.id, len(walked.ids), walked.last)
            return True
        if operation.target is not None:
            self._at = operation.target
            await self._reopen_more(conn, operation, operation.target)
            return True
        while self._page and self._page[0] <= operation.last_job:
            self._page.popleft()  # another process was faster
        if self._page:
            self._at = self._page.popleft()
            await self._act(conn, operation, self._at)
            return True
        walked = await self._walk(conn, operation)
        self._page.extend(walked.ids)
        if self._page:
            return True
        if walked.last is None:
            await bulk.end(conn, operation.id, "done")
            return False
        await bulk.pass_by(conn, operation.id, walked.last)
        return True

    async def _walk(self, conn: Connection, operation: Operation) -> bulk.Walked:
        return await bulk.walk(
            conn, operation.reach, operation.filter, operation.last_job, operation.asked_at, _WALK
        )

    async def _act(self, conn: Connection, operation: Operation, job_id: UUID) -> None:
        """The action on one job; where it does not apply, the job is left out."""
        before = await jobs.get_job(conn, job_id)
        items = left_out = 0
        try:
            if operation.action is BulkAction.REPROCESS:
                selection = Selection.of_json(operation.params)
                begun = await reprocess.begin(self._parts, conn, job_id, selection, operation.id)
                self._wake, items, left_out = begun.lane, begun.items, begun.left_out
                if begun.rest is not None:
                    assert begun.asked_at is not None
                    await self._audit(conn, operation, before)
                    await bulk.begin_target(conn, operation.id, job_id, begun.rest, begun.asked_at)
                    return
            else:
                self._wake = await _change(conn, job_id, operation)
        except PermanentError as refused:
            # Raised before anything was written: the job is in no state for it.
            if refused.code != "INVALID_STATE":
                raise
        changed = self._wake is not None
        if changed:
            await self._audit(conn, operation, before)
        await bulk.note(
            conn, operation.id, job_id, changed=changed, left_out=not changed, items=items,
            items_left_out=left_out,
        )  # fmt: skip

    async def _audit(self, conn: Connection, operation: Operation, before: Any) -> None:
        after = await jobs.get_job(conn, before["id"])
        await accounts.audit(
            conn, before["org_id"], operation.user_id, f"job.{operation.action}",
            f"job:{before['id']}", ip=operation.ip,
            before={"state": _state(before), "priority": before["priority"]},
            after={"state": _state(after), "priority": after["priority"],
                   "operationId": str(operation.id)},
        )  # fmt: skip

    async def _reopen_more(self, conn: Connection, operation: Operation, job_id: UUID) -> None:
        selection = Selection.of_json(operation.target_selection or {})
        asked_at = datetime.fromisoformat((operation.target_selection or {})["askedAt"])
        try:
            # Undone alone when the job was taken away meanwhile.
            async with conn.transaction():
                chunk = await reprocess.go_on(
                    self._parts, conn, job_id, selection, asked_at, operation.target_row,
                    operation.id,
                )  # fmt: skip
        except reprocess.Overtaken:
            await bulk.note(conn, operation.id, job_id, changed=True)
            return
        self._wake = chunk.lane
        if chunk.next_row is None:
            await bulk.note(
                conn, operation.id, job_id, changed=True, items=chunk.items,
                items_left_out=chunk.left_out,
            )  # fmt: skip
        else:
            await bulk.move_in_target(
                conn, operation.id, chunk.next_row, chunk.items, chunk.left_out
            )

    async def _note_failure(self, error: Exception) -> bool:
        """The job at hand failed and the operation goes on with the next; without a job at hand it
        is the operation itself that cannot go on."""
        shown = ItemError.of(error).as_json()
        async with self._parts.db.transaction() as conn:
            operation = await bulk.lock(conn, self._id)
            if operation is None or not operation.live:
                return False
            if self._at is None:
                await bulk.end(conn, operation.id, "failed", shown)
                return False
            if operation.target == self._at:
                await reprocess.let_go(conn, self._at, operation.id)
            await bulk.note(conn, operation.id, self._at, error=shown)
            return True


async def _leave_target(conn: Connection, operation: Operation, job_id: UUID) -> None:
    await reprocess.let_go(conn, job_id, operation.id)
    await bulk.note(conn, operation.id, job_id, changed=True)


async def _change(conn: Connection, job_id: UUID, operation: Operation) -> str | None:
    match operation.action:
        case BulkAction.PAUSE:
            return await jobs.pause(conn, job_id)
        case BulkAction.RESUME:
            return await jobs.resume(conn, job_id)
        case BulkAction.CANCEL:
            return await ending.cancel(conn, job_id)
        case BulkAction.PRIORITY:
            return await jobs.set_priority(conn, job_id, operation.params["priority"])
        case BulkAction.REPROCESS:
            raise AssertionError("reprocessing has a way of its own")


def _state(row: Any) -> str:
    return shown_state(row["state"], paused=row["paused"], delayed=row["delayed"])
