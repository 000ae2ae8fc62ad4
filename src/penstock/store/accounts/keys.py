"""List and revoke API keys. `accounts` creates them and finds their owners."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime

from penstock.store.database import Connection
from penstock.store.queries import load

_sql = load("keys")
NEWEST = 2**62


@dataclass(frozen=True, slots=True)
class KeyRow:
    """An API key, without its hash."""

    id: int
    org_id: int
    user_id: int
    email: str
    prefix: str
    name: str
    scopes: Sequence[str]
    created_at: datetime
    expires_at: datetime | None
    revoked_at: datetime | None
    last_used_at: datetime | None


async def get(conn: Connection, key_id: int) -> KeyRow | None:
    row = await conn.fetchrow(_sql.get_key, key_id)
    return None if row is None else KeyRow(**row)


async def list_keys(conn: Connection, before: int, user_id: int | None, limit: int) -> list[KeyRow]:
    return [KeyRow(**row) for row in await conn.fetch(_sql.list_keys, before, user_id, limit)]


async def revoke(conn: Connection, key_id: int) -> bool:
    """Return False if it had been revoked already."""
    return await conn.fetchval(_sql.revoke_key, key_id) is not None
