"""Connected shops, their credentials sealed."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime
from typing import Any
from uuid import UUID

from penstock.model.errors import NotThere
from penstock.model.ports import Sealer
from penstock.model.shops.provider import ShopConnection
from penstock.store.accounts.accounts import Principal, principal_from
from penstock.store.database import Connection, Database, from_json, to_json
from penstock.store.queries import load
from penstock.store.sealed_credentials import SealedCredentials

_sql = load("connections")
credentials = SealedCredentials(
    "connection", _sql.sealed_credentials, _sql.reseal, _sql.newest_credentials
)


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


async def save_import_error(
    conn: Connection, org_id: int, connection_id: UUID, error: Mapping[str, Any] | None
) -> None:
    """Why the last import failed; None clears an earlier error."""
    told = None if error is None else to_json(dict(error))
    await conn.execute(_sql.save_import_error, connection_id, org_id, told)


async def count_products(conn: Connection, org_id: int, source: str, most: int) -> int:
    return int(await conn.fetchval(_sql.count_products, org_id, source, most))


async def open_connection(
    conn: Connection, sealer: Sealer, connection_id: UUID
) -> ShopConnection | None:
    """The connection with its credentials, if it is in the scope of ``conn``."""
    row = await conn.fetchrow(_sql.get_sealed, connection_id)
    if row is None:
        return None
    opened = credentials.open(sealer, connection_id, row["credentials"])
    return ShopConnection(
        row["id"], row["org_id"], row["provider"], row["address"], opened, row["name"],
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


async def surplus_imports(
    conn: Connection, org_id: int, done: int, failed: int, most: int
) -> list[UUID]:
    """Ended imports beyond the newest ``done`` and ``failed`` ones of each shop; 0: all are
    kept."""
    rows = await conn.fetch(_sql.surplus_imports, org_id, done, failed, most, "connectionId")
    return [row["id"] for row in rows]
