"""Watched places, their credentials sealed."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime
from typing import Any
from uuid import UUID

import orjson

from penstock.model.ports import Sealer
from penstock.store.accounts.accounts import Principal, principal_from
from penstock.store.database import Connection, to_json
from penstock.store.queries import load
from penstock.store.sealed_credentials import SealedCredentials

_sql = load("watchers")
credentials = SealedCredentials(
    "watcher", _sql.sealed_watchers, _sql.reseal_watcher, _sql.newest_watcher
)


@dataclass(frozen=True, slots=True)
class WatcherTask:
    """What a watcher looks for, when, and what it does with a file. ``job`` has the pipeline and
    the config of its jobs."""

    name: str
    pattern: str
    after_taken: str
    complete_by: str
    job: Mapping[str, Any]
    enabled: bool
    every_seconds: int | None


@dataclass(frozen=True, slots=True)
class NewWatcher:
    id: UUID
    org_id: int
    user_id: int
    kind: str
    address: str
    sealed_credentials: bytes
    task: WatcherTask


@dataclass(frozen=True, slots=True)
class WatcherRow:
    """A watcher without its credentials. ``job``, ``last_scan`` and ``error`` are JSON."""

    id: UUID
    org_id: int
    user_id: int
    name: str
    kind: str
    address: str
    pattern: str
    after_taken: str
    complete_by: str
    job: str
    enabled: bool
    every_seconds: int | None
    next_scan_at: datetime
    scanned_at: datetime | None
    last_scan: str | None
    error: str | None
    host_key: str | None
    created_at: datetime
    updated_at: datetime
    org: str
    sealed: bool

    @property
    def task(self) -> WatcherTask:
        return WatcherTask(
            self.name, self.pattern, self.after_taken, self.complete_by, orjson.loads(self.job),
            self.enabled, self.every_seconds,
        )  # fmt: skip


def seal_credentials(sealer: Sealer, watcher_id: UUID, given: Mapping[str, str]) -> bytes:
    """Empty where a place needs none, such as a folder."""
    return credentials.seal(sealer, watcher_id, given) if given else b""


async def add_watcher(conn: Connection, new: NewWatcher) -> None:
    task = new.task
    await conn.execute(
        _sql.add_watcher, new.id, new.org_id, new.user_id, task.name, new.kind, new.address,
        new.sealed_credentials, task.pattern, task.after_taken, task.complete_by,
        to_json(task.job), task.enabled, task.every_seconds,
    )  # fmt: skip


async def count_watchers(conn: Connection, org_id: int, most: int) -> int:
    return int(await conn.fetchval(_sql.count_watchers, org_id, most))


async def list_watchers(
    conn: Connection, after: UUID | None, limit: int, org_id: int | None = None
) -> list[WatcherRow]:
    """Oldest first."""
    return [WatcherRow(**row) for row in await conn.fetch(_sql.list_watchers, after, org_id, limit)]


async def get_watcher(conn: Connection, watcher_id: UUID) -> WatcherRow | None:
    row = await conn.fetchrow(_sql.get_watcher, watcher_id)
    return None if row is None else WatcherRow(**row)


async def change_watcher(conn: Connection, watcher_id: UUID, task: WatcherTask) -> bool:
    return bool(
        await conn.fetch(
            _sql.change_watcher, watcher_id, task.name, task.pattern, task.after_taken,
            task.complete_by, to_json(task.job), task.enabled, task.every_seconds,
        )
    )  # fmt: skip


async def rotate_credentials(conn: Connection, watcher_id: UUID, sealed: bytes) -> bool:
    return bool(await conn.fetch(_sql.rotate_watcher, watcher_id, sealed))


async def delete_watcher(conn: Connection, watcher_id: UUID) -> bool:
    return bool(await conn.fetch(_sql.delete_watcher, watcher_id))


async def take_due(conn: Connection, most: int) -> list[UUID]:
    """Watchers whose scan is due, each for one process."""
    return [row["id"] for row in await conn.fetch(_sql.take_due, most)]


async def save_scan(conn: Connection, watcher_id: UUID, result: Mapping[str, Any]) -> None:
    await conn.execute(_sql.save_scan, watcher_id, to_json(result))


async def save_scan_failure(conn: Connection, watcher_id: UUID, error: Mapping[str, Any]) -> None:
    await conn.execute(_sql.save_scan_failure, watcher_id, to_json(error))


async def save_host_key(conn: Connection, watcher_id: UUID, host_key: str) -> None:
    await conn.execute(_sql.save_host_key, watcher_id, host_key)


async def creator_of(conn: Connection, watcher_id: UUID) -> Principal | None:
    """The user in whose name a watcher's jobs run."""
    row = await conn.fetchrow(_sql.watcher_creator, watcher_id)
    return None if row is None else principal_from(row)


async def open_credentials(conn: Connection, sealer: Sealer, watcher_id: UUID) -> dict[str, str]:
    """The credentials of a watcher in the scope of ``conn``; none if it has none."""
    row = await conn.fetchrow(_sql.get_sealed_watcher, watcher_id)
    sealed = b"" if row is None else row["credentials"]
    return credentials.open(sealer, watcher_id, sealed) if sealed else {}
