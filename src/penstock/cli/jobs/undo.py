"""`penstock jobs undo`: products as they were before a job."""

from __future__ import annotations

import asyncio
from typing import Annotated, Any
from uuid import UUID

import typer

from penstock.cli import printing
from penstock.cli.jobs.jobs import JobId

_MOST_NAMED = 20


def undo(
    job_id: JobId,
    dry_run: Annotated[
        bool, typer.Option("--dry-run", help="Only say what would be undone.")
    ] = False,
    yes: Annotated[bool, typer.Option("--yes", "-y", help="Do not ask first.")] = False,
    json: printing.Json = False,
) -> None:
    """Put every product back as it was before a job. What would be undone is shown first.

    Products changed since are refused, and named: undo the later job first. Exit code 0: all is
    undone; 3: some products were refused.
    """
    from penstock.cli.errors import ROWS_FAILED

    if dry_run or not yes:
        told = asyncio.run(_undo(job_id, dry_run=True))
        if dry_run:
            _show(told, json, "would be")
            return
        _tell_refused(told)
        if told["restored"] or told["deleted"]:
            what = "products and job postings" if told["postings"] else "products"
            asked = f"Restore {told['restored']:,} {what} and remove {told['deleted']:,}?"
            typer.confirm(asked, abort=True, err=True)
    made = asyncio.run(_undo(job_id, dry_run=False))
    _show(made, json, "are")
    raise typer.Exit(ROWS_FAILED if made["refusedCount"] else 0)


def _show(told: dict[str, Any], json: bool, verb: str) -> None:
    if json:
        printing.as_json(told)
        return
    print(
        f"{told['restored']:,} {verb} restored, {told['deleted']:,} {verb} removed, "
        f"{told['refusedCount']:,} {verb} refused"
    )
    _tell_refused(told)


def _tell_refused(told: dict[str, Any]) -> None:
    for one in told["refused"][:_MOST_NAMED]:
        known = one.get("productId") or f"job posting {one['postingId']}"
        name = f"{one['source']}:{one['sourceId']}" if one.get("source") else known
        printing.note(f"Refused: {name} (row {one['rowNo'] or '–'}). {one['reason']}")
    if told["refusedCount"] > _MOST_NAMED:
        printing.note(f"… and {told['refusedCount'] - _MOST_NAMED:,} more.")


async def _undo(job_id: UUID, *, dry_run: bool) -> dict[str, Any]:
    from penstock.cli.connection import connected

    made: dict[str, Any] = {
        "restored": 0, "deleted": 0, "postings": 0, "refusedCount": 0, "refused": [],
    }  # fmt: skip
    more, last = True, None
    async with connected() as penstock:
        while more:
            some = await penstock.post(f"/api/jobs/{job_id}/undo", dry_run=dry_run, after=last)
            more, last = some["more"], some["next"]
            for name in made:
                made[name] += some[name]
            if more:
                printing.note(f"{made['restored'] + made['deleted']:,} products so far")
    return made
