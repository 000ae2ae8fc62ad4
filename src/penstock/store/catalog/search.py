"""Searches of lookups in the catalog. `StoredCatalogSearch` implements `CatalogSearch`."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any
from uuid import UUID

from penstock.model.lookup import CatalogCandidate, CatalogProduct, ImageQuery, SearchQuery
from penstock.store.database import Database, from_json
from penstock.store.queries import load

_sql = load("search")
_pictures = load("pictures")
_STATEMENTS = {"gtin": _sql.by_gtin, "mpnBrand": _sql.by_maker, "sku": _sql.by_sku}
# Sessions have them switched off; the index of words has no other way.
_BITMAPS = "SET LOCAL enable_bitmapscan = on"
# Candidates of one query.
_MOST_BY_KEY = 20
_MOST_BY_WORDS = 25
_MOST_PICTURES = 20
_FIRST = UUID(int=0)
# Bits of both hashes together that may differ.
MAX_DISTANCE = 20


def _by_place(rows: Sequence[Any]) -> Mapping[int, Sequence[CatalogCandidate]]:
    """A product with several pictures counts by the nearest one."""
    found: dict[int, dict[UUID, CatalogCandidate]] = {}
    for row in rows:
        values = dict(row)
        place = values.pop("place")
        one = CatalogCandidate(**values)
        known = found.setdefault(place, {}).get(one.id)
        if known is None or (one.distance or 0) < (known.distance or 0):
            found[place][one.id] = one
    return {place: list(some.values()) for place, some in found.items()}


def _product(row: Any) -> CatalogProduct:
    return CatalogProduct(**{**dict(row), "data": from_json(row["data"])})


class StoredCatalogSearch:
    """Implements `model.lookup.CatalogSearch`."""

    def __init__(self, db: Database) -> None:
        self._db = db

    async def by_key(
        self, org_id: int, variant: str, queries: Sequence[SearchQuery], source: str | None
    ) -> Mapping[int, Sequence[CatalogCandidate]]:
        return await self._found(_STATEMENTS[variant], org_id, queries, source, _MOST_BY_KEY)

    async def by_words(
        self, org_id: int, queries: Sequence[SearchQuery], source: str | None
    ) -> Mapping[int, Sequence[CatalogCandidate]]:
        return await self._found(_sql.by_words, org_id, queries, source, _MOST_BY_WORDS)

    async def _found(
        self, statement: str, org_id: int, queries: Sequence[SearchQuery], source: str | None,
        most: int,
    ) -> Mapping[int, Sequence[CatalogCandidate]]:  # fmt: skip
        if not queries:
            return {}
        async with self._db.transaction_with(_BITMAPS) as conn:
            rows = await conn.fetch(
                statement, org_id, [one.place for one in queries], [one.text for one in queries],
                source, most,
            )  # fmt: skip
        return _by_place(rows)

    async def by_image(
        self, org_id: int, queries: Sequence[ImageQuery], source: str | None
    ) -> Mapping[int, Sequence[CatalogCandidate]]:
        if not queries:
            return {}
        async with self._db.transaction_with(_BITMAPS) as conn:
            rows = await conn.fetch(
                _pictures.near_pictures, org_id, [one.place for one in queries],
                [one.phash for one in queries], [one.dhash for one in queries],
                MAX_DISTANCE, _MOST_PICTURES, source,
            )  # fmt: skip
        return _by_place(rows)

    async def written_by(
        self, org_id: int, job_id: UUID, after: UUID | None, most: int
    ) -> Sequence[CatalogProduct]:
        async with self._db.acquire() as conn:
            rows = await conn.fetch(_sql.written_by_job, org_id, job_id, after or _FIRST, most)
        return [_product(row) for row in rows]

    async def whole_products(
        self, org_id: int, ids: Sequence[UUID]
    ) -> Mapping[UUID, CatalogProduct]:
        if not ids:
            return {}
        async with self._db.acquire() as conn:
            rows = await conn.fetch(_sql.products_by_id, org_id, list(set(ids)))
        return {row["id"]: _product(row) for row in rows}
