"""Leadership: the lock decides which session leads; the row holds its name and heartbeat."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime

from penstock.store.database import Connection
from penstock.store.queries import load

_sql = load("leaders")


async def lives(conn: Connection, name: str, stale_ms: float) -> bool:
    return bool(await conn.fetchval(_sql.leader_lives, name, stale_ms))


async def end_stale(conn: Connection, name: str, stale_ms: float) -> list[str]:
    """End the session of a leader without heartbeat; answers its name."""
    rows = await conn.fetch(_sql.end_stale_leader, name, stale_ms)
    return [row["worker"] or f"backend {row['pid']}" for row in rows]


async def take(conn: Connection, name: str, worker: str) -> bool:
    """Try to become the leader for the life of this connection."""
    if not await conn.fetchval(_sql.try_to_lead, name):
        return False
    await conn.execute(_sql.take_lead, name, worker)
    return True


async def beat(conn: Connection, name: str) -> bool:
    return bool(await conn.fetchval(_sql.beat_leader, name))


async def resign(conn: Connection, name: str) -> None:
    await conn.execute(_sql.resign, name)


@dataclass(frozen=True, slots=True)
class LeaderRow:
    """A leader, and the seconds since its last heartbeat."""

    name: str
    worker: str
    took_at: datetime
    silent_s: float


async def list_leaders(conn: Connection) -> list[LeaderRow]:
    return [LeaderRow(**row) for row in await conn.fetch(_sql.list_leaders)]
