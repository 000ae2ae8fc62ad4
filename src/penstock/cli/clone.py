"""`penstock jobs clone`: a job once more."""

from __future__ import annotations

import asyncio
from typing import Annotated

import typer

from penstock.cli import shown
from penstock.cli.jobs import JobId


def clone(
    job_id: JobId,
    priority: Annotated[
        int | None, typer.Option(min=0, max=100, help="Instead of the old job's; larger first.")
    ] = None,
    json: shown.Json = False,
) -> None:
    """Ask for the same work again, as a new job; prints its id."""
    from penstock.cli.job_control import cloned

    made = asyncio.run(cloned(job_id, priority))
    if json:
        shown.as_json({"id": str(job_id), "newJobId": made})
    else:
        print(made)
