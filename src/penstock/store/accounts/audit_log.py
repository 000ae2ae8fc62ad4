"""The audit log: one row for each change that a user or an operator made."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime

from penstock.store.accounts.accounts import Principal
from penstock.store.database import Connection, Json, to_json
from penstock.store.queries import load

_sql = load("audit_log")
_jobs = load("jobs")
NEWEST = 2**62


@dataclass(frozen=True, slots=True)
class Caller:
    """The principal that asks for a change, and the address it asks from."""

    who: Principal
    ip: str | None = None


@dataclass(frozen=True, slots=True)
class AuditEntry:
    """A change to record."""

    org_id: int | None
    user_id: int | None
    action: str
    target: str
    ip: str | None = None
    before: Json = None
    after: Json = None


async def audit(
    conn: Connection, org_id: int | None, user_id: int | None, action: str, target: str, *,
    ip: str | None = None, before: Json = None, after: Json = None,
) -> None:  # fmt: skip
    """Record a change in the transaction that makes it."""
    await audit_all(conn, [AuditEntry(org_id, user_id, action, target, ip, before, after)])


async def audit_all(conn: Connection, entries: Sequence[AuditEntry]) -> None:
    """Record changes in the transaction that makes them."""
    if entries:
        rows = [
            (e.org_id, e.user_id, e.action, e.target, e.ip, _json(e.before), _json(e.after))
            for e in entries
        ]
        await conn.execute(_jobs.add_audits, *zip(*rows, strict=True))


def _json(value: Json) -> str | None:
    return None if value is None else to_json(value)


@dataclass(frozen=True, slots=True)
class AuditRow:
    """A recorded change. ``before`` and ``after`` are JSON."""

    id: int
    org_id: int | None
    org: str | None
    user_id: int | None
    email: str | None
    action: str
    target: str
    ip: str | None
    before: str | None
    after: str | None
    created_at: datetime


@dataclass(frozen=True, slots=True)
class AuditFilter:
    """Which entries to list; None matches any value."""

    org_id: int | None = None
    user_id: int | None = None
    action: str | None = None
    target: str | None = None


async def list_entries(
    conn: Connection, wanted: AuditFilter, before: int, limit: int
) -> list[AuditRow]:
    """Newest first. Uses the index of the most selective condition and filters by the others."""
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
    rows = await conn.fetch(
        statement, before, wanted.org_id, wanted.user_id, wanted.action, wanted.target, limit
    )
    return [AuditRow(**row) for row in rows]


async def drop_old(conn: Connection, days: float, chunk: int) -> int:
    """Return how many entries were deleted."""
    done = await conn.execute(_sql.drop_old, days, chunk)
    return int(done.rpartition(" ")[2])
