"""`penstock jobs`: show and control jobs."""

from __future__ import annotations

import asyncio
import re
from collections.abc import Sequence
from datetime import datetime
from enum import StrEnum
from typing import Annotated, Any
from uuid import UUID

import typer

from penstock.cli import printing
from penstock.cli.jobs.summary_view import counts_of, show_summary

app = typer.Typer(help="Look at jobs and control them.", no_args_is_help=True)
_ID = re.compile(r"[0-9a-fA-F]{8}(-[0-9a-fA-F]{4}){3}-[0-9a-fA-F]{12}")


def parse_job_id(text: str) -> UUID:
    if _ID.fullmatch(text) is None:
        from penstock.cli.errors import USAGE, CliError

        raise CliError(USAGE, f"{text!r} is no job id. `penstock jobs list` shows the ids of jobs.")
    return UUID(text)


JobId = Annotated[UUID, typer.Argument(metavar="ID", parser=parse_job_id, help="The job's id.")]


class Ended(StrEnum):
    DONE = "DONE"
    ERROR = "ERROR"
    NOT_FOUND = "NOT_FOUND"
    SKIPPED = "SKIPPED"


class State(StrEnum):
    QUEUED = "queued"
    DELAYED = "delayed"
    RUNNING = "running"
    PAUSED = "paused"
    CANCELLING = "cancelling"
    DONE = "done"
    FAILED = "failed"
    CANCELLED = "cancelled"


Statuses = Annotated[
    list[Ended] | None,
    typer.Option(
        "--status", help="Items that ended so; several times for several. Else those that failed."
    ),
]
Codes = Annotated[
    list[str] | None, typer.Option("--code", metavar="CODE", help="Only items with this error.")
]
FromStart = Annotated[
    bool, typer.Option("--from-start", help="From the first stage, not where they ended.")
]
ResetAttempts = Annotated[
    bool,
    typer.Option("--reset-attempts", help="Take items that have used up their tries, too."),
]


@app.command("list")
def list_jobs(
    state: Annotated[State | None, typer.Option(help="In this state only.")] = None,
    pipeline: Annotated[str | None, typer.Option(help="Of this pipeline only.")] = None,
    limit: Annotated[int, typer.Option(min=1, max=1000, help="At most so many.")] = 20,
    standing: Annotated[
        bool,
        typer.Option("--standing", help="Also those that send webhooks and notifications."),
    ] = False,
    json: printing.Json = False,
) -> None:
    """List jobs of all orgs, newest first. Standing jobs, which send webhooks and notifications
    and never end, are left out unless --standing or --pipeline asks for them."""
    from penstock.cli.jobs.control import list_jobs as fetch_jobs

    found, notes = asyncio.run(fetch_jobs(state, pipeline, limit, standing=standing))
    if json:
        printing.as_json(found)
        return
    rows = [
        (
            job["id"], "standing" if _stands(job) else job["state"],
            "" if _stands(job) else f"{job['progress']['percent']:.0f} %",
            job["counters"]["total"], job["counters"]["error"], job["pipeline"], job["org"],
            printing.moment(job["createdAt"]), job["name"],
        )
        for job in found
    ]  # fmt: skip
    head = ("ID", "STATE", "DONE", "ROWS", "FAILED", "PIPELINE", "ORG", "CREATED (UTC)", "NAME")
    printing.columns(head, rows)
    for note in notes:
        printing.note(note)


def _stands(job: dict[str, Any]) -> bool:
    """Whether it runs and never ends, so that its state and percentage say nothing."""
    return bool(job.get("standing")) and job["state"] in ("queued", "running")


@app.command("show")
def show(job_id: JobId, json: printing.Json = False) -> None:
    """Show a job with its counters, summary and errors."""
    from penstock.cli.jobs.control import get_job

    job = asyncio.run(get_job(job_id))
    if json:
        printing.as_json(job)
        return
    counters = {name: count for name, count in job["counters"].items() if count}
    printing.fields(
        [
            ("Job", job["id"]),
            ("Name", job["name"]),
            ("Pipeline", job["pipeline"]),
            ("Org", job["org"]),
            ("State", job["state"]),
            (
                "Progress",
                job["progress"]["message"]
                if _stands(job)
                else f"{job['progress']['percent']} %, {job['progress']['message']}",
            ),
            ("Rows", _pairs(counters)),
            ("Errors", _pairs(job["errors"])),
            ("Summary", _pairs(counts_of(job["summary"] or {}))),
            ("Began with", job.get("cachedFrom") and f"results of job {job['cachedFrom']}"),
            ("Last error", _error_line(job["lastError"])),
            ("Created (UTC)", printing.moment(job["createdAt"])),
            ("Started (UTC)", printing.moment(job["startedAt"])),
            ("Finished (UTC)", printing.moment(job["finishedAt"])),
        ]
    )
    show_summary(job["summary"] or {})


@app.command("watch")
def watch(job_id: JobId, json: printing.Json = False) -> None:
    """Show a job's progress until it ends. Exit code 0: done; 3: some rows failed; 1: it failed."""
    from penstock.cli.jobs.control import watched

    show_end(asyncio.run(watched(job_id)), json)


def show_end(job: dict[str, Any], json: bool) -> None:
    """Print how a job ended, and exit accordingly."""
    if json:
        printing.as_json(job)
    else:
        print(f"{job['state']}: {_pairs({k: v for k, v in job['counters'].items() if v})}")
    if job["state"] == State.FAILED and job["lastError"]:
        printing.note(f"penstock: {_error_line(job['lastError'])}")
    if held := (job["summary"] or {}).get("held") if job["state"] == State.DONE else 0:
        rows = printing.count(held, "row is held back", "rows are held back")
        printing.note(f"{rows}: `penstock jobs held {job['id']}` shows why.")
    raise typer.Exit(ending_code(job["state"], job["counters"]["error"]))


@app.command("pause")
def pause(job_id: JobId, json: printing.Json = False) -> None:
    """Pause a job: nothing more of it starts, running items are finished."""
    _control(job_id, "pause", json)


@app.command("resume")
def resume(job_id: JobId, json: printing.Json = False) -> None:
    """Resume a paused job."""
    _control(job_id, "resume", json)


@app.command("cancel")
def cancel(job_id: JobId, json: printing.Json = False) -> None:
    """Cancel a job: rows that are not finished are skipped."""
    _control(job_id, "cancel", json)


@app.command("priority")
def priority(
    job_id: JobId,
    wanted: Annotated[str, typer.Argument(metavar="N", help="0 to 100, high, medium or low.")],
    json: printing.Json = False,
) -> None:
    """Change the priority of a job among the jobs of its org."""
    from penstock.cli.jobs.control import control, priority_of

    job = asyncio.run(control(job_id, "priority", {"priority": priority_of(wanted)}))
    if json:
        printing.as_json(job)
    else:
        print(f"priority {job['priority']}, {job['state']}")


@app.command("reprocess")
def reprocess(
    job_id: JobId,
    status: Annotated[
        list[Ended] | None,
        typer.Option(
            help="Items that ended so; several times for several. Else those that failed."
        ),
    ] = None,
    code: Annotated[
        list[str] | None, typer.Option(metavar="CODE", help="Only items with this error.")
    ] = None,
    row: Annotated[
        list[int] | None, typer.Option(min=1, help="Only this row; several times for several.")
    ] = None,
    from_start: FromStart = False,
    reset_attempts: ResetAttempts = False,
    stage: Annotated[
        str | None, typer.Option(help="Only items that ended in this stage, such as extract.")
    ] = None,
    json: printing.Json = False,
) -> None:
    """Run a job's failed items again; of one that failed or was cancelled, all that is undone."""
    from penstock.cli.jobs.control import reprocessed

    selection = {
        "scope": "items" if row else "job",
        **_rows(row),
        "statuses": [one.value for one in status or ()],
        "codes": code or [],
        "resetAttempts": reset_attempts,
        "fromStart": from_start,
    } | ({"stage": stage} if stage else {})
    made = asyncio.run(reprocessed(job_id, selection))
    if json:
        printing.as_json(made)
        return
    left_out = f", left out {made['leftOut']:,}" if made["leftOut"] else ""
    print(f"reopened {made['reprocessed']:,}{left_out}; the job is {made['job']['state']}")
    if left_out and not reset_attempts:
        typer.echo("Rows without attempts left run again with --reset-attempts.", err=True)


def _rows(row: Sequence[int] | None) -> dict[str, list[int]]:
    """The rows of the order; without any, it is about all that match."""
    return {"itemIds": sorted(set(row))} if row else {}


@app.command("accept")
def accept(
    job_id: JobId,
    code: Annotated[
        list[str] | None,
        typer.Option(metavar="CODE", help="Only rows held back by this code, else all."),
    ] = None,
    row: Annotated[
        list[int] | None, typer.Option(min=1, help="Only this row; several times for several.")
    ] = None,
    json: printing.Json = False,
) -> None:
    """Write rows that were held back as a question, as after a large change of price.

    `penstock jobs held JOB` lists them.
    """
    from penstock.cli.jobs.control import reprocessed

    selection = {"accept": True, **_rows(row), "codes": code or []}
    made = asyncio.run(reprocessed(job_id, selection))
    if json:
        printing.as_json(made)
        return
    left_out = f", left out {made['leftOut']:,}" if made["leftOut"] else ""
    print(f"accepted {made['reprocessed']:,}{left_out}; the job is {made['job']['state']}")


@app.command("held")
def held(
    job_id: JobId,
    limit: Annotated[int, typer.Option(min=1, max=1000, help="How many rows to show.")] = 50,
    json: printing.Json = False,
) -> None:
    """List rows that are held back, the largest price change first."""
    from penstock.cli.jobs.control import held_rows

    found = asyncio.run(held_rows(job_id, limit))
    if json:
        printing.as_json(found["items"])
        return
    rows = [
        (f"{one['rowNo']:,}", one["sku"] or "", one["before"] or "",
         f"{one['after'] or ''} {one['currency'] or ''}".strip(),
         "" if one["percent"] is None else f"{one['percent']:+,.0f} %", one["title"] or "")
        for one in found["items"]
    ]  # fmt: skip
    printing.columns(("ROW", "SKU", "BEFORE", "NOW", "CHANGE", "TITLE"), rows)
    if found["more"]:
        printing.note("There are more: --limit shows more of them.")


@app.command("retry-failed")
def retry_failed(
    since: Annotated[
        datetime | None,
        typer.Option(
            help="Ended then or later; UTC, as 2026-01-31 or 2026-01-31T12:00:00. "
            "Else within a day."
        ),
    ] = None,
    json: printing.Json = False,
) -> None:
    """Run failed jobs again, and failed rows of jobs that are done."""
    from penstock.cli.jobs.control import retried

    made = asyncio.run(retried(since))
    if json:
        printing.as_json(made)
        return
    for job_id in made["jobs"]:
        print(job_id)
    printing.note(f"{printing.count(made['retriedCount'], 'job runs', 'jobs run')} again.")
    if made["more"]:
        printing.note("There are more: call this again.")


def _control(job_id: UUID, action: str, json: bool) -> None:
    from penstock.cli.jobs.control import control

    job = asyncio.run(control(job_id, action))
    if json:
        printing.as_json(job)
    else:
        print(job["state"])


def ending_code(state: str, failed_rows: int) -> int:
    from penstock.cli.errors import FAILURE, ROWS_FAILED

    if state != State.DONE:
        return FAILURE
    return ROWS_FAILED if failed_rows else 0


def _pairs(values: dict[str, Any]) -> str:
    return ", ".join(f"{name} {value}" for name, value in values.items() if value is not None)


def _error_line(error: dict[str, Any] | None) -> str:
    return "" if error is None else f"{error['code']}: {error['message']}"
