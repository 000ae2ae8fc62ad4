"""Create and change orgs."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from penstock.model.errors import PermanentError
from penstock.store.accounts import accounts
from penstock.store.accounts.accounts import OrgRow
from penstock.store.accounts.audit_log import Caller, audit
from penstock.store.database import Connection

_AUDITED = ("plan", "weight", "max_slices", "shared_jobs", "catalog_key")


@dataclass(frozen=True, slots=True)
class OrgChanges:
    """New settings of an org; None keeps a setting, 0 slices remove the cap."""

    plan: str | None = None
    max_slices: int | None = None
    shared_jobs: bool | None = None
    catalog_key: str | None = None


async def create_org(conn: Connection, caller: Caller, name: str, plan: str) -> OrgRow:
    if await accounts.knows_org(conn, name):
        raise PermanentError("ALREADY_EXISTS", f"There is an org {name!r} already.")
    org = await accounts.ensure_org(conn, name, plan)
    await audit(
        conn, org.id, caller.who.user_id, "org.create", f"org:{name}", ip=caller.ip,
        after={"plan": plan},
    )  # fmt: skip
    return org


async def change_org(conn: Connection, caller: Caller, name: str, changes: OrgChanges) -> OrgRow:
    before = await accounts.find_org(conn, name)
    after = await accounts.change_org(
        conn, before.id, changes.plan, changes.max_slices, changes.shared_jobs,
        changes.catalog_key,
    )  # fmt: skip
    await audit(
        conn, before.id, caller.who.user_id, "org.change", f"org:{name}", ip=caller.ip,
        before=_audited(before), after=_audited(after),
    )  # fmt: skip
    return after


def _audited(org: OrgRow) -> dict[str, Any]:
    return {name: getattr(org, name) for name in _AUDITED}
