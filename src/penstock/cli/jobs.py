"""`penstock jobs`: looking at jobs and controlling them, straight on the database."""

from __future__ import annotations

import asyncio
from enum import StrEnum
from typing import Annotated, Any
from uuid import UUID

import typer

from penstock.cli import shown

app = typer.Typer(help="Look at jobs and control them.", no_args_is_help=True)
JobId = Annotated[UUID, typer.Argument(metavar="ID", help="The job's id.")]


class State(StrEnum):
    QUEUED = "queued"
    DELAYED = "delayed"
    RUNNING = "running"
    PAUSED = "paused"
    CANCELLING = "cancelling"
    DONE = "done"
    FAILED = "failed"
    CANCELLED = "cancelled"


@app.command("list")
def list_jobs(
    state: Annotated[State | None, typer.Option(help="In this state only.")] = None,
    pipeline: Annotated[str | None, typer.Option(help="Of this pipeline only.")] = None,
    limit: Annotated[int, typer.Option(min=1, max=1000, help="At most so many.")] = 20,
    json: shown.Json = False,
) -> None:
    """Jobs of all orgs, newest first."""
    from penstock.cli import job_view
    from penstock.cli.job_control import listed

    found, notes = asyncio.run(listed(state, pipeline, limit))
    if json:
        shown.as_json([job_view.as_json(row) for row in found])
        return
    rows = [
        (
            row["id"], job_view.state_of(row), f"{row['percent']:.0f} %", row["total"],
            row["error"], row["pipeline"], row["org"], shown.moment(row["created_at"]), row["name"],
        )
        for row in found
    ]  # fmt: skip
    head = ("ID", "STATE", "DONE", "ROWS", "FAILED", "PIPELINE", "ORG", "CREATED (UTC)", "NAME")
    shown.columns(head, rows)
    for note in notes:
        shown.note(note)


@app.command("show")
def show(job_id: JobId, json: shown.Json = False) -> None:
    """One job with its counters, its summary and its errors."""
    from penstock.cli.job_control import found

    job = asyncio.run(found(job_id))
    if json:
        shown.as_json(job)
        return
    counters = {name: count for name, count in job["counters"].items() if count}
    shown.fields(
        [
            ("Job", job["id"]),
            ("Name", job["name"]),
            ("Pipeline", job["pipeline"]),
            ("Org", job["org"]),
            ("State", job["state"]),
            ("Progress", f"{job['progress']['percent']} %, {job['progress']['message']}"),
            ("Rows", _pairs(counters)),
            ("Errors", _pairs(job["errors"])),
            ("Summary", _pairs(job["summary"] or {})),
            ("Last error", _error_line(job["lastError"])),
            ("Created (UTC)", shown.moment(job["createdAt"])),
            ("Started (UTC)", shown.moment(job["startedAt"])),
            ("Finished (UTC)", shown.moment(job["finishedAt"])),
        ]
    )


@app.command("watch")
def watch(job_id: JobId, json: shown.Json = False) -> None:
    """Show a job's progress until it ends. Exit code 0: done; 3: some rows failed; 1: it failed."""
    from penstock.cli.job_control import watched

    job = asyncio.run(watched(job_id))
    if json:
        shown.as_json(job)
    else:
        print(f"{job['state']}: {_pairs({k: v for k, v in job['counters'].items() if v})}")
    if job["state"] == State.FAILED and job["lastError"]:
        shown.note(f"penstock: {_error_line(job['lastError'])}")
    raise typer.Exit(ending_code(job["state"], job["counters"]["error"]))


@app.command("pause")
def pause(job_id: JobId, json: shown.Json = False) -> None:
    """Start nothing more of a job; what runs is finished."""
    _control(job_id, "pause", json)


@app.command("resume")
def resume(job_id: JobId, json: shown.Json = False) -> None:
    """Go on with a paused job."""
    _control(job_id, "resume", json)


@app.command("cancel")
def cancel(job_id: JobId, json: shown.Json = False) -> None:
    """End a job; rows that are not finished are skipped."""
    _control(job_id, "cancel", json)


def _control(job_id: UUID, action: str, json: bool) -> None:
    from penstock.cli.job_control import control

    state = asyncio.run(control(job_id, action))
    if json:
        shown.as_json({"id": str(job_id), "state": state})
    else:
        print(state)


def ending_code(state: str, failed_rows: int) -> int:
    from penstock.cli.errors import FAILURE, ROWS_FAILED

    if state != State.DONE:
        return FAILURE
    return ROWS_FAILED if failed_rows else 0


def _pairs(values: dict[str, Any]) -> str:
    return ", ".join(f"{name} {value}" for name, value in values.items() if value is not None)


def _error_line(error: dict[str, Any] | None) -> str:
    return "" if error is None else f"{error['code']}: {error['message']}"
