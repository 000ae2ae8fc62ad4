"""Seal stored secrets with the newest key."""

from __future__ import annotations

from penstock.model.ports import Sealer
from penstock.store import webhooks
from penstock.store.accounts.audit_log import Caller, audit
from penstock.store.database import Transaction
from penstock.store.research import secrets as org_secrets
from penstock.store.shops import connections
from penstock.store.sources import sources
from penstock.store.watchers import watchers

# Every table with sealed values.
_RESEALERS = (
    webhooks.reseal, connections.credentials.reseal, sources.credentials.reseal,
    org_secrets.reseal, watchers.credentials.reseal,
)  # fmt: skip


async def reseal(transaction: Transaction, sealer: Sealer, caller: Caller) -> int:
    """Seal again, chunk by chunk, every secret that has an older key; return how many had one."""
    changed = 0
    for reseal_some in _RESEALERS:
        after = None
        while True:
            async with transaction() as conn:
                some, after = await reseal_some(conn, sealer, after)
                changed += some
            if after is None:
                break
    async with transaction() as conn:
        await audit(
            conn, None, caller.who.user_id, "secrets.reseal", "secrets", ip=caller.ip,
            after={"resealed": changed},
        )  # fmt: skip
    return changed
