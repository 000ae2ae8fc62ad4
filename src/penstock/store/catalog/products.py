"""The catalog: products under the fence, before-images, and what stages may read of it."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from datetime import date
from typing import Any
from uuid import UUID

import asyncpg

from penstock.model.ports import Missing, Tally, Winner
from penstock.model.products import FoundProducts, KnownProduct, LinkCandidate
from penstock.store.catalog import missing, profiles
from penstock.store.database import Connection, Database, from_json
from penstock.store.queries import load

_sql = load("products")
_AT_ONCE = 500
_TALLIED_AT_ONCE = 20_000
# More products that share a name than are shown: one of them may be the row's own.
_LINKS_OF_EACH = 8
_SAMPLED = 200


async def rows_beside(
    conn: Connection, job_id: UUID, row_no: int, names: Sequence[str], most: int
) -> set[int]:
    """Rows that share a name with this one, or would if it had ``names``; so many of each."""
    own = [row["key"] for row in await conn.fetch(_sql.names_of_row, job_id, row_no)]
    keys = list(dict.fromkeys([*own, *names]))
    rows = await conn.fetch(_sql.rows_by_key, job_id, keys, most) if keys else []
    return {row["row_no"] for row in rows} - {row_no}


async def find_links(
    conn: Connection, org_id: int, source: str, gtins: Sequence[str], makers: Sequence[str]
) -> list[LinkCandidate]:
    """Products of other sources that share a GTIN, or brand and MPN; a few of each."""
    rows = await conn.fetch(
        _sql.find_links, org_id, source, list(set(gtins)), list(set(makers)), _LINKS_OF_EACH
    )
    return [LinkCandidate(**row) for row in rows]


class StoredCatalog:
    """Implements `model.ports.Catalog`: reads only, in short statements of their own."""

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
            async with self._db.acquire() as conn:
                rows = await conn.fetch(
                    _sql.find_products, org_id, source, list(source_ids[part]), list(skus[part]),
                    list(gtins[part]),
                )  # fmt: skip
            for row in rows:
                values = {**dict(row), "data": from_json(row["data"])}
                catalog_key = values.pop("catalog_key")
                found[row["id"]] = KnownProduct(**values)
        return FoundProducts(list(found.values()), catalog_key)

    async def link_candidates(
        self, org_id: int, source: str, gtins: Sequence[str], makers: Sequence[str]
    ) -> Sequence[LinkCandidate]:
        if not gtins and not makers:
            return ()
        async with self._db.acquire() as conn:
            return await find_links(conn, org_id, source, gtins, makers)

    async def files_of_source(self, org_id: int, source: str) -> Sequence[str]:
        async with self._db.acquire() as conn:
            rows = await conn.fetch(_sql.files_of_source, org_id, source, _SAMPLED)
        return [row["name"] for row in rows]

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

    async def rows_alike(
        self, job_id: UUID, column: int, most: int, share: float
    ) -> Sequence[int] | None:
        try:
            async with self._db.acquire() as conn:
                total = int(await conn.fetchval(_sql.last_row, job_id) or 0)
                bound = min(most, int(total * share))
                rows = await conn.fetch(_sql.rows_alike, job_id, column, bound + 1)
        except asyncpg.QueryCanceledError:
            # It only saves time, and here it would not.
            return None
        if len(rows) > bound or any(row["unsure"] for row in rows):
            return None
        return [row["row_no"] for row in rows]

    async def tally(self, job_id: UUID) -> Tally:
        """In ranges, so that no statement takes long over a large job."""
        states: Counter[str] = Counter()
        linked = 0
        problems: dict[tuple[str, str], dict[str, Any]] = {}
        async with self._db.acquire() as conn:
            total = int(await conn.fetchval(_sql.last_row, job_id) or 0)
        for start in range(0, total, _TALLIED_AT_ONCE):
            async with self._db.acquire() as conn:
                end = start + _TALLIED_AT_ONCE
                for row in await conn.fetch(_sql.tally_states, job_id, start, end):
                    states[row["state"]] += row["rows"]
                    linked += row["linked"]
                for row in await conn.fetch(_sql.tally_problems, job_id, start, end):
                    place = (row["place"] or "", row["code"])
                    example = {"rowNo": row["first_row"], "value": row["value"]}
                    known = problems.setdefault(
                        place,
                        {"code": row["code"], "severity": row["severity"], "count": 0,
                         "message": row["message"], "example": example},
                    )  # fmt: skip
                    known["count"] += row["rows"]
        by_column: dict[str, list[dict[str, Any]]] = {}
        for (column, _), one in problems.items():
            by_column.setdefault(column, []).append(one)
        for found in by_column.values():
            found.sort(key=lambda one: -one["count"])
        return Tally(dict(states), by_column, linked)

    async def missing(self, job_id: UUID, most: int) -> Missing:
        async with self._db.acquire() as conn:
            count, unpublished = await missing.counts(conn, job_id)
            first = await missing.some(conn, job_id, "", most)
        return Missing(count, unpublished, [dict(row) for row in first])

    async def unnamed_rows(self, job_id: UUID) -> int:
        async with self._db.acquire() as conn:
            total = int(await conn.fetchval(_sql.last_row, job_id) or 0)
            return await missing.unnamed_rows(conn, job_id, total)

    async def documents(self, job_id: UUID, rows: Sequence[int]) -> Mapping[int, Mapping[str, Any]]:
        async with self._db.acquire() as conn:
            found = await conn.fetch(_sql.row_documents, job_id, list(rows))
        return {row["row_no"]: from_json(row["normalized"]) for row in found}

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


@dataclass(slots=True)
class Undone:
    """What an undo did. ``refused`` products were changed by someone else since."""

    restored: int = 0
    deleted: int = 0
    refused: list[dict[str, Any]] = field(default_factory=list)
    last: UUID | None = None

    @property
    def looked_at(self) -> int:
        return self.restored + self.deleted + len(self.refused)


async def undo_some(
    conn: Connection, job_id: UUID, after: UUID, most: int, *, dry_run: bool = False
) -> Undone:
    """Put back the next products of a job that nobody has changed since. ``dry_run``: only say what
    would be put back."""
    if not dry_run:
        await conn.execute(_sql.lock_undo, str(job_id))
    changes = await conn.fetch(_sql.changes_to_undo, job_id, after, most)
    ids = [change["product_id"] for change in changes]
    found = await conn.fetch(_sql.look_at_changed if dry_run else _sql.lock_changed, ids)
    now = {row["id"]: row for row in found}
    undone = Undone(last=ids[-1] if ids else None)
    images: list[str] = []
    made: list[UUID] = []
    taken: list[Any] = []
    for change in changes:
        product = now.get(change["product_id"])
        if product is None or product["version"] != change["version"]:
            undone.refused.append(_refusal(change, product))
            continue
        taken.append(product)
        if change["has_earlier"]:
            undone.refused.append(_refusal(change, product) | {"reason": _EARLIER})
        if change["before"] is None:
            made.append(change["product_id"])
        else:
            images.append(change["before"])
    undone.restored, undone.deleted = len(images), len(made)
    if taken and not dry_run:
        await conn.execute(_sql.restore_products, images)
        await conn.execute(_sql.delete_products, made)
        undone_ids, taken_back = [row["id"] for row in taken], [row["image"] for row in taken]
        await conn.execute(_sql.mark_undone, job_id, undone_ids, taken_back)
    return undone


# Of a product that is now as another job left it, between two runs of this one.
_EARLIER = (
    "Its last change was taken back. An earlier run of this job changed it, too, and another job "
    "since: undo that one, then this one again."
)


def _refusal(change: Any, product: Any) -> dict[str, Any]:
    shown = {"productId": str(change["product_id"]), "rowNo": change["row_no"]}
    if product is None:
        return {**shown, "reason": "It was deleted since."}
    return {
        **shown,
        "source": product["source"],
        "sourceId": product["source_id"],
        "reason": "It was changed since.",
    }
