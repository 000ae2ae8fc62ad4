"""What stages may read, in short statements: products, other rows of their job, profiles."""

from __future__ import annotations

import asyncio
from collections.abc import Mapping, Sequence
from dataclasses import asdict
from datetime import date, datetime
from typing import Any
from uuid import UUID

from penstock.model.ports import FailedRow, MissingProducts, Tally, Winner
from penstock.model.products import (
    FoundProducts,
    KnownProduct,
    LinkCandidate,
    RowNames,
    SourceMatch,
)
from penstock.store.catalog import missing, profiles, saved_values
from penstock.store.catalog.products import find_links
from penstock.store.catalog.tallies import TALLIED_AT_ONCE, TallyOfWindows
from penstock.store.database import Connection, Database, from_json
from penstock.store.queries import load

_sql = load("products")
_groups = load("group_counters")
_items = load("items")
# For so many names a statement is planned each time.
_MANY_NAMES = 200
_AT_ONCE = 2500
_SAMPLED = 200
# Sources whose products are compared with a file of another one.
_MOST_SOURCES = 50


class StoredProducts:
    """Implements `model.ports.Products`."""

    def __init__(self, db: Database) -> None:
        self._db = db

    async def find(
        self, org_id: int, source: str, source_ids: Sequence[str], skus: Sequence[str],
        gtins: Sequence[str],
    ) -> FoundProducts:  # fmt: skip
        found: dict[UUID, KnownProduct] = {}
        catalog_key = None
        longest = max(len(source_ids), len(skus), len(gtins))
        for start in range(0, longest, _AT_ONCE):
            part = slice(start, start + _AT_ONCE)
            names = (list(source_ids[part]), list(skus[part]), list(gtins[part]))
            rows = await self._named(_sql.find_products, org_id, source, *names)
            for row in rows:
                values = {**dict(row), "data": from_json(row["data"])}
                catalog_key = values.pop("catalog_key")
                values["kept"] = tuple(row["kept"] or ())
                found[row["id"]] = KnownProduct(**values)
        return FoundProducts(list(found.values()), catalog_key)

    async def find_unchanged(
        self, org_id: int, source: str, digests: Mapping[str, bytes]
    ) -> Mapping[str, UUID]:
        if not digests:
            return {}
        rows = await self._named(
            _sql.find_unchanged, org_id, source, list(digests), list(digests.values())
        )
        return {row["source_id"]: row["id"] for row in rows}

    async def _named(
        self, query: str, org_id: int, source: str, *names: Sequence[str | bytes]
    ) -> Sequence[Any]:
        if max(map(len, names)) >= _MANY_NAMES:
            return await self._db.fetch_many(query, org_id, source, *names)
        async with self._db.acquire() as conn:
            rows: Sequence[Any] = await conn.fetch(query, org_id, source, *names)
        return rows

    async def link_candidates(
        self, org_id: int, source: str, gtins: Sequence[str], makers: Sequence[str]
    ) -> Sequence[LinkCandidate]:
        if not gtins and not makers:
            return ()
        async with self._db.acquire() as conn:
            return await find_links(conn, org_id, source, gtins, makers)

    async def source_with(
        self, org_id: int, source: str, rows: Sequence[RowNames]
    ) -> SourceMatch | None:
        if not rows:
            return None
        columns = map(list, zip(*rows, strict=True))
        async with self._db.acquire() as conn:
            found = await conn.fetchrow(_sql.source_with, org_id, source, *columns, _MOST_SOURCES)
        return None if found is None else SourceMatch(**found)

    async def changed_since(self, org_id: int, since: datetime) -> bool:
        async with self._db.acquire() as conn:
            return bool(await conn.fetchval(_sql.catalog_changed_since, org_id, since))

    async def files_of_source(self, org_id: int, source: str) -> Sequence[str]:
        async with self._db.acquire() as conn:
            rows = await conn.fetch(_sql.files_of_source, org_id, source, _SAMPLED)
        return [row["name"] for row in rows]

    async def missing(self, job_id: UUID, most: int) -> MissingProducts:
        async with self._db.acquire() as conn:
            count, unpublished = await missing.counts(conn, job_id)
            first = await missing.page_of_missing(conn, job_id, "", most)
        return MissingProducts(count, unpublished, [asdict(one) for one in first])


async def row_documents(conn: Connection, job_id: UUID, rows: Sequence[int]) -> dict[int, str]:
    """The checkpoints of rows that did not fail, as JSON."""
    found = await conn.fetch(_sql.row_documents, job_id, list(rows))
    return {row["row_no"]: row["normalized"] for row in found}


class StoredJobRows:
    """Implements `model.ports.JobRows`."""

    def __init__(self, db: Database) -> None:
        self._db = db

    async def rows_named(
        self, job_id: UUID, keys: Sequence[str], most: int
    ) -> Mapping[str, Sequence[int]]:
        named: dict[str, list[int]] = {}
        async with self._db.acquire() as conn:
            rows = await conn.fetch(_sql.rows_by_key, job_id, list(keys), most)
        for row in rows:
            named.setdefault(row["key"], []).append(row["row_no"])
        return named

    async def row_to_keep(
        self, job_id: UUID, keys: Sequence[str], winner: Winner
    ) -> Mapping[str, int]:
        statement = {
            "first": _sql.first_of_key, "last": _sql.last_of_key,
            "most_complete": _sql.fullest_of_key,
        }[winner]  # fmt: skip
        async with self._db.acquire() as conn:
            rows = await conn.fetch(statement, job_id, list(keys))
        return {row["key"]: row["row_no"] for row in rows}

    async def documents(self, job_id: UUID, rows: Sequence[int]) -> Mapping[int, Mapping[str, Any]]:
        async with self._db.acquire() as conn:
            found = await row_documents(conn, job_id, rows)
        return {row: from_json(document) for row, document in found.items()}

    async def tally(self, job_id: UUID, *, with_changes: bool = False) -> Tally:
        """In windows, so that no statement takes long over a large job; two at a time."""
        async with self._db.acquire() as conn:
            total = int(await conn.fetchval(_sql.last_row, job_id) or 0)
        adding = TallyOfWindows(with_changes=with_changes)
        for start in range(0, total, 2 * TALLIED_AT_ONCE):
            windows = (start, start + TALLIED_AT_ONCE)
            await asyncio.gather(
                *(self._add_rows(adding, job_id, one) for one in windows if one < total)
            )
        return adding.result()

    async def _add_rows(self, adding: TallyOfWindows, job_id: UUID, start: int) -> None:
        async with self._db.acquire() as conn:
            await adding.add_rows(conn, job_id, start)

    async def group_counters(self, job_id: UUID, most: int) -> Mapping[str, Mapping[str, int]]:
        counted: dict[str, dict[str, int]] = {}
        async with self._db.acquire() as conn:
            rows = await conn.fetch(_groups.counts_of_job, job_id, "", most)
        for row in rows:
            counted.setdefault(row["group_key"], {})[row["counter"]] = row["value"]
        return counted

    async def unnamed_rows(self, job_id: UUID) -> int:
        async with self._db.acquire() as conn:
            total = int(await conn.fetchval(_sql.last_row, job_id) or 0)
            return await missing.unnamed_rows(conn, job_id, total)

    async def failures(self, job_id: UUID, most: int) -> Sequence[FailedRow]:
        async with self._db.acquire() as conn:
            rows = await conn.fetch(_items.failed_rows, job_id, most)
        found = []
        for row in rows:
            error = from_json(row["error"]) or {}
            code, message = error.get("code", "INTERNAL_ERROR"), error.get("message", "")
            found.append(FailedRow(row["key"], code, message, row["attempts"]))
        return found


class StoredProfiles:
    """Implements `model.ports.Profiles`."""

    def __init__(self, db: Database) -> None:
        self._db = db

    async def profile(
        self, org_id: int, name: str | None, fingerprint: str | None
    ) -> Mapping[str, Any] | None:
        async with self._db.acquire() as conn:
            if name is not None:
                return await profiles.get(conn, org_id, name)
            return None if fingerprint is None else await profiles.find(conn, org_id, fingerprint)

    async def rates(self, base: str, day: date) -> Sequence[profiles.Rate]:
        async with self._db.acquire() as conn:
            return await profiles.rates_before(conn, base, day)

    async def values(self, org_id: int, source: str) -> Mapping[str, Mapping[str, str]]:
        async with self._db.acquire() as conn:
            return await saved_values.of_source(conn, org_id, source)
