"""Find and copy the results of an earlier job with the same file."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any
from uuid import UUID

from penstock.model.states import ItemStatus
from penstock.store.database import Connection, from_json, to_json
from penstock.store.jobs.claims import ClaimedJob
from penstock.store.jobs.ranges import RANGES
from penstock.store.jobs.transitions import COUNTER_OF, JobMove
from penstock.store.queries import load

_sql = load("result_cache")
# Marks the ingest cursor of a job whose rows were copied with all their results.
WHOLE = "whole"
# Errors that do not depend on the file: results with these are not reused.
OURS = (
    "INTERNAL_ERROR", "WORKER_CRASHED", "API_TIMEOUT", "TOO_SLOW", "TOO_LARGE_FOR_MEMORY",
)  # fmt: skip


@dataclass(frozen=True, slots=True)
class Source:
    """A job of the same file whose rows or results can be reused, with its cursor and context."""

    job_id: UUID
    user_id: int
    config: Mapping[str, Any]
    started_at: datetime
    header: list[str]
    cursor: Mapping[str, Any]
    context: Mapping[str, Any]
    total: int
    # The mean size of a row's input.
    row_bytes: float


async def remember(conn: Connection, job_id: UUID, key: str) -> None:
    """Add the job to the cache, in the transaction that ends it."""
    await conn.execute(_sql.remember, job_id, key, list(OURS))


async def find(conn: Connection, org_id: int, sha256: str, key: str, hours: float) -> Source | None:
    row = await conn.fetchrow(_sql.find, org_id, sha256, key, hours)
    if row is None:
        return None
    return Source(
        row["id"], row["user_id"], from_json(row["config"]), row["started_at"],
        from_json(row["header"]), from_json(row["ingest_cursor"]), from_json(row["context"]),
        row["total"], row["row_bytes"],
    )  # fmt: skip


async def copy_as_range(
    conn: Connection, source: UUID, job: ClaimedJob, after: int, last: int
) -> tuple[JobMove, float]:
    """Copy rows of the other job as they were read, as one range; answers the counter changes and
    the mean size of a row."""
    copied = await conn.fetchrow(_sql.copy_range, job.id, source, after, last)
    assert copied is not None
    move = JobMove()
    move.count("total", copied["rows"])
    move.count("pending", copied["rows"])
    move.stage(RANGES).enter(1, None)
    return move, copied["bytes"] / copied["rows"]


async def share_rows(conn: Connection, source: UUID, job_id: UUID) -> tuple[JobMove, float]:
    """The job has all rows of the other one, of the same user, which `is_unchanged` has locked,
    until `own_rows`; answers as `copy_as_range` does."""
    shared = await conn.fetchrow(_sql.share_rows, job_id, source)
    assert shared is not None
    move = JobMove()
    for name, rows in shared.items():
        move.count(name, rows)
    codes = await conn.fetch(_sql.error_codes, source)
    move.errors.update({row["code"]: row["count"] for row in codes})
    return move, await _row_bytes(conn, source)


async def copy_results(
    conn: Connection, source: UUID, job: ClaimedJob, after: int, last: int
) -> tuple[JobMove, float]:
    """Copy rows of the other job, which `is_unchanged` has locked, with all their results; answers
    as `copy_as_range` does."""
    rows = await _copy(conn, source, job.id, job.user_id, after, last)
    problems = await conn.fetch(_sql.count_problems, source, after, last)
    move = JobMove()
    move.count("total", rows)
    move.count("done", rows - sum(row["rows"] for row in problems))
    _count(move, problems)
    return move, await _row_bytes(conn, source)


async def own_rows(conn: Connection, job_id: UUID) -> None:
    """Copy rows that a job shares with others, before it changes or loses its own."""
    for row in await conn.fetch(_sql.lock_sharing, job_id):
        await _own(conn, row, row["total"])


async def own_some(conn: Connection, job_id: UUID, most: int) -> bool:
    """Copy some of the rows that an ended job shares; answers whether there are more."""
    row = await conn.fetchrow(_sql.lock_own_sharing, job_id)
    return row is not None and await _own(conn, row, most)


async def _own(conn: Connection, job: Any, most: int) -> bool:
    after = await conn.fetchval(_sql.last_copied, job["id"])
    last = min(after + most, job["total"])
    await _copy(conn, job["shared_from"], job["id"], job["user_id"], after, last)
    if last == job["total"]:
        await conn.execute(_sql.stop_sharing, job["id"])
    return bool(last < job["total"])


async def _copy(
    conn: Connection, source: UUID, job_id: UUID, user_id: int, after: int, last: int
) -> int:
    copied = await conn.execute(_sql.copy_results, job_id, source, user_id, after, last)
    await conn.execute(_sql.copy_keys, job_id, source, after, last)
    return int(copied.removeprefix("INSERT 0 "))


async def _row_bytes(conn: Connection, source: UUID) -> float:
    return float(await conn.fetchval(_sql.row_bytes, source) or 0)


async def next_sharing(conn: Connection, most: int, seconds: float) -> list[UUID]:
    return [row["id"] for row in await conn.fetch(_sql.next_sharing, most, seconds)]


async def copied_summary(conn: Connection, job_id: UUID) -> Mapping[str, Any] | None:
    """The summary of the job whose results were all copied; None if there is none to be used."""
    found = await conn.fetchval(_sql.copied_summary, job_id, to_json({WHOLE: True}))
    summary: Mapping[str, Any] | None = from_json(found)
    return summary


def _count(move: JobMove, copied: Sequence[Any]) -> None:
    for row in copied:
        status = ItemStatus(row["status"])
        move.count(COUNTER_OF[status], row["rows"])
        if row["code"] is not None:
            move.errors[row["code"]] = move.errors.get(row["code"], 0) + row["rows"]


async def is_unchanged(conn: Connection, source: UUID) -> bool:
    return bool(await conn.fetchval(_sql.is_unchanged, source))


async def mark_cached(conn: Connection, job_id: UUID, source: UUID) -> None:
    await conn.execute(_sql.mark_cached, job_id, source)


async def drop_old(conn: Connection, hours: float, most: int) -> int:
    return int((await conn.execute(_sql.drop_old, hours, most)).removeprefix("DELETE "))
