"""What `penstock jobs` does on the database, in the name of the local admin."""

from __future__ import annotations

import asyncio
from typing import Any
from uuid import UUID

from penstock.cli import job_view
from penstock.cli.errors import FAILURE, NOT_FOUND, CliError
from penstock.cli.progress import ProgressBar
from penstock.cli.session import local_admin, opened, opened_engine, quiet_logs
from penstock.cli.shown import note
from penstock.engine import ending
from penstock.settings import Settings
from penstock.store import accounts, claims, jobs
from penstock.store.database import Connection, Database

_LOOK_S = 0.25


async def listed(
    state: str | None, pipeline: str | None, limit: int
) -> tuple[list[Any], list[str]]:
    """Jobs, and what is worth a note beside them."""
    quiet_logs()
    states = None if state is None else [state]
    settings = Settings()
    async with opened(settings) as session, session.db.acquire() as conn:
        found = await jobs.list_jobs(conn, states=states, pipeline=pipeline, limit=limit)
        queue = await jobs.queue_state(conn)
    notes = []
    if not found:
        where = "the database" if settings.database_url else settings.data_dir
        notes.append(f"No such jobs in {where}.")
    if queue["depth"] and not queue["workers"]:
        notes.append("No worker is running, so nothing moves: start one with `penstock up`.")
    return found, notes


async def found(job_id: UUID) -> dict[str, Any]:
    quiet_logs()
    async with opened(Settings()) as session:
        return await full_view(session.db, job_id)


async def full_view(db: Database, job_id: UUID) -> dict[str, Any]:
    async with db.acquire() as conn:
        row = await _require(conn, job_id)
        return job_view.as_json(row, await jobs.errors_of(conn, job_id))


async def watched(job_id: UUID) -> dict[str, Any]:
    """Show progress until the job ends; answers what became of it."""
    quiet_logs()
    async with opened(Settings()) as session:
        async with session.db.acquire() as conn:
            row = await _require(conn, job_id)
            alone = (await jobs.queue_state(conn))["workers"] == 0
        if alone and not job_view.has_ended(row):
            note("No worker runs: `penstock up` or `penstock worker` starts some.")
        with ProgressBar(row["name"]) as bar:
            while not job_view.has_ended(row):
                bar.tell(job_view.progress_of(row))
                await asyncio.sleep(_LOOK_S)
                async with session.db.acquire() as conn:
                    row = await _require(conn, job_id)
        return await full_view(session.db, job_id)


async def control(job_id: UUID, action: str, priority: int | None = None) -> str:
    """Pause, resume, cancel or change the priority; answers the new state."""
    quiet_logs()
    async with opened_engine(Settings(), "control", listens=False) as parts:
        async with parts.db.transaction() as conn:
            # All who change a job's state but its settles hold this lock: what we see stays true.
            await claims.lock_claims(conn)
            before = await _require(conn, job_id)
            lane = await _act(conn, job_id, action, priority)
            after = await _require(conn, job_id)
            if lane is not None:
                await _audit(conn, action, before, after)
        is_as_asked = action == "cancel" and after["state"] == "cancelled"
        if lane is None and job_view.has_ended(after) and not is_as_asked:
            what = "change" if action == "priority" else action
            raise CliError(
                FAILURE,
                f"Job {job_id} has ended ({after['state']}): there is nothing to {what}.",
            )
        if lane is not None:
            await parts.broker.wake(lane)
    return job_view.state_of(after)


async def _act(conn: Connection, job_id: UUID, action: str, priority: int | None) -> str | None:
    match action:
        case "priority":
            assert priority is not None
            return await jobs.set_priority(conn, job_id, priority)
        case "pause":
            return await jobs.pause(conn, job_id)
        case "resume":
            return await jobs.resume(conn, job_id)
        case _:
            return await ending.cancel(conn, job_id)


async def _audit(conn: Connection, action: str, before: Any, after: Any) -> None:
    who = await local_admin(conn)

    def seen(row: Any) -> dict[str, Any]:
        if action == "priority":
            return {"priority": row["priority"]}
        return {"state": job_view.state_of(row)}

    await accounts.audit(
        conn, before["org_id"], who.user_id, f"job.{action}", f"job:{before['id']}",
        before=seen(before), after=seen(after),
    )  # fmt: skip


async def _require(conn: Connection, job_id: UUID) -> Any:
    row = await jobs.get_job(conn, job_id)
    if row is None:
        raise CliError(NOT_FOUND, f"There is no job {job_id}.")
    return row
