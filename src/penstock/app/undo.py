"""Undo an import or a crawl: products and job postings as they were before the job, but for those
changed since.

Jobs that changed the same product are undone in the reverse order in which they changed it: the
earlier one is refused for that product until the later one is undone. Undoing twice does nothing
more; to have a job's products back, run its rows again. A job whose rows ran again after another
job changed the product is undone in two steps, the other one between them.
"""

from __future__ import annotations

import time
from datetime import datetime
from typing import Any
from uuid import UUID

from penstock.app.job_control import get_job, state_of
from penstock.engine.runtime import Runtime
from penstock.model.errors import NotThere, PermanentError
from penstock.model.states import TERMINAL_JOB_STATES
from penstock.store.accounts.audit_log import Caller, audit
from penstock.store.catalog.products import Undone, undo_some
from penstock.store.crawl.postings import UndonePostings
from penstock.store.crawl.postings import undo_some as undo_postings
from penstock.store.database import Connection, Transaction
from penstock.store.jobs import jobs, reprocess

_AT_ONCE = 500
_MOST_SHOWN = 1000
FIRST = UUID(int=0)


async def undo_job(
    runtime: Runtime, transaction: Transaction, caller: Caller, job_id: UUID, seconds: float, *,
    dry_run: bool = False, after: UUID = FIRST,
) -> dict[str, Any]:  # fmt: skip
    """Undo a job that has ended, as `undo` does, and audit it."""
    async with transaction() as conn:
        job = await get_job(conn, job_id)
    _require_ended(job.state, state_of(job))
    _require_images(job.changes_pruned_at)
    done = await undo(runtime, transaction, job_id, seconds, dry_run=dry_run, after=after)
    if not dry_run:
        details = {name: done[name] for name in ("restored", "deleted", "refusedCount", "more")}
        async with transaction() as conn:
            await audit(
                conn, job.org_id, caller.who.user_id, "job.undo", f"job:{job_id}",
                ip=caller.ip, after=details,
            )  # fmt: skip
    return done


async def undo(
    runtime: Runtime, transaction: Transaction, job_id: UUID, seconds: float, *,
    dry_run: bool = False, after: UUID = FIRST,
) -> dict[str, Any]:  # fmt: skip
    """Undo what a job did, in short transactions and for a limited time. `more` says that there is
    more to undo, after the product `last`. If this is interrupted, what was undone stays undone.
    ``dry_run`` only reports what would happen."""
    deadline = time.monotonic() + seconds
    total = Undone()
    postings = 0
    more = True
    while more and time.monotonic() < deadline:
        async with transaction() as conn:
            some = await undo_some(conn, job_id, after, _AT_ONCE, dry_run=dry_run)
            if not dry_run:
                await _record(conn, job_id, some)
                runtime.failpoints.reach("undo_before_commit")
        if not dry_run:
            runtime.failpoints.reach("undo_after_commit")
        total.restored += some.restored
        total.deleted += some.deleted
        total.refused += some.refused
        more = some.looked_at == _AT_ONCE
        after = some.last or after
    if not more:
        undone, more = await _undo_postings(runtime, transaction, job_id, deadline, dry_run=dry_run)
        total.restored += undone.restored
        total.deleted += undone.deleted
        total.refused += undone.refused
        postings = undone.restored + undone.deleted
    return {
        "restored": total.restored,
        "deleted": total.deleted,
        "postings": postings,
        "refusedCount": len(total.refused),
        "refused": total.refused[:_MOST_SHOWN],
        "more": more,
        "last": after,
    }


async def _undo_postings(
    runtime: Runtime, transaction: Transaction, job_id: UUID, deadline: float, *, dry_run: bool
) -> tuple[UndonePostings, bool]:
    """The same for job postings, after the products; answers whether there are more. Without
    ``dry_run`` those that are undone are marked, so that the next call continues after them."""
    total, after, more = UndonePostings(), FIRST, True
    while more and (dry_run or time.monotonic() < deadline):
        async with transaction() as conn:
            some = await undo_postings(conn, job_id, after, _AT_ONCE, dry_run=dry_run)
            if not dry_run:
                await _record(conn, job_id, some)
        total.restored += some.restored
        total.deleted += some.deleted
        total.refused += some.refused
        more, after = some.looked_at == _AT_ONCE, some.last or after
    return total, more


async def _record(conn: Connection, job_id: UUID, some: Undone | UndonePostings) -> None:
    """Record the undo under the lock of the job, for which a reprocess waits: a job that runs is
    never undone."""
    job = await reprocess.lock(conn, job_id)
    if job is None:
        raise NotThere("NOT_FOUND", f"There is no job {job_id}.")
    _require_ended(job.state, job.state)
    changed = some.restored + some.deleted
    if changed:
        await reprocess.mark_undone(conn, job_id)
        details = {"undone": changed, "refused": len(some.refused)}
        await jobs.add_event(conn, job_id, "job.status", details, None)


def _require_images(pruned_at: datetime | None) -> None:
    if pruned_at is not None:
        raise PermanentError(
            "INVALID_STATE",
            "The job can no longer be undone: what its products were before was deleted on"
            f" {pruned_at:%Y-%m-%d}, because it was older than the retention of your org.",
            prunedAt=pruned_at.isoformat(),
        )


def _require_ended(state: str, shown: str) -> None:
    if state not in TERMINAL_JOB_STATES:
        raise PermanentError(
            "INVALID_STATE",
            f"The job is {shown}. Cancel it or let it end before it is undone.",
            state=shown,
        )
