"""`penstock jobs clone`: a job once more."""

from __future__ import annotations

import asyncio
from typing import Annotated

import typer

from penstock.cli import printing
from penstock.cli.jobs.jobs import JobId


def clone(
    job_id: JobId,
    priority: Annotated[
        int | None, typer.Option(min=0, max=100, help="Instead of the old job's; larger first.")
    ] = None,
    json: printing.Json = False,
) -> None:
    """Ask for the same work again, as a new job; prints its id."""
    from penstock.cli.jobs.control import cloned

    made = asyncio.run(cloned(job_id, priority))
    if json:
        printing.as_json({"id": str(job_id), "newJobId": made})
    else:
        print(made)
