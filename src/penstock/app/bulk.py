"""Start and abort operations over many jobs, and reprocess one job.

`bulk_operations` carries them out in the background.
"""

from __future__ import annotations

import time
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any
from uuid import UUID

from penstock.app.job_control import get_job, state_of
from penstock.engine import reprocess
from penstock.engine.runtime import Runtime
from penstock.model.bulk import BulkAction, JobFilter, percent
from penstock.model.errors import PermanentError
from penstock.model.ids import new_id
from penstock.model.reprocess import Selection
from penstock.store.accounts.accounts import Principal
from penstock.store.accounts.audit_log import audit
from penstock.store.database import Connection, from_json
from penstock.store.jobs import bulk
from penstock.store.jobs.bulk import NewOperation, OperationRow, Reach

# Jobs looked at by one statement, however few of them match.
WALK = 5000
MOST_COUNTED = 10_000
_COUNT_SECONDS = 1.0


@dataclass(frozen=True, slots=True)
class JobCount:
    """The number of jobs that match; ``capped``: there may be more."""

    count: int
    capped: bool


def reach_of(who: Principal, org_id: int | None = None) -> Reach:
    """The jobs that this principal may change; an admin may choose one org."""
    scope = who.scope
    return Reach(org_id if scope.admin else scope.org_id, scope.owner_id)


async def count(conn: Connection, reach: Reach, wanted: JobFilter) -> JobCount:
    """Count the jobs that match, within the time of a request."""
    asked_at = await bulk.now(conn)
    after, found, deadline = bulk.NO_JOB, 0, time.monotonic() + _COUNT_SECONDS
    while True:
        walked = await bulk.walk(conn, reach, wanted, after, asked_at, WALK)
        found += len(walked.ids)
        if found >= MOST_COUNTED:
            return JobCount(MOST_COUNTED, found > MOST_COUNTED or walked.last is not None)
        if walked.last is None:
            return JobCount(found, False)
        if time.monotonic() > deadline:
            return JobCount(found, True)
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
) -> tuple[UUID, JobCount]:
    """Store the operation and audit it; it begins after the commit."""
    counted = await count(conn, reach, wanted)
    operation = NewOperation(
        new_id(), who.org_id, who.user_id, action, wanted, reach, params, ip,
        counted.count, counted=not counted.capped,
    )  # fmt: skip
    await bulk.add(conn, operation)
    await audit(
        conn, who.org_id, who.user_id, f"bulk.{action}", f"bulk:{operation.id}", ip=ip,
        after={"filter": wanted.as_json(), "params": dict(params)},
    )  # fmt: skip
    return operation.id, counted


async def abort(conn: Connection, who: Principal, operation_id: UUID, ip: str | None) -> bool:
    """Stop before the next job; False if it had ended. Waits for the step under way."""
    operation = await bulk.lock(conn, operation_id)
    if operation is None or not operation.live:
        return False
    if operation.action is BulkAction.EDIT:
        raise PermanentError(
            "INVALID_STATE", "An edit cannot be aborted: rows would keep results of other cells."
            " Undo the edit when it has ended.", state=operation.state,
        )  # fmt: skip
    if operation.target is not None:
        # Items that are reopened already run anyway.
        await reprocess.stop_reopening(conn, operation.target, operation.id)
        await bulk.note(conn, operation.id, operation.target, changed=True)
    await bulk.end(conn, operation_id, "aborted")
    await audit(
        conn, operation.org_id, who.user_id, "bulk.abort", f"bulk:{operation_id}", ip=ip,
        before={"state": operation.state}, after={"state": "aborted"},
    )  # fmt: skip
    return True


@dataclass(frozen=True, slots=True)
class Reprocessed:
    """``operation_id`` is the bulk operation that continues with the items that one transaction
    could not hold."""

    items: int
    left_out: int
    lane: str | None
    operation_id: UUID | None = None


async def reprocess_job(
    runtime: Runtime,
    conn: Connection,
    who: Principal,
    job_id: UUID,
    selection: Selection,
    ip: str | None = None,
) -> Reprocessed:
    """Reprocess one job, audited. For a large job this starts a bulk operation."""
    before = await get_job(conn, job_id)
    operation_id = new_id()
    reopened = await reprocess.begin(
        runtime, conn, job_id, selection, holder=operation_id, user_id=who.user_id
    )
    if reopened.lane is None:
        return Reprocessed(0, reopened.left_out, None)
    if reopened.rest is not None:
        assert reopened.asked_at is not None
        await bulk.add(
            conn,
            NewOperation(
                operation_id, before.org_id, who.user_id, BulkAction.REPROCESS,
                JobFilter(job_ids=(job_id,)), reach_of(who), selection.as_json(), ip, 1,
                target=job_id, target_selection=bulk.frozen(reopened.rest, reopened.asked_at),
            ),
        )  # fmt: skip
    await audit(
        conn, before.org_id, who.user_id, "job.reprocess", f"job:{job_id}", ip=ip,
        before={"state": state_of(before)},
        after={"state": state_of(await get_job(conn, job_id)), **selection.as_json()},
    )  # fmt: skip
    held = operation_id if reopened.rest is not None else None
    return Reprocessed(reopened.items, reopened.left_out, reopened.lane, held)


def shape_of(row: OperationRow) -> dict[str, Any]:
    """An operation as API and command line show it."""
    handled = row.changed + row.left_out + row.failed
    is_edit = row.action == BulkAction.EDIT and row.target_total is not None
    selection = from_json(row.target_selection) or {}
    in_pass = selection.get("pass", "write" if is_edit else None)
    return {
        "id": str(row.id),
        "action": row.action,
        "filter": from_json(row.filter),
        "params": from_json(row.params),
        "org": row.org,
        "userId": row.user_id,
        "state": row.state,
        "matched": row.matched,
        "changed": row.changed,
        "leftOut": row.left_out,
        "failed": row.failed,
        "errors": from_json(row.errors),
        "items": row.items,
        "itemsLeftOut": row.items_left_out,
        "percent": percent(
            row.state, row.matched, handled, row.target_row, row.target_total, in_pass
        ),
        "askedAt": row.asked_at,
        "updatedAt": row.updated_at,
        "finishedAt": row.finished_at,
    }
