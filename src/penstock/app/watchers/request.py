"""Scans that a user or a schedule asks for."""

from __future__ import annotations

import time
from uuid import UUID

from penstock.app.watchers.scan import ScanResult, scan
from penstock.app.watchers.watchers import MOST_WATCHERS, get_watcher
from penstock.engine.runtime import Runtime
from penstock.store.accounts.audit_log import Caller, audit
from penstock.store.database import Transaction
from penstock.store.watchers import watchers as store

_REQUEST_SECONDS = 60.0


async def scan_on_request(
    runtime: Runtime, transaction: Transaction, caller: Caller, watcher_id: UUID | None
) -> ScanResult:
    """Scan one watcher that the caller may see, or all enabled ones of the caller's org. Jobs are
    created in the name of each watcher's creator."""
    who = caller.who
    async with transaction() as conn:
        if watcher_id is not None:
            wanted = [(await get_watcher(conn, watcher_id)).id]
        else:
            found = await store.list_watchers(conn, None, MOST_WATCHERS, who.org_id)
            wanted = [one.id for one in found if one.enabled]
        target = "watchers" if watcher_id is None else f"watcher:{watcher_id}"
        await audit(conn, who.org_id, who.user_id, "watcher.scan", target, ip=caller.ip)
    until = time.monotonic() + _REQUEST_SECONDS
    total = ScanResult()
    for one in wanted:
        total.add(await scan(runtime, one, max(0.0, until - time.monotonic())))
    return total
