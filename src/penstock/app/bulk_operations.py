"""Operations over many jobs, in the background: one transaction per job, with the place reached.

A process that continues an operation locks its row first, so that several may try: each step is
done once, and a step that was not committed was not done. The row is the only record of how far the
operation is.
"""

from __future__ import annotations

import time
from collections import deque
from dataclasses import dataclass
from datetime import datetime
from uuid import UUID

from penstock.app.bulk import WALK
from penstock.app.clone import Copy, clone
from penstock.app.job_control import apply_change, audit_change, get_job
from penstock.app.rows import edits
from penstock.engine import reprocess
from penstock.engine.runtime import Runtime
from penstock.engine.settle import TRANSIENT_DB_ERRORS
from penstock.model.bulk import BulkAction
from penstock.model.errors import ItemError, PermanentError
from penstock.model.reprocess import Selection
from penstock.model.ticket import Ticket
from penstock.store.accounts.accounts import Principal
from penstock.store.database import Connection
from penstock.store.jobs import bulk
from penstock.store.jobs.bulk import Operation
from penstock.store.jobs.job_rows import JobDetails


@dataclass(frozen=True, slots=True)
class BulkConfig:
    every_ms: int = 500
    # So that a long operation does not keep the others waiting.
    turn_seconds: float = 0.5
    most_operations: int = 50


class BulkService:
    """Continues every operation, each for a limited time."""

    name = "bulk"

    def __init__(self, runtime: Runtime, config: BulkConfig | None = None) -> None:
        self._runtime = runtime
        self._config = config or BulkConfig()
        self.every_ms = self._config.every_ms

    async def run_once(self) -> int:
        """Return how many operations there were to continue."""
        async with self._runtime.db.acquire() as conn:
            waiting = await bulk.live(conn, self._config.most_operations)
        for operation_id in waiting:
            await go_on(self._runtime, operation_id, self._config.turn_seconds)
        return len(waiting)


async def go_on(runtime: Runtime, operation_id: UUID, seconds: float) -> bool:
    """Continue an operation for a while; True once it has ended."""
    turn, deadline = _Turn(runtime, operation_id), time.monotonic() + seconds
    while await turn.step():
        if time.monotonic() > deadline:
            return False
    return True


class _Turn:
    """Steps of one operation by one process. ``_page`` are jobs that matched when last looked."""

    def __init__(self, runtime: Runtime, operation_id: UUID) -> None:
        self._runtime = runtime
        self._id = operation_id
        self._page: deque[UUID] = deque()
        self._at: UUID | None = None
        self._wake: str | None = None

    async def step(self) -> bool:
        """One transaction; False once the operation has ended."""
        self._at = self._wake = None
        try:
            async with self._runtime.db.transaction() as conn:
                operation = await bulk.lock(conn, self._id)
                if operation is None or not operation.live:
                    return False
                goes_on = await self._step(conn, operation)
                self._runtime.failpoints.reach("bulk_before_commit")
            self._runtime.failpoints.reach("bulk_after_commit")
        except TRANSIENT_DB_ERRORS:
            raise
        except Exception as error:
            self._runtime.log.error(
                "bulk step failed", operation=str(self._id), job=str(self._at), error=repr(error)
            )
            return await self._note_failure(error)
        if self._wake is not None:
            await self._runtime.broker.send(Ticket(self._wake))
        return goes_on

    async def _step(self, conn: Connection, operation: Operation) -> bool:
        if operation.state == "counting":
            walked = await self._walk(conn, operation)
            await bulk.count_more(conn, operation.id, len(walked.ids), walked.last)
            return True
        if operation.target is not None:
            self._at = operation.target
            if operation.action is BulkAction.EDIT:
                await self._edit_more(conn, operation, operation.target)
            else:
                await self._reopen_more(conn, operation, operation.target)
            return True
        while self._page and self._page[0] <= operation.last_job:
            self._page.popleft()  # another process was faster
        if not self._page:
            walked = await self._walk(conn, operation)
            self._page.extend(walked.ids)
            if not walked.ids:
                return await self._pass_by(conn, operation, walked.last)
        self._at = self._page.popleft()
        await self._act(conn, operation, self._at)
        return True

    async def _pass_by(self, conn: Connection, operation: Operation, last: UUID | None) -> bool:
        """No job up to ``last`` matches; None: no job is left."""
        if last is None:
            await bulk.end(conn, operation.id, "done")
            return False
        await bulk.pass_by(conn, operation.id, last)
        return True

    async def _walk(self, conn: Connection, operation: Operation) -> bulk.JobWalk:
        return await bulk.walk(
            conn, operation.reach, operation.filter, operation.last_job, operation.asked_at, WALK
        )

    async def _act(self, conn: Connection, operation: Operation, job_id: UUID) -> None:
        """Apply the action to one job; a job to which it does not apply is left out."""
        before = await get_job(conn, job_id)
        items = left_out = 0
        try:
            if operation.action is BulkAction.REPROCESS:
                selection = Selection.of_json(operation.params)
                reopened = await reprocess.begin(
                    self._runtime, conn, job_id, selection, holder=operation.id,
                    user_id=operation.user_id,
                )  # fmt: skip
                self._wake, items, left_out = reopened.lane, reopened.items, reopened.left_out
                if reopened.rest is not None:
                    assert reopened.asked_at is not None
                    await self._audit(conn, operation, before)
                    await bulk.begin_target(
                        conn, operation.id, job_id, reopened.rest, reopened.asked_at
                    )
                    return
            elif operation.action is BulkAction.CLONE:
                self._wake = await self._clone(conn, operation, before)
            else:
                self._wake = await apply_change(
                    conn, job_id, operation.action, operation.params.get("priority")
                )
        except PermanentError as refused:
            # Raised before anything was written: the action does not apply to the job's state.
            if refused.code != "INVALID_STATE":
                raise
        changed = self._wake is not None
        # A clone has its own entry in the audit log.
        if changed and operation.action is not BulkAction.CLONE:
            await self._audit(conn, operation, before)
        await bulk.note(
            conn, operation.id, job_id, changed=changed, left_out=not changed, items=items,
            items_left_out=left_out,
        )  # fmt: skip

    async def _clone(self, conn: Connection, operation: Operation, job: JobDetails) -> str:
        """Clone the job in the name of the user who asked for the operation."""
        asks = Principal(operation.user_id, operation.org_id, "", "member", job.org, job.plan)
        copy = Copy(
            operation.params.get("priority"), operation.params.get("config") or {}, operation.ip
        )
        return (await clone(self._runtime, conn, asks, job, copy)).lane

    async def _audit(self, conn: Connection, operation: Operation, before: JobDetails) -> None:
        after = await get_job(conn, before.id)
        await audit_change(
            conn, operation.user_id, operation.ip, operation.action, before, after, operation.id
        )

    async def _edit_more(self, conn: Connection, operation: Operation, job_id: UUID) -> None:
        try:
            async with conn.transaction():
                self._wake = await edits.step(self._runtime, conn, operation)
        except reprocess.JobCancelled:
            await bulk.note(conn, operation.id, job_id, changed=True)

    async def _reopen_more(self, conn: Connection, operation: Operation, job_id: UUID) -> None:
        selection = Selection.of_json(operation.target_selection or {})
        asked_at = datetime.fromisoformat((operation.target_selection or {})["askedAt"])
        try:
            # A savepoint: rolled back alone if the job was cancelled meanwhile.
            async with conn.transaction():
                chunk = await reprocess.reopen_more(
                    self._runtime, conn, job_id, selection, asked_at, operation.target_row,
                    operation.id,
                )  # fmt: skip
        except reprocess.JobCancelled:
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
        """If a job was being changed, it failed, and the operation continues with the next one.
        Otherwise the operation itself failed."""
        shown = ItemError.of(error).as_json()
        async with self._runtime.db.transaction() as conn:
            operation = await bulk.lock(conn, self._id)
            if operation is None or not operation.live:
                return False
            if self._at is None:
                await bulk.end(conn, operation.id, "failed", shown)
                return False
            if operation.target == self._at:
                await reprocess.stop_reopening(conn, self._at, operation.id)
            await bulk.note(conn, operation.id, self._at, error=shown)
            return True
