"""How far a job is, stage by stage."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from uuid import UUID

from penstock.store.database import Connection
from penstock.store.queries import load as load_queries

_sql = load_queries("phases")


@dataclass(frozen=True, slots=True)
class JobPhases:
    """Open items by stage, and what was counted of the products. ``config`` is JSON."""

    state: str
    config: str
    open: Mapping[str, int]
    counted: Mapping[str, int]


async def load(conn: Connection, job_id: UUID) -> JobPhases | None:
    row = await conn.fetchrow(_sql.job_of_phases, job_id)
    if row is None:
        return None
    stages = await conn.fetch(_sql.open_by_stage, job_id)
    counts = await conn.fetch(_sql.counted_products, job_id)
    return JobPhases(
        row["state"], row["config"], {one["name"]: one["open"] for one in stages},
        {one["counter"]: one["value"] for one in counts},
    )  # fmt: skip
