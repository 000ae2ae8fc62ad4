"""Undo an import: products as they were before the job, but for those changed since."""

from __future__ import annotations

import time
from collections.abc import Callable
from contextlib import AbstractAsyncContextManager
from typing import Any
from uuid import UUID

from penstock.store import jobs
from penstock.store.database import Connection
from penstock.store.products import Undone, undo_some

_AT_ONCE = 500
_MOST_SHOWN = 1000
_FIRST = UUID(int=0)

Transaction = Callable[[], AbstractAsyncContextManager[Connection]]


async def undo(transaction: Transaction, job_id: UUID, seconds: float) -> dict[str, Any]:
    """Put back what a job did, in short transactions, for at most so long; `more` says that there
    is more to undo. What is undone stays so, whatever happens in between."""
    deadline = time.monotonic() + seconds
    total, after = Undone(), _FIRST
    more = True
    while more and time.monotonic() < deadline:
        async with transaction() as conn:
            some = await undo_some(conn, job_id, after, _AT_ONCE)
            changed = some.restored + some.deleted
            if changed:
                told = {"undone": changed, "refused": len(some.refused)}
                await jobs.tell(conn, job_id, "job.status", told, None)
        total.restored += some.restored
        total.deleted += some.deleted
        total.refused += some.refused
        more = some.looked_at == _AT_ONCE
        after = some.last or after
    return {
        "restored": total.restored,
        "deleted": total.deleted,
        "refusedCount": len(total.refused),
        "refused": total.refused[:_MOST_SHOWN],
        "more": more,
    }
