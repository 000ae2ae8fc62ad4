"""Workers and their heartbeats."""

from __future__ import annotations

from typing import Any

from penstock.store.database import Connection, to_json
from penstock.store.queries import load

_sql = load("workers")
_sweep = load("sweep")


async def register(conn: Connection, worker: str, host: str, pid: int, slots: int) -> None:
    await conn.execute(_sql.add_worker, worker, host, pid, slots)
    await add_system_event(conn, "worker.started", worker, {"slots": slots})


async def beat(conn: Connection, worker: str, figures: str | None = None) -> bool:
    """Write a heartbeat, with figures if given; answers whether the queue is overloaded."""
    return bool(await conn.fetchval(_sql.beat_worker, worker, figures))


async def stop(conn: Connection, worker: str) -> None:
    await conn.execute(_sql.stop_worker, worker)


async def local_workers(conn: Connection, host: str) -> list[str]:
    """Workers of this machine that have not stopped regularly."""
    return [row["id"] for row in await conn.fetch(_sql.local_workers, host)]


async def end_frozen(conn: Connection, after_ms: float) -> list[str]:
    """End clients that are frozen inside a transaction; answers their names."""
    return [row["application_name"] for row in await conn.fetch(_sweep.end_frozen, after_ms)]


async def mark_silent_lost(conn: Connection, after_ms: float) -> list[str]:
    """Mark workers without heartbeat as lost; answers each once."""
    return [row["id"] for row in await conn.fetch(_sweep.silent_workers, after_ms)]


async def forget(conn: Connection) -> None:
    await conn.execute(_sweep.forget_workers)
    await conn.execute(_sweep.forget_keys)


async def count_taken_back(conn: Connection) -> None:
    """Count a lease that was taken back."""
    await conn.execute(_sweep.count_taken_back)


async def add_system_event(
    conn: Connection, event: str, worker: str | None, data: dict[str, Any]
) -> None:
    """Write an event of the installation, for admins."""
    await conn.execute(_sweep.add_system_event, event, worker, to_json(data))
