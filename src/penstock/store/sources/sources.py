"""Configured sources, their credentials sealed."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any
from uuid import UUID

from penstock.model.errors import NotThere
from penstock.model.ports import Sealer
from penstock.model.sources.config import SourceConfig
from penstock.model.sources.search import OpenedSource
from penstock.store.database import Connection, Database, to_json
from penstock.store.queries import load
from penstock.store.sealed_credentials import SealedCredentials

_sql = load("sources")
credentials = SealedCredentials(
    "source", _sql.sealed_source_credentials, _sql.reseal_source, _sql.newest_source_credentials
)


@dataclass(frozen=True, slots=True)
class SourceRow:
    """A source without its credentials. ``config`` and ``error`` are JSON."""

    id: UUID
    org_id: int
    user_id: int
    name: str
    enabled: bool
    config: str
    tested_at: datetime | None
    error: str | None
    created_at: datetime
    updated_at: datetime
    org: str
    sealed: bool

    @property
    def parsed(self) -> SourceConfig:
        return SourceConfig.model_validate_json(self.config)


async def add_source(
    conn: Connection, source_id: UUID, org_id: int, user_id: int, config: SourceConfig,
    sealed: bytes,
) -> bool:  # fmt: skip
    """False if the org has a source of this name."""
    return bool(
        await conn.fetch(
            _sql.add_source, source_id, org_id, user_id, config.name, config.enabled,
            config.model_dump_json(), config.limits.rate, sealed,
        )
    )  # fmt: skip


async def count_sources(conn: Connection, org_id: int, most: int) -> int:
    return int(await conn.fetchval(_sql.count_sources, org_id, most))


async def list_sources(conn: Connection, org_id: int | None, most: int) -> list[SourceRow]:
    return [SourceRow(**row) for row in await conn.fetch(_sql.list_sources, org_id, most)]


async def get_source(
    conn: Connection, source_id: UUID | None, org_id: int | None = None, name: str = ""
) -> SourceRow | None:
    row = await conn.fetchrow(_sql.get_source, source_id, org_id, name)
    return None if row is None else SourceRow(**row)


async def change_source(
    conn: Connection, source_id: UUID, config: SourceConfig, sealed: bytes | None
) -> bool:
    """``sealed`` None keeps the credentials."""
    return bool(
        await conn.fetch(
            _sql.change_source, source_id, config.name, config.enabled, config.model_dump_json(),
            config.limits.rate, sealed,
        )
    )  # fmt: skip


async def delete_source(conn: Connection, source_id: UUID) -> bool:
    return bool(await conn.fetch(_sql.delete_source, source_id))


async def save_test(conn: Connection, source_id: UUID, error: Mapping[str, Any] | None) -> None:
    await conn.execute(_sql.save_source_test, source_id, None if error is None else to_json(error))


async def open_source(conn: Connection, sealer: Sealer, source_id: UUID) -> OpenedSource | None:
    """The source with its credentials, if it is in the scope of ``conn``."""
    row = await conn.fetchrow(_sql.get_sealed_source, source_id)
    return None if row is None else _opened(sealer, row)


def _opened(sealer: Sealer, row: Any) -> OpenedSource:
    opened = credentials.open(sealer, row["id"], row["credentials"])
    config = SourceConfig.model_validate_json(row["config"])
    return OpenedSource(row["id"], row["org_id"], config, opened)


class StoredSources:
    """Implements `model.sources.search.Sources`."""

    def __init__(self, db: Database, sealer: Sealer) -> None:
        self._db = db
        self._sealer = sealer

    async def open(self, org_id: int, source_id: UUID) -> OpenedSource:
        async with self._db.acquire() as conn:
            found = await open_source(conn, self._sealer, source_id)
        # Workers see all orgs, so the org of the job is compared here.
        if found is None or found.org_id != org_id:
            raise NotThere("RESOURCE_NOT_FOUND", "The source was deleted.")
        return found

    async def enabled(self, org_id: int) -> Sequence[OpenedSource]:
        async with self._db.acquire() as conn:
            rows = await conn.fetch(_sql.sealed_sources_of, org_id)
        return [_opened(self._sealer, row) for row in rows]

    async def names(self, org_id: int) -> Mapping[str, UUID]:
        async with self._db.acquire() as conn:
            rows = await conn.fetch(_sql.enabled_sources, org_id)
        return {row["name"]: row["id"] for row in rows}
