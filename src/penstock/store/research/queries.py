"""Research requests that an org has saved."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime
from typing import Any

import orjson

from penstock.store.database import Connection
from penstock.store.queries import load

_sql = load("requests")
MAX_SAVED = 200


@dataclass(frozen=True, slots=True)
class SavedQuery:
    """``user`` saved it last."""

    name: str
    request: Mapping[str, Any]
    user: str | None
    updated_at: datetime


async def list_queries(conn: Connection, org_id: int) -> list[SavedQuery]:
    rows = await conn.fetch(_sql.list_queries, org_id, MAX_SAVED)
    return [
        SavedQuery(row["name"], orjson.loads(row["request"]), row["user"], row["updated_at"])
        for row in rows
    ]


async def save_query(
    conn: Connection, org_id: int, name: str, request: Mapping[str, Any], user_id: int
) -> bool:
    """False if the org has as many as it may save."""
    await conn.execute(_sql.lock_queries, str(org_id))
    saved = {one.name for one in await list_queries(conn, org_id)}
    if len(saved | {name}) > MAX_SAVED:
        return False
    await conn.execute(_sql.save_query, org_id, name, orjson.dumps(request).decode(), user_id)
    return True


async def delete_query(conn: Connection, org_id: int, name: str) -> bool:
    return await conn.fetchval(_sql.delete_query, org_id, name) is not None
