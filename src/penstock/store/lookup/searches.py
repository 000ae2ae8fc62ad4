"""Searches that were recorded. `StoredSearches` implements `Searches`."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any
from uuid import UUID

from penstock.model.effects import Asked, RecordSearch
from penstock.model.lookup import PastSearch
from penstock.store.database import Connection, Database, from_json, to_json
from penstock.store.queries import load

_sql = load("searches")


@dataclass(frozen=True, slots=True)
class SearchEvent:
    """A recorded search, as the API shows it."""

    id: int
    attempt: int
    provider: str
    variant: str
    query: str
    outcome: str
    score: float | None
    candidates: int
    latency_ms: float
    error: Mapping[str, Any] | None
    created_at: datetime


async def add(conn: Connection, org_id: int, job_id: UUID, asked: Sequence[Asked]) -> None:
    """Record the searches that items asked for with `RecordSearch`."""
    found: list[tuple[int, RecordSearch]] = [(one.row_no, one.effect) for one in asked]
    await conn.execute(
        _sql.add_searches, org_id, job_id, [row for row, _ in found],
        [one.attempt for _, one in found], [one.provider for _, one in found],
        [one.variant for _, one in found], [one.query for _, one in found],
        [one.outcome for _, one in found], [one.score for _, one in found],
        [one.candidates for _, one in found], [one.latency_ms for _, one in found],
        [None if one.error is None else to_json(one.error.as_json()) for _, one in found],
        [None if one.answer is None else to_json(one.answer) for _, one in found],
    )  # fmt: skip


async def of_item(
    conn: Connection, job_id: UUID, row_no: int, after: int, most: int
) -> list[SearchEvent]:
    rows = await conn.fetch(_sql.searches_of_item, job_id, row_no, after, most)
    return [SearchEvent(**{**dict(row), "error": from_json(row["error"])}) for row in rows]


class StoredSearches:
    """Implements `model.lookup.Searches`."""

    def __init__(self, db: Database) -> None:
        self._db = db

    async def of_rows(
        self, job_id: UUID, rows: Sequence[int]
    ) -> Mapping[int, Sequence[PastSearch]]:
        past: dict[int, list[PastSearch]] = {}
        async with self._db.acquire() as conn:
            found = await conn.fetch(_sql.searches_of_rows, job_id, list(rows))
        for row in found:
            past.setdefault(row["row_no"], []).append(
                PastSearch(
                    row["attempt"], row["provider"], row["variant"], row["outcome"],
                    from_json(row["answer"]),
                )
            )  # fmt: skip
        return past
