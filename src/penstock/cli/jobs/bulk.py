"""`penstock bulk`: one action on many jobs, counted first."""

from __future__ import annotations

import asyncio
from datetime import datetime
from enum import StrEnum
from typing import Annotated, Any
from uuid import UUID

import typer

from penstock.cli import printing
from penstock.cli.jobs.jobs import Codes, FromStart, ResetAttempts, State, Statuses, parse_job_id
from penstock.model.bulk import BulkAction

app = typer.Typer(help="Pause, resume, cancel, … many jobs at once.", no_args_is_help=True)
_TIME = "UTC, as 2026-01-31 or 2026-01-31T12:00:00."


def _operation_id(text: str) -> UUID:
    try:
        return UUID(text)
    except ValueError:
        from penstock.cli.errors import USAGE, CliError

        raise CliError(
            USAGE, f"{text!r} is no operation's id. `penstock bulk list` shows them."
        ) from None


OperationId = Annotated[
    UUID, typer.Argument(metavar="ID", parser=_operation_id, help="The operation's id.")
]


class JobAction(StrEnum):
    """Actions on jobs; rows of one job are edited by `jobs fix`."""

    PAUSE = BulkAction.PAUSE
    RESUME = BulkAction.RESUME
    CANCEL = BulkAction.CANCEL
    PRIORITY = BulkAction.PRIORITY
    REPROCESS = BulkAction.REPROCESS
    CLONE = BulkAction.CLONE


Action = Annotated[JobAction, typer.Argument(help="What to do with each job.")]
States = Annotated[list[State] | None, typer.Option("--state", help="In this state; or several.")]
Pipeline = Annotated[str | None, typer.Option(help="Of this pipeline.")]
Lane = Annotated[str | None, typer.Option(help="In this lane.")]
Org = Annotated[str | None, typer.Option(help="Of this org.")]
User = Annotated[int | None, typer.Option(min=1, help="Of the user with this number.")]
Name = Annotated[str | None, typer.Option(help="Whose name contains this.")]
After = Annotated[datetime | None, typer.Option(help=f"Made since; {_TIME}")]
Before = Annotated[datetime | None, typer.Option(help=f"Made before; {_TIME}")]
Jobs = Annotated[
    list[UUID] | None,
    typer.Option("--job", metavar="ID", parser=parse_job_id, help="This job; or several."),
]
Everything = Annotated[bool, typer.Option("--all", help="All jobs of all orgs.")]
Priority = Annotated[
    str | None,
    typer.Option(metavar="N", help="Of `priority` and `clone`: 0 to 100, high, medium, low."),
]
DryRun = Annotated[bool, typer.Option("--dry-run", help="Only count.")]
Yes = Annotated[bool, typer.Option("--yes", "-y", help="Do not ask first.")]
Detach = Annotated[
    bool, typer.Option("--detach", help="Leave it to the workers, and print its id.")
]


@app.command("run")
def run(
    action: Action,
    state: States = None,
    pipeline: Pipeline = None,
    lane: Lane = None,
    org: Org = None,
    user: User = None,
    name: Name = None,
    created_after: After = None,
    created_before: Before = None,
    job: Jobs = None,
    everything: Everything = False,
    priority: Priority = None,
    status: Statuses = None,
    code: Codes = None,
    from_start: FromStart = False,
    reset_attempts: ResetAttempts = False,
    dry_run: DryRun = False,
    yes: Yes = False,
    detach: Detach = False,
    json: printing.Json = False,
) -> None:
    """Act on all jobs that match. They are counted and shown first."""
    from penstock.cli.jobs import bulk_control as control

    chosen = {
        "states": state, "pipeline": pipeline, "lane": lane, "org": org, "userId": user,
        "name": name, "createdAfter": created_after, "createdBefore": created_before,
        "jobIds": job,
    }  # fmt: skip
    wanted = control.filter_of(chosen, everything)
    what = BulkAction(action)
    params = control.params_of(
        what, priority, status or [], code or [],
        from_start=from_start, reset_attempts=reset_attempts,
    )  # fmt: skip
    if dry_run or not yes:
        counted = asyncio.run(control.counted(wanted))
        if dry_run:
            _tell_count(counted, json)
            return
        if counted["count"]:
            typer.confirm(f"{action} {_jobs(counted)}?", abort=True, err=True)
    made = asyncio.run(control.run(what, wanted, params, detach=detach))
    if json:
        printing.as_json(made)
    elif detach:
        print(made["id"])
    else:
        print(_line(made))


@app.command("list")
def list_operations(
    limit: Annotated[int, typer.Option(min=1, max=1000, help="At most so many.")] = 20,
    json: printing.Json = False,
) -> None:
    """Operations of all orgs, newest first."""
    from penstock.cli.jobs import bulk_control as control

    found = asyncio.run(control.list_operations(limit))
    if json:
        printing.as_json(found)
        return
    if not found:
        printing.note("No operations yet.")
        return
    head = ("ID", "ACTION", "STATE", "DONE", "MATCHED", "CHANGED", "LEFT OUT", "FAILED", "ASKED")
    rows = [
        (
            one["id"], one["action"], one["state"], f"{one['percent']:.0f} %", one["matched"],
            one["changed"], one["leftOut"], one["failed"], printing.moment(one["askedAt"]),
        )
        for one in found
    ]  # fmt: skip
    printing.columns(head, rows)


@app.command("show")
def show(operation_id: OperationId, json: printing.Json = False) -> None:
    """One operation: what was asked for, and how far it is."""
    from penstock.cli.jobs import bulk_control as control

    found = asyncio.run(control.get_operation(operation_id))
    if json:
        printing.as_json(found)
        return
    printing.fields(
        [
            ("Operation", found["id"]),
            ("Action", found["action"]),
            ("Jobs", _pairs(found["filter"]) or "all"),
            ("With", _pairs(found["params"])),
            ("State", f"{found['state']}, {found['percent']} %"),
            ("So far", _line(found)),
            ("Asked (UTC)", printing.moment(found["askedAt"])),
            ("Finished (UTC)", printing.moment(found["finishedAt"])),
        ]
    )
    for error in found["errors"]:
        print(f"{error.get('jobId', '')} {error['code']}: {error['message']}".strip())


@app.command("abort")
def abort(operation_id: OperationId, json: printing.Json = False) -> None:
    """Stop before the next job; what is changed stays so."""
    from penstock.cli.jobs import bulk_control as control

    made = asyncio.run(control.aborted(operation_id))
    if json:
        printing.as_json(made)
    else:
        print(_line(made))


def _jobs(counted: dict[str, Any]) -> str:
    more = " or more" if counted["capped"] else ""
    return f"{counted['count']:,}{more} job{'' if counted['count'] == 1 and not more else 's'}"


def _tell_count(counted: dict[str, Any], json: bool) -> None:
    if json:
        printing.as_json(counted)
    else:
        print(_jobs(counted))


def _line(made: dict[str, Any]) -> str:
    said = f"{made['state']}: {made['changed']:,} changed, {made['leftOut']:,} left out"
    if made["failed"]:
        said += f", {made['failed']:,} failed"
    if made["items"] or made["itemsLeftOut"]:
        said += f"; {made['items']:,} items reopened, {made['itemsLeftOut']:,} left out"
    return said


def _pairs(values: dict[str, Any]) -> str:
    def plain(value: Any) -> str:
        return ", ".join(map(str, value)) if isinstance(value, list) else str(value)

    return "; ".join(f"{name} {plain(value)}" for name, value in values.items() if value != [])
