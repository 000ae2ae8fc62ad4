"""Unused uploads and unreferenced blobs."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from uuid import UUID

from penstock.store.database import Connection
from penstock.store.queries import load

_sql = load("orphans")


@dataclass(frozen=True, slots=True)
class Place:
    """A cursor over the files."""

    created_at: datetime
    id: UUID


START = Place(datetime(1970, 1, 1, tzinfo=UTC), UUID(int=0))


async def unused_files(
    conn: Connection, after: Place, hours: float, most: int
) -> tuple[list[UUID], Place | None]:
    """Files without a job among the next ``most``; and where to continue, None at the end."""
    rows = await conn.fetch(_sql.files_after, after.created_at, after.id, hours, most)
    unused = [row["id"] for row in rows if not row["used"]]
    if len(rows) < most:
        return unused, None
    return unused, Place(rows[-1]["created_at"], rows[-1]["id"])


async def drop_files(conn: Connection, ids: Sequence[UUID]) -> list[str]:
    """Delete the files that are still unused; answers their blobs. A separate statement locks them,
    so that the delete sees what a submit has committed meanwhile."""
    locked = [row["id"] for row in await conn.fetch(_sql.lock_files, list(ids))]
    return [row["blob_key"] for row in await conn.fetch(_sql.drop_files, locked)]


async def unreferenced_blobs(conn: Connection, keys: Sequence[str]) -> list[str]:
    return [row["key"] for row in await conn.fetch(_sql.unreferenced_blobs, list(keys))]


async def installation_id(conn: Connection) -> UUID:
    found: UUID = await conn.fetchval(_sql.installation_id)
    return found


async def signing_key(conn: Connection) -> bytes:
    """The key that signs page cursors."""
    found: bytes = await conn.fetchval(_sql.signing_key)
    return found
