"""Rows of a job that are held back until a person accepts them."""

from __future__ import annotations

from dataclasses import dataclass
from uuid import UUID

from penstock.model.held_rows import HELD_CODES
from penstock.store.database import Connection
from penstock.store.queries import load

_sql = load("held_rows")


@dataclass(frozen=True, slots=True)
class HeldRow:
    """``percent`` is None for a GTIN, and for a price that was 0."""

    row_no: int
    code: str
    message: str
    field: str | None
    before: str | None
    after: str | None
    currency: str | None
    percent: float | None
    sku: str | None
    title: str | None


async def held_rows(
    conn: Connection, job_id: UUID, limit: int, *, is_check: bool = False
) -> list[HeldRow]:
    """The largest change first. Of a check: rows that an import would hold back."""
    rows = await conn.fetch(_sql.held_rows, job_id, list(HELD_CODES), limit, is_check)
    return [HeldRow(**row) for row in rows]
