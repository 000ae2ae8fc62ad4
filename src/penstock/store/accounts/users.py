"""Users and their roles."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime

from penstock.model.text.emails import fold_email
from penstock.store.database import Connection
from penstock.store.queries import load

_sql = load("users")


@dataclass(frozen=True, slots=True)
class UserRow:
    """A user with the name of its org. Without a password the user has keys only."""

    id: int
    org_id: int
    email: str
    role: str
    org: str
    created_at: datetime
    disabled_at: datetime | None
    password_changed_at: datetime | None


async def get(conn: Connection, user_id: int) -> UserRow | None:
    row = await conn.fetchrow(_sql.get_user, user_id)
    return None if row is None else UserRow(**row)


async def list_users(
    conn: Connection, after: int, org: str | None, email: str | None, limit: int
) -> list[UserRow]:
    folded = None if email is None else fold_email(email)
    rows = await conn.fetch(_sql.list_users, after, org, folded, limit)
    return [UserRow(**row) for row in rows]


async def set_role(conn: Connection, user_id: int, role: str) -> None:
    await conn.execute(_sql.set_role, user_id, role)


async def set_disabled(conn: Connection, user_id: int, disabled: bool) -> None:
    await conn.execute(_sql.disable_user if disabled else _sql.enable_user, user_id)


async def has_other_admin(conn: Connection, user_id: int) -> bool:
    return bool(await conn.fetchval(_sql.has_other_admin, user_id))


async def lock_admins(conn: Connection) -> None:
    """Wait for other transactions that create or change admins, until this one ends."""
    await conn.execute(_sql.lock_admins)
