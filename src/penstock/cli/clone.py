"""`penstock jobs clone`: a job once more."""

from __future__ import annotations

import asyncio
from typing import Annotated
from uuid import UUID

import typer

from penstock.cli import shown


def clone(
    job_id: Annotated[UUID, typer.Argument(metavar="ID", help="The job's id.")],
    priority: Annotated[
        int | None, typer.Option(min=0, max=100, help="Instead of the old job's; larger first.")
    ] = None,
    json: shown.Json = False,
) -> None:
    """Ask for the same work again, as a new job; prints its id."""
    made = asyncio.run(_clone(job_id, priority))
    if json:
        shown.as_json({"id": str(job_id), "newJobId": str(made)})
    else:
        print(made)


async def _clone(job_id: UUID, priority: int | None) -> UUID:
    from penstock.cli.errors import NOT_FOUND, CliError
    from penstock.cli.session import local_admin, opened_engine, quiet_logs
    from penstock.engine.clone import Copy
    from penstock.engine.clone import clone as clone_job
    from penstock.settings import Settings
    from penstock.store import jobs

    quiet_logs()
    async with opened_engine(Settings(), "clone", listens=False) as parts:
        async with parts.db.transaction() as conn:
            job = await jobs.get_job(conn, job_id)
            if job is None:
                raise CliError(NOT_FOUND, f"There is no job {job_id}.")
            who = await local_admin(conn)
            receipt = await clone_job(parts, conn, who, job, Copy(priority))
        await parts.broker.wake(receipt.lane)
    return receipt.job_id
