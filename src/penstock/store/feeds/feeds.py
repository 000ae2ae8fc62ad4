"""Feeds of products, and their files."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any
from uuid import UUID

from penstock.model.feeds import FeedSettings
from penstock.model.ports import StoredBlob
from penstock.store import blob_refs
from penstock.store.database import Connection, to_json
from penstock.store.queries import load

_sql = load("feeds")
# The kind of the references to files of feeds.
_REFERENCE = "feed"


@dataclass(frozen=True, slots=True)
class FeedRow:
    """A feed without its secret. ``options`` is JSON."""

    id: UUID
    org_id: int
    user_id: int
    name: str
    options: str
    enabled: bool
    read_at: datetime | None
    created_at: datetime
    updated_at: datetime
    rotated_at: datetime | None
    org: str

    @property
    def settings(self) -> FeedSettings:
        return FeedSettings.model_validate_json(self.options)


@dataclass(frozen=True, slots=True)
class FeedFile:
    """A file of a feed. ``left_out`` is JSON."""

    feed_id: UUID
    kind: str
    blob_key: str
    sha256: str
    size: int
    included: int
    left_out: str
    built_at: datetime


async def add(
    conn: Connection, feed_id: UUID, org_id: int, user_id: int, name: str, secret_hash: bytes,
    settings: FeedSettings, enabled: bool,
) -> bool:  # fmt: skip
    """False if the org has a feed of this name."""
    return bool(
        await conn.fetch(
            _sql.add_feed, feed_id, org_id, user_id, name, secret_hash, _json(settings), enabled
        )
    )


def _json(settings: FeedSettings) -> str:
    return settings.model_dump_json(by_alias=True, exclude_unset=True)


async def list_feeds(conn: Connection, org_id: int, most: int) -> list[FeedRow]:
    return [FeedRow(**row) for row in await conn.fetch(_sql.list_feeds, org_id, most)]


async def get(conn: Connection, feed_id: UUID) -> FeedRow | None:
    row = await conn.fetchrow(_sql.get_feed, feed_id)
    return None if row is None else FeedRow(**row)


async def find(conn: Connection, secret_hash: bytes) -> FeedRow | None:
    """The enabled feed of a secret."""
    row = await conn.fetchrow(_sql.find_feed, secret_hash)
    return None if row is None else FeedRow(**row)


async def name_taken(conn: Connection, org_id: int, name: str, feed_id: UUID) -> bool:
    return bool(await conn.fetchval(_sql.feed_name_taken, org_id, name, feed_id))


async def change(
    conn: Connection, feed_id: UUID, name: str, settings: FeedSettings, enabled: bool
) -> None:
    await conn.execute(_sql.change_feed, feed_id, name, _json(settings), enabled)


async def rotate(conn: Connection, feed_id: UUID, secret_hash: bytes) -> None:
    await conn.execute(_sql.rotate_feed, feed_id, secret_hash)


async def delete(conn: Connection, feed: FeedRow) -> bool:
    return bool(await conn.fetch(_sql.delete_feed, feed.id))


async def files_of(conn: Connection, feed_ids: Sequence[UUID]) -> dict[UUID, list[FeedFile]]:
    found: dict[UUID, list[FeedFile]] = {}
    for row in await conn.fetch(_sql.feed_files, list(feed_ids)):
        found.setdefault(row["feed_id"], []).append(FeedFile(**row))
    return found


async def fresh_file(conn: Connection, feed_id: UUID, kind: str, seconds: float) -> FeedFile | None:
    row = await conn.fetchrow(_sql.fresh_file, feed_id, kind, seconds)
    return None if row is None else FeedFile(**row)


async def save_file(
    conn: Connection, feed: FeedRow, kind: str, blob: StoredBlob, included: int,
    left_out: Mapping[str, Any],
) -> None:  # fmt: skip
    owner = f"{feed.id}:{kind}"
    await blob_refs.remove(conn, feed.org_id, _REFERENCE, owner)
    if await conn.fetch(
        _sql.save_file, feed.id, kind, blob.key, blob.sha256, blob.size, included,
        to_json(left_out),
    ):  # fmt: skip
        await blob_refs.add(conn, feed.org_id, [(blob.key, _REFERENCE, owner)])


async def release_files(conn: Connection, feed: FeedRow) -> None:
    """The files of a deleted feed are left to the tidier."""
    for kind in ("xml", "csv"):
        await blob_refs.remove(conn, feed.org_id, _REFERENCE, f"{feed.id}:{kind}")


async def note_read(conn: Connection, feed_id: UUID) -> None:
    await conn.execute(_sql.note_read, feed_id)
