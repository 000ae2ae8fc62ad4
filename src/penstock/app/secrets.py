"""Seal stored secrets with the newest key."""

from __future__ import annotations

from penstock.model.ports import Sealer
from penstock.store import webhooks
from penstock.store.accounts.audit_log import Caller, audit
from penstock.store.database import Transaction


async def reseal(transaction: Transaction, sealer: Sealer, caller: Caller) -> int:
    """Seal again, chunk by chunk, every secret that has an older key; return how many had one."""
    changed, after = 0, None
    while True:
        async with transaction() as conn:
            some, after = await webhooks.reseal(conn, sealer, after)
            changed += some
        if after is None:
            break
    async with transaction() as conn:
        await audit(
            conn, None, caller.who.user_id, "secrets.reseal", "secrets", ip=caller.ip,
            after={"resealed": changed},
        )  # fmt: skip
    return changed
