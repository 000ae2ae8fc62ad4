"""Pause, resume and cancel a job, change its priority, and work on it in a request.

Bulk operations use `apply_change` and `audit_change`, too, so that a change has the same effect
and the same entry in the audit log however it was asked for.
"""

from __future__ import annotations

from typing import Any, Protocol
from uuid import UUID

from penstock.app.kickoff import kickoff
from penstock.engine.ending import cancel
from penstock.engine.runtime import Runtime
from penstock.model.bulk import BulkAction
from penstock.model.errors import NotThere, PermanentError
from penstock.model.states import TERMINAL_JOB_STATES, shown_state
from penstock.model.ticket import Ticket
from penstock.store.accounts.audit_log import Caller, audit
from penstock.store.database import Connection, Transaction
from penstock.store.jobs import claims, jobs
from penstock.store.jobs.job_rows import JobDetails

LIVE = frozenset({"queued", "delayed", "running", "paused"})
# States in which a change is accepted, although it changes nothing in those that are not live.
_ACCEPTED = {BulkAction.CANCEL: LIVE | {"cancelling", "cancelled"}}


def no_such_job() -> NotThere:
    """The same for an id that is unknown, of another user, or no id at all."""
    return NotThere("NOT_FOUND", "There is no such job.")


async def get_job(conn: Connection, job_id: UUID) -> JobDetails:
    """The job, if it exists and the connection's scope includes it."""
    job = await jobs.get_job(conn, job_id)
    if job is None:
        raise no_such_job()
    return job


class HasState(Protocol):
    """A job whose state is shown."""

    @property
    def state(self) -> str: ...
    @property
    def paused(self) -> bool: ...
    @property
    def delayed(self) -> bool: ...


def state_of(job: HasState) -> str:
    return shown_state(job.state, paused=job.paused, delayed=job.delayed)


async def change_job(
    runtime: Runtime, transaction: Transaction, caller: Caller, job_id: UUID, action: BulkAction,
    priority: int | None = None,
) -> JobDetails:  # fmt: skip
    """Make one change and return the job. A job that is already in the wanted state stays as it
    is, and nothing is audited."""
    accepted = _ACCEPTED.get(action, LIVE)
    lane = None
    async with transaction() as conn:
        await get_job(conn, job_id)
        # Every change of a job's state except by a settle holds this lock: `before` stays true.
        await claims.lock_claims(conn)
        before = await get_job(conn, job_id)
        if state_of(before) not in accepted:
            raise _wrong_state(action, state_of(before))
        if state_of(before) in LIVE:
            lane = await apply_change(conn, job_id, action, priority)
        after = await get_job(conn, job_id)
        if lane is not None:
            await audit_change(conn, caller.who.user_id, caller.ip, action, before, after)
        elif state_of(after) not in accepted:
            # The job's last settle was committed in between.
            raise _wrong_state(action, state_of(after))
    if lane is not None:
        await runtime.broker.send(Ticket(lane))
    return after


async def apply_change(
    conn: Connection, job_id: UUID, action: BulkAction, priority: int | None = None
) -> str | None:
    """Return the lane to wake after the commit; None if the job was left as it is."""
    match action:
        case BulkAction.PAUSE:
            return await jobs.pause(conn, job_id)
        case BulkAction.RESUME:
            return await jobs.resume(conn, job_id)
        case BulkAction.CANCEL:
            return await cancel(conn, job_id)
        case BulkAction.PRIORITY:
            assert priority is not None
            return await jobs.set_priority(conn, job_id, priority)
        case BulkAction.REPROCESS | BulkAction.CLONE | BulkAction.EDIT:
            raise AssertionError(f"{action} has a function of its own")


async def audit_change(
    conn: Connection, user_id: int, ip: str | None, action: BulkAction, before: JobDetails,
    after: JobDetails, operation_id: UUID | None = None,
) -> None:  # fmt: skip
    """``operation_id`` names the bulk operation that the change is part of."""
    part_of = {} if operation_id is None else {"operationId": str(operation_id)}
    await audit(
        conn, before.org_id, user_id, f"job.{action}", f"job:{before.id}", ip=ip,
        before=_audit_values(action, before), after={**_audit_values(action, after), **part_of},
    )  # fmt: skip


def _audit_values(action: BulkAction, job: JobDetails) -> dict[str, Any]:
    if action is BulkAction.PRIORITY:
        return {"priority": job.priority}
    return {"state": state_of(job)}


def _wrong_state(action: BulkAction, state: str) -> PermanentError:
    why = f"The job is {state}: there is nothing to {action}."
    if action is BulkAction.PRIORITY:
        why = f"The job is {state}: its priority no longer has an effect."
    return PermanentError("INVALID_STATE", why, state=state)


async def kickoff_job(
    runtime: Runtime, transaction: Transaction, caller: Caller, job_id: UUID, duration_ms: int
) -> int:
    """Work on the job for at most so long; return how many slices were done."""
    async with transaction() as conn:
        job = await get_job(conn, job_id)
    state = state_of(job)
    if state == "paused":
        raise PermanentError("INVALID_STATE", "The job is paused. Resume it first.", state=state)
    slices = 0
    if job.state not in TERMINAL_JOB_STATES:
        slices = await kickoff(runtime, job_id, duration_ms)
    async with transaction() as conn:
        await audit(
            conn, job.org_id, caller.who.user_id, "job.kickoff", f"job:{job_id}", ip=caller.ip,
            after={"slices": slices},
        )  # fmt: skip
    return slices
