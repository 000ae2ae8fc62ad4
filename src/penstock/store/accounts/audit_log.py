"""Reading and deleting audit entries. `accounts.audit` writes one with each change."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from penstock.store.database import Connection
from penstock.store.queries import load

_sql = load("audit_log")
NEWEST = 2**62


@dataclass(frozen=True, slots=True)
class AuditFilter:
    """Filter of audit entries; None matches any value."""

    org_id: int | None = None
    user_id: int | None = None
    action: str | None = None
    target: str | None = None


async def listed(conn: Connection, wanted: AuditFilter, before: int, limit: int) -> list[Any]:
    """Uses the most selective index, and filters the rest."""
    if wanted.target is not None:
        statement = _sql.of_target
    elif wanted.user_id is not None:
        statement = _sql.of_user
    elif wanted.action is not None:
        statement = _sql.of_action
    elif wanted.org_id is not None:
        statement = _sql.of_org
    else:
        statement = _sql.of_all
    return await conn.fetch(
        statement, before, wanted.org_id, wanted.user_id, wanted.action, wanted.target, limit
    )


async def drop_old(conn: Connection, days: float, chunk: int) -> int:
    """Answers the number of deleted entries."""
    done = await conn.execute(_sql.drop_old, days, chunk)
    return int(done.rpartition(" ")[2])
