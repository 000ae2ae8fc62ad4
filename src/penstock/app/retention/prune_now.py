"""Delete or count what is too old, because an admin asks for it."""

from __future__ import annotations

from penstock.app.retention.dry_run import count_prunable
from penstock.app.retention.prune import PruneConfig, Pruner, PruneResult
from penstock.engine.runtime import Runtime
from penstock.store.accounts.audit_log import Caller, audit


async def prune_now(
    runtime: Runtime, caller: Caller, org_id: int | None, seconds: float, *, dry_run: bool
) -> PruneResult:
    """Of all orgs, or of one. A real run is audited with what it deleted."""
    if dry_run:
        return PruneResult(await count_prunable(runtime, org_id))
    pruned = await Pruner(runtime, seconds, PruneConfig()).run(org_id)
    async with runtime.db.transaction() as conn:
        await audit(
            conn, org_id, caller.who.user_id, "retention.prune",
            "installation" if org_id is None else f"org:{org_id}", ip=caller.ip,
            after=dict(pruned.counts),
        )  # fmt: skip
    return pruned
