"""Alerts: problems that the monitor found, and for how long nothing is sent about them."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime
from typing import Any
from uuid import UUID

from penstock.store.database import Connection
from penstock.store.queries import load

_sql = load("alerts")


@dataclass(frozen=True, slots=True)
class NewAlert:
    id: UUID
    key: str
    event: str
    severity: str
    message: str
    value: float | None = None
    threshold: float | None = None


@dataclass(frozen=True, slots=True)
class Alert:
    id: UUID
    key: str
    event: str
    severity: str
    message: str
    value: float | None
    threshold: float | None
    opened_at: datetime
    updated_at: datetime | None = None
    resolved_at: datetime | None = None
    silenced_until: datetime | None = None
    silence_reason: str | None = None


async def open_alerts(conn: Connection) -> dict[str, Alert]:
    """By key. Under the lock of the monitor's row."""
    return {row["key"]: Alert(**dict(row)) for row in await conn.fetch(_sql.open_alerts)}


async def add_alert(conn: Connection, new: NewAlert) -> bool:
    """False if one with this key is open already."""
    opened = await conn.fetchval(
        _sql.add_alert, new.id, new.key, new.event, new.severity, new.message, new.value,
        new.threshold,
    )  # fmt: skip
    return opened is not None


async def update_alert(conn: Connection, alert_id: UUID, new: NewAlert) -> None:
    await conn.execute(_sql.update_alert, alert_id, new.message, new.value, new.threshold)


async def resolve_alert(conn: Connection, alert_id: UUID) -> bool:
    return await conn.fetchrow(_sql.resolve_alert, alert_id) is not None


async def list_alerts(
    conn: Connection, *, open_only: bool, before: tuple[datetime, UUID] | None, size: int
) -> list[Alert]:
    place: tuple[Any, Any] = before or (None, None)
    rows = await conn.fetch(_sql.list_alerts, open_only, *place, size)
    return [Alert(**dict(row)) for row in rows]


async def get_alert(conn: Connection, alert_id: UUID) -> Alert | None:
    row = await conn.fetchrow(_sql.get_alert, alert_id)
    return None if row is None else Alert(**dict(row))


async def silence(conn: Connection, key: str, minutes: float, reason: str, user_id: int) -> None:
    await conn.execute(_sql.silence, key, minutes, reason, user_id)


async def silenced_keys(conn: Connection) -> frozenset[str]:
    return frozenset(row["key"] for row in await conn.fetch(_sql.silenced_keys))


async def drop_old(conn: Connection, days: float) -> None:
    await conn.execute(_sql.drop_old_alerts, days)
