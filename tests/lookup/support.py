"""A catalog to look products up in, and lookups of lists."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any
from uuid import UUID

from tests.fixtures import Bench

from penstock.catalog.products.matching import identifiers_of
from penstock.model.ids import new_id
from penstock.model.text.json_text import from_json, to_json

TOOLS: Sequence[Mapping[str, Any]] = (
    {
        "sourceId": "T-1",
        "title": "Claw hammer 16 oz fibreglass",
        "brand": "Hultafors",
        "identifiers": {"sku": "T-1", "gtin": "4006381333931", "mpn": "HF-820"},
        "price": {"amount": "19.90", "currency": "EUR"},
    },
    {
        "sourceId": "T-2",
        "title": "Round nose pliers 160 mm",
        "brand": "Knipex",
        "identifiers": {"sku": "T-2", "mpn": "22 01 160"},
    },
    {
        "sourceId": "T-3",
        "title": "Hex bolt M8x20 stainless A2",
        "brand": "Würth",
        "identifiers": {"sku": "B-820"},
    },
    {
        "sourceId": "T-4",
        "title": "Hex bolt M8x30 stainless A2",
        "brand": "Würth",
        "identifiers": {"sku": "B-830"},
    },
)


@dataclass
class Catalog:
    """Writes products and runs lookups, in the words of a test."""

    bench: Bench

    async def add(self, products: Sequence[Mapping[str, Any]], source: str = "tools") -> None:
        async with self.bench.runtime.db.transaction() as conn:
            for one in products:
                names = identifiers_of(one)
                await conn.execute(
                    "INSERT INTO products (id, org_id, source, source_id, sku, gtin, data, job_id,"
                    " row_no, maker, words) VALUES ($1, $2, $3, $4, $5, $6, $7::jsonb, $8, 1,"
                    " maker_key($7::jsonb), title_words($7::jsonb->>'title'))",
                    new_id(), self.bench.who.org_id, source, one["sourceId"], names.sku,
                    names.gtin, to_json({**one, "source": source}), new_id(),
                )  # fmt: skip

    async def submit(self, rows: Sequence[Mapping[str, Any]], **config: Any) -> UUID:
        return await self.bench.submit("lookup", {"rows": list(rows), **config})

    async def look_up(self, rows: Sequence[Mapping[str, Any]], **config: Any) -> UUID:
        job_id = await self.submit(rows, **config)
        await self.bench.work()
        return job_id

    async def results(self, job_id: UUID) -> list[dict[str, Any]]:
        """The cells of all rows, with their status and error."""
        return [
            {**(from_json(row["result"]) or {}), "status": row["status"],
             "error": from_json(row["error"])}
            for row in await self.bench.items(job_id)
        ]  # fmt: skip

    async def searches(self, job_id: UUID, row_no: int = 1) -> list[dict[str, Any]]:
        async with self.bench.runtime.db.acquire() as conn:
            rows = await conn.fetch(
                "SELECT * FROM search_events WHERE job_id = $1 AND row_no = $2 ORDER BY id",
                job_id, row_no,
            )  # fmt: skip
        return [dict(row) for row in rows]
