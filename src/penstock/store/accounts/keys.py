"""List and revoke API keys. `accounts` creates them and finds their owners."""

from __future__ import annotations

from typing import Any

from penstock.store.database import Connection
from penstock.store.queries import load

_sql = load("keys")
NEWEST = 2**62


async def get(conn: Connection, key_id: int) -> Any:
    return await conn.fetchrow(_sql.get_key, key_id)


async def list_keys(conn: Connection, before: int, user_id: int | None, limit: int) -> list[Any]:
    return await conn.fetch(_sql.list_keys, before, user_id, limit)


async def revoke(conn: Connection, key_id: int) -> bool:
    """Return False if it had been revoked already."""
    return await conn.fetchval(_sql.revoke_key, key_id) is not None
