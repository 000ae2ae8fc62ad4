"""What `penstock jobs` asks of the engine beyond a change of state."""

from __future__ import annotations

from datetime import UTC, datetime
from typing import Any
from uuid import UUID

from penstock.cli.errors import NOT_FOUND, USAGE, CliError
from penstock.cli.job_control import full_view
from penstock.cli.session import local_admin, opened_engine, quiet_logs
from penstock.engine import bulk
from penstock.engine.bulk_service import go_on
from penstock.engine.parts import Parts
from penstock.engine.retry_failed import retry_failed
from penstock.model.fairness import MAX_PRIORITY, PRIORITIES
from penstock.model.reprocess import Selection
from penstock.settings import Settings
from penstock.store import bulk as store
from penstock.store import jobs

_TURN_S = 1.0


def priority_of(text: str) -> int:
    number = PRIORITIES.get(text, int(text) if text.isascii() and text.isdigit() else -1)
    if not 0 <= number <= MAX_PRIORITY:
        words = ", ".join(PRIORITIES)
        raise CliError(USAGE, f"{text!r} is no priority: use 0 to {MAX_PRIORITY}, or {words}.")
    return number


async def reprocessed(job_id: UUID, selection: Selection) -> dict[str, Any]:
    """Reprocess to the last item, however many there are; answers as the API does."""
    quiet_logs()
    async with opened_engine(Settings(), "control", listens=False) as parts:
        async with parts.db.transaction() as conn:
            if await jobs.get_job(conn, job_id) is None:
                raise CliError(NOT_FOUND, f"There is no job {job_id}.")
            who = await local_admin(conn)
            made = await bulk.reprocess_job(parts, conn, who, job_id, selection)
        items, left_out = made.items, made.left_out
        if made.operation_id is not None:
            operation = await to_the_end(parts, made.operation_id)
            items, left_out = operation["items"], operation["items_left_out"]
        elif made.lane is not None:
            await parts.broker.wake(made.lane)
        shown = await full_view(parts.db, job_id)
    answer = {"reprocessed": items, "leftOut": left_out, "job": shown}
    if made.operation_id is not None:
        answer["operationId"] = str(made.operation_id)
    return answer


async def retried(since: datetime | None) -> dict[str, Any]:
    quiet_logs()
    async with opened_engine(Settings(), "control", listens=False) as parts:
        async with parts.db.transaction() as conn:
            who = await local_admin(conn)
        moment = None if since is None else since.replace(tzinfo=since.tzinfo or UTC)
        made = await retry_failed(parts, parts.db.transaction, who, moment)
    jobs = [str(job_id) for job_id in made.jobs]
    return {"retriedCount": len(jobs), "jobs": jobs, "more": made.more}


async def to_the_end(parts: Parts, operation_id: UUID) -> Any:
    """Whoever interrupts this leaves the rest to the workers."""
    while not await go_on(parts, operation_id, _TURN_S):
        pass
    async with parts.db.acquire() as conn:
        return await store.get(conn, operation_id)
