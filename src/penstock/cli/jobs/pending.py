"""`penstock pending`: open rows of many jobs."""

from __future__ import annotations

import asyncio
from enum import StrEnum
from typing import Annotated, Any
from uuid import UUID

import typer

from penstock.cli import printing
from penstock.cli.jobs.jobs import parse_job_id


class Status(StrEnum):
    PENDING = "PENDING"
    PROCESSING = "PROCESSING"


def pending(
    status: Annotated[Status | None, typer.Option(help="In this state only.")] = None,
    pipeline: Annotated[str | None, typer.Option(help="Of jobs of this pipeline only.")] = None,
    job: Annotated[
        UUID | None,
        typer.Option(metavar="ID", parser=parse_job_id, help="Of this job only."),
    ] = None,
    everyone: Annotated[bool, typer.Option("--all", help="Jobs of all users; for admins.")] = False,
    limit: Annotated[int, typer.Option(min=1, max=500, help="At most so many.")] = 20,
    json: printing.Json = False,
) -> None:
    """List rows of your jobs that wait or run, longest unchanged first. Needs
    PENSTOCK_GLOBAL_PENDING."""
    page = asyncio.run(
        _found(
            limit,
            statuses=status,
            job_type=pipeline,
            job_id=job,
            user_id="all" if everyone else "me",
        )
    )
    if json:
        printing.as_json(page)
        return
    rows, counts = page["items"], page["counts"]
    head = ("ROW", "JOB", "STATUS", "TRIES", "UPDATED (UTC)", "LOCKED BY", "TITLE", "SKU")
    printing.columns(
        head,
        [
            (
                row["rowNo"], row["jobId"], row["status"], row["attempts"],
                printing.moment(row["updatedAt"]), row["lockedBy"] or "",
                (row["inputSummary"]["title"] or "")[:40], row["inputSummary"]["sku"] or "",
            )
            for row in rows
        ],
    )  # fmt: skip
    printing.note(f"{counts['pending']:,} rows wait, {counts['processing']:,} run.")
    for one in page["oldest"][:3]:
        name = one["jobName"] or one["jobType"]
        printing.note(f"Job {one['jobId']} ({name}): untouched for {one['ageMs'] / 1000:,.0f} s.")


async def _found(limit: int, **filters: Any) -> dict[str, Any]:
    from penstock.cli.connection import connected

    async with connected() as penstock:
        found: dict[str, Any] = await penstock.get("/api/pending", page_size=limit, **filters)
    return found
