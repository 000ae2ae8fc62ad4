"""Connected shops, their credentials sealed."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime
from typing import Any
from uuid import UUID

import orjson

from penstock.model.errors import NotThere
from penstock.model.ports import Sealer
from penstock.model.shops.provider import ShopConnection
from penstock.model.text.redaction import register_secret
from penstock.store.accounts.accounts import Principal, principal_from
from penstock.store.database import Connection, Database, from_json, to_json
from penstock.store.queries import load

_sql = load("connections")
_RESEALED_AT_ONCE = 100
_MIN_SECRET = 16


@dataclass(frozen=True, slots=True)
class NewConnection:
    id: UUID
    org_id: int
    user_id: int
    provider: str
    name: str
    address: str
    sealed_credentials: bytes


@dataclass(frozen=True, slots=True)
class ConnectionRow:
    """A connection without its credentials. ``details`` and ``error`` are JSON."""

    id: UUID
    org_id: int
    user_id: int
    provider: str
    name: str
    address: str
    details: str
    tested_at: datetime | None
    error: str | None
    synced_at: datetime | None
    last_job: UUID | None
    next_since: datetime | None
    created_at: datetime
    updated_at: datetime
    org: str


def owner_of_credentials(connection_id: UUID) -> str:
    """The owner that credentials are sealed with."""
    return f"connection:{connection_id}"


def seal_credentials(sealer: Sealer, connection_id: UUID, given: Mapping[str, str]) -> bytes:
    return sealer.seal(orjson.dumps(dict(given)), owner_of_credentials(connection_id))


async def creator_of(conn: Connection, connection_id: UUID) -> Principal | None:
    """The user in whose name a shop's messages are handled."""
    row = await conn.fetchrow(_sql.creator_of, connection_id)
    return None if row is None else principal_from(row)


async def add_connection(conn: Connection, new: NewConnection) -> None:
    await conn.execute(
        _sql.add_connection, new.id, new.org_id, new.user_id, new.provider, new.name, new.address,
        new.sealed_credentials,
    )  # fmt: skip


async def count_connections(conn: Connection, org_id: int, most: int) -> int:
    return int(await conn.fetchval(_sql.count_connections, org_id, most))


async def list_connections(
    conn: Connection, after: UUID | None, limit: int, org_id: int | None = None
) -> list[ConnectionRow]:
    """Oldest first."""
    rows = await conn.fetch(_sql.list_connections, after, org_id, limit)
    return [ConnectionRow(**row) for row in rows]


async def get_connection(conn: Connection, connection_id: UUID) -> ConnectionRow | None:
    row = await conn.fetchrow(_sql.get_connection, connection_id)
    return None if row is None else ConnectionRow(**row)


async def rename_connection(conn: Connection, connection_id: UUID, name: str) -> bool:
    return bool(await conn.fetch(_sql.rename_connection, connection_id, name))


async def rotate_credentials(conn: Connection, connection_id: UUID, sealed: bytes) -> bool:
    return bool(await conn.fetch(_sql.rotate_credentials, connection_id, sealed))


async def delete_connection(conn: Connection, connection_id: UUID) -> bool:
    return bool(await conn.fetch(_sql.delete_connection, connection_id))


async def save_test(
    conn: Connection, connection_id: UUID, *, details: Mapping[str, Any] | None,
    error: Mapping[str, Any] | None,
) -> bool:  # fmt: skip
    """``details`` None keeps what an earlier test found out."""
    return bool(
        await conn.fetch(
            _sql.save_test, connection_id, None if details is None else to_json(details),
            None if error is None else to_json(error),
        )
    )  # fmt: skip


async def save_sync(
    conn: Connection, org_id: int, connection_id: UUID, job_id: UUID, next_since: datetime | None
) -> None:
    """An import of the connection is complete; a deleted connection stays as it is."""
    await conn.execute(_sql.save_sync, connection_id, org_id, job_id, next_since)


async def count_products(conn: Connection, org_id: int, source: str, most: int) -> int:
    return int(await conn.fetchval(_sql.count_products, org_id, source, most))


async def open_connection(
    conn: Connection, sealer: Sealer, connection_id: UUID
) -> ShopConnection | None:
    """The connection with its credentials, if it is in the scope of ``conn``."""
    row = await conn.fetchrow(_sql.get_sealed, connection_id)
    if row is None:
        return None
    opened = sealer.open(row["credentials"], owner_of_credentials(connection_id))
    credentials: dict[str, str] = orjson.loads(opened)
    for secret in credentials.values():
        # Shorter ones could be ordinary words, which would disappear from all logs.
        if len(secret) >= _MIN_SECRET:
            register_secret(secret)
    return ShopConnection(
        row["id"], row["org_id"], row["provider"], row["address"], credentials, row["name"],
        from_json(row["details"]), row["next_since"],
    )  # fmt: skip


class StoredConnections:
    """Implements `model.ports.Connections`."""

    def __init__(self, db: Database, sealer: Sealer) -> None:
        self._db = db
        self._sealer = sealer

    async def open(self, org_id: int, connection_id: UUID) -> ShopConnection:
        async with self._db.acquire() as conn:
            found = await open_connection(conn, self._sealer, connection_id)
        # Workers see all orgs, so the org of the job is compared here.
        if found is None or found.org_id != org_id:
            raise NotThere("RESOURCE_NOT_FOUND", "The connection to this shop was deleted.")
        return found


async def reseal(conn: Connection, sealer: Sealer, after: UUID | None) -> tuple[int, UUID | None]:
    """Seal the next credentials with the newest key. Return how many changed, and the last id."""
    rows = await conn.fetch(_sql.sealed_credentials, after, _RESEALED_AT_ONCE)
    changed = 0
    for row in rows:
        if sealer.is_current(row["credentials"]):
            continue
        owner = owner_of_credentials(row["id"])
        fresh = sealer.seal(sealer.open(row["credentials"], owner), owner)
        await conn.execute(_sql.reseal, row["id"], fresh)
        changed += 1
    return changed, rows[-1]["id"] if rows else None


async def newest_opens(conn: Connection, sealer: Sealer) -> bool:
    """Try to open the newest stored credentials; False if there are none."""
    row = await conn.fetchrow(_sql.newest_credentials)
    if row is None:
        return False
    sealer.open(row["credentials"], owner_of_credentials(row["id"]))
    return True


async def surplus_imports(
    conn: Connection, org_id: int, done: int, failed: int, most: int
) -> list[UUID]:
    """Ended imports beyond the newest ``done`` and ``failed`` ones of each shop; 0: all are
    kept."""
    rows = await conn.fetch(_sql.surplus_imports, org_id, done, failed, most, "connectionId")
    return [row["id"] for row in rows]
