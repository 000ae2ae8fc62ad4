"""Find jobs that are inconsistent or stuck, and recompute their counters from their items."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any
from uuid import UUID

from penstock.model.states import ItemStatus
from penstock.store.database import Connection
from penstock.store.jobs import ranges
from penstock.store.jobs.transitions import COUNTER_OF, JobMove, Written, write_moves
from penstock.store.queries import load

_sql = load("reconcile")
_claims = load("claims")
_ENDED = ("done", "error", "not_found", "skipped")


@dataclass(frozen=True, slots=True)
class Overdue:
    job_id: UUID
    worker: str
    stage: str


async def overdue(
    conn: Connection, limit_ms: float, job_id: UUID | None, most: int
) -> list[Overdue]:
    """Jobs beyond their time limit; with ``job_id`` only that one."""
    rows = await conn.fetch(_sql.overdue_jobs, limit_ms, job_id, most)
    return [Overdue(row["id"], row["worker"], row["stage"]) for row in rows]


async def stuck(conn: Connection, after_ms: float, most: int) -> list[UUID]:
    return [row["id"] for row in await conn.fetch(_sql.stuck_jobs, after_ms, most)]


async def abandoned_holds(conn: Connection, most: int) -> dict[UUID, UUID]:
    """Jobs that are still held by a bulk operation that has ended, with that operation."""
    rows = await conn.fetch(_sql.abandoned_jobs, most)
    return {row["id"]: row["reopening"] for row in rows}


async def repair(conn: Connection, job_id: UUID) -> tuple[list[str], Written] | None:
    """Recompute a job's counters from its items; answers what was wrong, or None if the job is
    leased or has ended. ``conn`` holds the claim lock, so that no lease is opened meanwhile."""
    if await conn.fetchval(_sql.is_held, job_id):
        return None
    freed = int((await conn.execute(_sql.free_items, job_id)).removeprefix("UPDATE "))
    job = await conn.fetchrow(_sql.job_counters, job_id)
    if job is None:
        return None
    wrong = [f"{freed} items were marked as held, but had no lease"] if freed else []
    move = JobMove()
    stages = await conn.fetch(_sql.stage_counts, job_id)
    waiting = {row["stage"]: row for row in await conn.fetch(_sql.open_counts, job_id)}
    # Items of an ending job are only skipped; those of a job being read are opened by its ingest.
    opens = job["ingest_done"] and job["state"] != "cancelling"
    wrong += _stage_moves(move, stages, waiting, opens=opens)
    unread = await ranges.recount(conn, job_id)
    wrong += _range_moves(move, stages, unread, opens=opens)
    pending = sum(row["pending"] for row in waiting.values()) + unread.rows
    wrong += await _counter_moves(conn, move, job, pending)
    await conn.execute(_sql.make_ready, job_id)
    told = wrong or ["it rested although it had work"]
    message = f"The job stood still and was mended: {'; '.join(told)}"
    move.events.append(("job.warning", {"message": message}))
    written = await write_moves(conn, {job_id: move}, None)
    await conn.execute(_claims.refresh_ready, [job_id])
    return told, written


def _stage_moves(
    move: JobMove, stages: list[Any], waiting: dict[int, Any], *, opens: bool
) -> list[str]:
    wrong = []
    for row in stages:
        if row["kind"] != "items":
            continue
        truth = waiting.get(row["position"])
        pending = truth["pending"] if truth is not None else 0
        stage = move.stage(row["position"])
        stage.pending, stage.open = pending - row["pending"], pending - row["open"]
        if truth is not None and opens:
            stage.wait(truth["delay_ms"])
        if stage.pending or stage.open:
            wrong.append(
                f"stage {row['position']} counted {row['pending']} waiting and {row['open']} open"
                f" items of {pending}"
            )
    return wrong


def _range_moves(
    move: JobMove, stages: list[Any], found: ranges.RangeCounts, *, opens: bool
) -> list[str]:
    believed = next((row for row in stages if row["kind"] == "ranges"), None)
    if believed is None:
        return []
    stage = move.stage(ranges.RANGES)
    stage.pending, stage.open = found.pending - believed["pending"], found.open - believed["open"]
    if found.pending and opens:
        stage.wait(0)
    if not stage.pending and not stage.open:
        return []
    return [f"{believed['pending']} free ranges of rows were counted, there are {found.pending}"]


async def _counter_moves(conn: Connection, move: JobMove, job: Any, pending: int) -> list[str]:
    """Count all items only if the open ones do not add up."""
    if (job["pending"], job["processing"]) == (pending, 0):
        return []
    truth = dict.fromkeys(_ENDED, 0) | {"pending": pending, "processing": 0}
    for row in await conn.fetch(_sql.ended_counts, job["id"]):
        truth[COUNTER_OF[ItemStatus(row["status"])]] = row["items"]
    truth["total"] = sum(truth.values())
    changed = []
    for name, value in truth.items():
        move.count(name, value - job[name])
        if value != job[name]:
            changed.append(f"{name} was {job[name]} and is {value}")
    return changed
