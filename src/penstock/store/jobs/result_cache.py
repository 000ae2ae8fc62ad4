"""Find and copy the results of an earlier job with the same file."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any
from uuid import UUID

from penstock.model.states import ItemStatus
from penstock.store.database import Connection, from_json
from penstock.store.jobs.claims import ClaimedJob
from penstock.store.jobs.transitions import COUNTER_OF, JobMove
from penstock.store.queries import load

_sql = load("result_cache")
# Errors that do not depend on the file: results with these are not reused.
OURS = (
    "INTERNAL_ERROR", "WORKER_CRASHED", "API_TIMEOUT", "TOO_SLOW", "TOO_LARGE_FOR_MEMORY",
)  # fmt: skip


@dataclass(frozen=True, slots=True)
class Source:
    """A job whose first-stage results can be reused, with its cursor and context."""

    job_id: UUID
    header: list[str]
    cursor: Mapping[str, Any]
    context: Mapping[str, Any]
    total: int


async def remember(conn: Connection, job_id: UUID, key: str) -> None:
    """Add the job to the cache, in the transaction that ends it."""
    await conn.execute(_sql.remember, job_id, key, list(OURS))


async def find(conn: Connection, org_id: int, sha256: str, key: str, hours: float) -> Source | None:
    row = await conn.fetchrow(_sql.find, org_id, sha256, key, hours)
    if row is None:
        return None
    return Source(
        row["id"], from_json(row["header"]), from_json(row["ingest_cursor"]),
        from_json(row["context"]), row["total"],
    )  # fmt: skip


async def copy_some(
    conn: Connection, source: UUID, job: ClaimedJob, after: int, last: int, without: Sequence[str]
) -> tuple[JobMove, float]:
    """Copy rows of the other job, ``without`` members that later stages added to their documents;
    answers the counter changes and the mean size of a row."""
    copied = await conn.fetch(
        _sql.copy_items, job.id, source, job.user_id, after, last, list(without)
    )
    await conn.execute(_sql.copy_keys, job.id, source, after, last)
    move = JobMove()
    for row in copied:
        status = ItemStatus(row["status"])
        move.count("total", row["rows"])
        move.count(COUNTER_OF[status], row["rows"])
        if status is ItemStatus.PENDING:
            move.stage(1).enter(row["rows"], None)
        elif row["code"] is not None:
            move.errors[row["code"]] = move.errors.get(row["code"], 0) + row["rows"]
    rows = max(1, sum(row["rows"] for row in copied))
    return move, sum(row["bytes"] for row in copied) / rows


async def is_unchanged(conn: Connection, source: UUID) -> bool:
    return bool(await conn.fetchval(_sql.is_unchanged, source))


async def say_cached(conn: Connection, job_id: UUID, source: UUID) -> None:
    await conn.execute(_sql.say_cached, job_id, source)


async def drop_old(conn: Connection, hours: float, most: int) -> int:
    return int((await conn.execute(_sql.drop_old, hours, most)).removeprefix("DELETE "))
