"""List and revoke API keys. `accounts` creates and resolves them."""

from __future__ import annotations

from typing import Any

from penstock.store.accounts.accounts import audit
from penstock.store.database import Connection
from penstock.store.queries import load

_sql = load("keys")
NEWEST = 2**62


async def get(conn: Connection, key_id: int) -> Any:
    return await conn.fetchrow(_sql.get_key, key_id)


async def listed(conn: Connection, before: int, user_id: int | None, limit: int) -> list[Any]:
    return await conn.fetch(_sql.list_keys, before, user_id, limit)


async def revoke(conn: Connection, key: Any, by_user: int, ip: str | None) -> bool:
    """False if the key was revoked before."""
    if await conn.fetchval(_sql.revoke_key, key["id"]) is None:
        return False
    told = {"user": key["user_id"], "name": key["name"]}
    await audit(conn, key["org_id"], by_user, "key.revoke", f"key:{key['id']}", ip=ip, before=told)
    return True
