"""Pictures of products that were downloaded. `StoredPictures` implements `PictureIndex`."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from hashlib import sha256
from typing import Any
from uuid import UUID

from penstock.model.effects import StorePicture
from penstock.model.products import KnownPicture
from penstock.store.database import Connection, Database, from_json, to_json
from penstock.store.queries import load

_sql = load("pictures")


def url_hash(url: str) -> str:
    return sha256(url.encode()).hexdigest()


async def find(conn: Connection, org_id: int, urls: Sequence[str]) -> dict[str, KnownPicture]:
    """Known pictures by URL."""
    rows = await conn.fetch(_sql.known_pictures, org_id, [url_hash(url) for url in urls])
    return {row["url"]: _picture(row) for row in rows}


async def store(
    conn: Connection, org_id: int, job_id: UUID, pictures: Sequence[StorePicture]
) -> None:
    """The last one of a URL counts, with the thumbnails of all."""
    merged: dict[str, StorePicture] = {}
    thumbnails: dict[str, dict[str, str]] = {}
    for one in pictures:
        merged[one.url] = one
        told = {str(box): key for box, key in one.thumbnails.items()}
        thumbnails[one.url] = thumbnails.get(one.url, {}) | told
    found = sorted(merged.values(), key=lambda one: url_hash(one.url))
    await conn.execute(
        _sql.store_pictures, org_id, job_id, [url_hash(one.url) for one in found],
        [one.url for one in found], [one.blob_key for one in found],
        [one.sha256 for one in found], [one.size for one in found],
        [one.width for one in found], [one.height for one in found],
        [to_json(thumbnails[one.url]) for one in found],
        [one.hashes and one.hashes[0] for one in found],
        [one.hashes and one.hashes[1] for one in found],
    )  # fmt: skip


def _picture(row: Any) -> KnownPicture:
    boxes = from_json(row["thumbnails"])
    return KnownPicture(
        row["url"], row["blob_key"], row["sha256"], row["size"], row["width"], row["height"],
        {int(box): key for box, key in boxes.items()},
        None if row["phash"] is None else (row["phash"], row["dhash"]),
    )  # fmt: skip


# References of a picture to blobs: kinds, with the hash of its URL as their owner.
_KINDS = ("picture", "thumbnail")
FIRST = (0, "")


async def drop_unused(
    conn: Connection, after: tuple[int, str], hours: float, most: int
) -> tuple[int, tuple[int, str] | None]:
    """Delete pictures that no product has used for so long, of the next ``most`` ones. Returns how
    many, and where to continue; None: that was the last."""
    rows = await conn.fetch(_sql.unused_pictures, *after, most, hours)
    unused = [row for row in rows if row["unused"]]
    dropped = 0
    if unused:
        orgs, hashes = [row["org_id"] for row in unused], [row["url_hash"] for row in unused]
        dropped = await conn.fetchval(_sql.drop_pictures, orgs, hashes, _KINDS)
    last = (rows[-1]["org_id"], rows[-1]["url_hash"]) if len(rows) == most else None
    return dropped, last


class StoredPictures:
    """Implements `model.ports.PictureIndex`."""

    def __init__(self, db: Database) -> None:
        self._db = db

    async def at_urls(self, org_id: int, urls: Sequence[str]) -> Mapping[str, KnownPicture]:
        if not urls:
            return {}
        async with self._db.acquire() as conn:
            return await find(conn, org_id, urls)

    async def with_content(self, org_id: int, hashes: Sequence[str]) -> Mapping[str, KnownPicture]:
        if not hashes:
            return {}
        async with self._db.acquire() as conn:
            rows = await conn.fetch(_sql.same_content, org_id, list(set(hashes)))
        return {row["sha256"]: _picture(row) for row in rows}
