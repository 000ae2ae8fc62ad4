"""The load level of the queue, as last recorded by the queue watch."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime

from penstock.store.database import Connection
from penstock.store.queries import load

_sql = load("queue_level")


@dataclass(frozen=True, slots=True)
class RecordedLevel:
    level: str
    # Infinite until the current overload was alerted.
    alerted_ms_ago: float


async def lock(conn: Connection) -> RecordedLevel:
    row = await conn.fetchrow(_sql.lock_intake)
    assert row is not None
    ago = row["alerted_ms_ago"]
    return RecordedLevel(row["level"], float("inf") if ago is None else float(ago))


async def record(
    conn: Connection, level: str, depth: int, *, changed: bool, alerted: bool
) -> datetime:
    """Record the level; answers since when the queue has it."""
    since: datetime = await conn.fetchval(_sql.note_level, level, depth, changed, alerted)
    return since
