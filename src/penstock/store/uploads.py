"""Resumable uploads."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime
from uuid import UUID

from penstock.store.database import Connection
from penstock.store.queries import load

_sql = load("uploads")


@dataclass(frozen=True, slots=True)
class UploadRow:
    """A resumable upload. ``metadata`` is as the client sent it."""

    id: UUID
    org_id: int
    user_id: int
    name: str
    media_type: str
    length: int
    metadata: str
    created_at: datetime
    expires_at: datetime
    finished_at: datetime | None


async def add(
    conn: Connection, upload_id: UUID, org_id: int, user_id: int, *, name: str, media_type: str,
    length: int, metadata: str, hours: float,
) -> datetime:  # fmt: skip
    """Answers when the upload expires."""
    expires_at: datetime = await conn.fetchval(
        _sql.add_upload, upload_id, org_id, user_id, name, media_type, length, metadata, hours
    )
    return expires_at


async def get(conn: Connection, upload_id: UUID) -> UploadRow | None:
    row = await conn.fetchrow(_sql.get_upload, upload_id)
    return None if row is None else UploadRow(**row)


async def finish(conn: Connection, upload_id: UUID) -> bool:
    return await conn.fetchval(_sql.finish_upload, upload_id) is not None


async def drop(conn: Connection, upload_id: UUID) -> bool:
    return await conn.fetchval(_sql.drop_upload, upload_id) is not None


async def drop_expired(conn: Connection, most: int) -> list[UUID]:
    return [row["id"] for row in await conn.fetch(_sql.expired_uploads, most)]
