"""How long an org keeps things: show and change."""

from __future__ import annotations

from dataclasses import dataclass

from penstock.engine.runtime import Runtime
from penstock.model.errors import NotThere
from penstock.model.retention.policy import RetentionOverrides, RetentionPolicy, parse_policy
from penstock.store.accounts.audit_log import Caller, audit
from penstock.store.database import Connection
from penstock.store.retention import retention as store


@dataclass(frozen=True, slots=True)
class OrgRetention:
    """The policy of the installation, what the org sets, and what follows."""

    org: str
    installation: RetentionPolicy
    overrides: RetentionOverrides

    @property
    def effective(self) -> RetentionPolicy:
        return self.installation.with_overrides(self.overrides)


def installation_policy(runtime: Runtime) -> RetentionPolicy:
    return parse_policy(runtime.settings.retention)


async def get_retention(runtime: Runtime, conn: Connection, org_id: int) -> OrgRetention:
    found = await store.policies(conn, org_id)
    if not found:
        raise NotThere("RESOURCE_NOT_FOUND", "There is no such org.")
    return OrgRetention(found[0].name, installation_policy(runtime), found[0].overrides)


async def set_retention(
    runtime: Runtime, conn: Connection, caller: Caller, org_id: int, overrides: RetentionOverrides
) -> OrgRetention:
    before = await get_retention(runtime, conn, org_id)
    await store.set_policy(conn, org_id, overrides)
    await audit(
        conn, org_id, caller.who.user_id, "retention.change", f"org:{org_id}", ip=caller.ip,
        before=before.overrides.model_dump(mode="json", exclude_none=True),
        after=overrides.model_dump(mode="json", exclude_none=True),
    )  # fmt: skip
    return await get_retention(runtime, conn, org_id)
