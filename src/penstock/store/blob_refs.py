"""References to blobs, beside the uploads: a blob is deleted once nothing refers to it."""

from __future__ import annotations

from collections.abc import Sequence

from penstock.store.database import Connection
from penstock.store.queries import load

_sql = load("blob_refs")
# Blob key, kind of the reference, owner.
Reference = tuple[str, str, str]


async def add(conn: Connection, org_id: int, references: Sequence[Reference]) -> None:
    """Add references. The tidier cannot delete the blobs during this transaction, nor after it."""
    keys, kinds, owners = zip(*sorted(set(references)), strict=True)
    await conn.execute(_sql.hold_blobs, sorted(set(keys)))
    await conn.execute(_sql.add_references, org_id, keys, kinds, owners)


async def remove(conn: Connection, org_id: int, kind: str, owner: str) -> int:
    """Answers how many references there were. Blobs that lost their last one are deleted later."""
    done = await conn.execute(_sql.remove_references, org_id, kind, owner)
    return int(done.removeprefix("DELETE "))
