"""Users and their roles."""

from __future__ import annotations

from typing import Any

from penstock.model.text.emails import fold_email
from penstock.store.database import Connection
from penstock.store.queries import load

_sql = load("users")


async def get(conn: Connection, user_id: int) -> Any:
    return await conn.fetchrow(_sql.get_user, user_id)


async def list_users(
    conn: Connection, after: int, org: str | None, email: str | None, limit: int
) -> list[Any]:
    folded = None if email is None else fold_email(email)
    return await conn.fetch(_sql.list_users, after, org, folded, limit)


async def set_role(conn: Connection, user_id: int, role: str) -> None:
    await conn.execute(_sql.set_role, user_id, role)


async def set_disabled(conn: Connection, user_id: int, disabled: bool) -> None:
    await conn.execute(_sql.disable_user if disabled else _sql.enable_user, user_id)


async def has_other_admin(conn: Connection, user_id: int) -> bool:
    return bool(await conn.fetchval(_sql.has_other_admin, user_id))


async def lock_admins(conn: Connection) -> None:
    """Wait for other transactions that create or change admins, until this one ends."""
    await conn.execute(_sql.lock_admins)
