"""Things of an org that its users share and only some of them change: shops, sources, watchers."""

from __future__ import annotations

from typing import Any, Protocol
from uuid import UUID

from penstock.model.errors import NotAllowed
from penstock.store.accounts.audit_log import Caller, audit
from penstock.store.database import Connection


class OwnedRow(Protocol):
    """A row with the org that it belongs to and the user who created it."""

    @property
    def id(self) -> UUID: ...
    @property
    def org_id(self) -> int: ...
    @property
    def user_id(self) -> int: ...


def may_change(caller: Caller, row: OwnedRow) -> bool:
    """Admins and the creator; in an org whose users share their jobs, all members."""
    who = caller.who
    return who.writes and who.scope.owner_id in (None, row.user_id)


def is_creator_or_admin(caller: Caller, row: OwnedRow) -> bool:
    """For what runs with the rights of its creator."""
    who = caller.who
    return who.writes and (who.role == "admin" or who.user_id == row.user_id)


def require_change(allowed: bool, kind: str, change: str = "change it") -> None:
    if not allowed:
        raise NotAllowed(
            "INSUFFICIENT_PERMISSIONS",
            f"Only the user who created this {kind}, or an admin, may {change}.",
        )


async def audit_owned(
    conn: Connection, caller: Caller, kind: str, row: OwnedRow, verb: str, *, before: Any = None,
    after: Any = None,
) -> None:  # fmt: skip
    """Record the change ``kind``.``verb`` of a row."""
    await audit(
        conn, row.org_id, caller.who.user_id, f"{kind}.{verb}", f"{kind}:{row.id}", ip=caller.ip,
        before=before, after=after,
    )  # fmt: skip
