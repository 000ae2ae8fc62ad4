"""Reading who changed what. Writing it: `accounts.audit`, with each change."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from penstock.store.database import Connection
from penstock.store.queries import load

_sql = load("audits")
NEWEST = 2**62


@dataclass(frozen=True, slots=True)
class AuditFilter:
    """None: any."""

    org_id: int | None = None
    user_id: int | None = None
    action: str | None = None
    target: str | None = None


async def listed(conn: Connection, wanted: AuditFilter, before: int, limit: int) -> list[Any]:
    return await conn.fetch(
        _sql.list_audit, before, wanted.org_id, wanted.user_id, wanted.action, wanted.target, limit
    )
