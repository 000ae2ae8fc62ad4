"""`penstock dead-letters`: what failed for good, and what becomes of it."""

from __future__ import annotations

import asyncio
from datetime import datetime
from enum import StrEnum
from typing import Annotated, Any
from uuid import UUID

import typer

from penstock.cli import printing

app = typer.Typer(help="Jobs that failed for good: judge, rerun or discard.", no_args_is_help=True)


class State(StrEnum):
    OPEN = "open"
    REPROCESSED = "reprocessed"
    DISCARDED = "discarded"
    ALL = "all"


_TIME = "UTC, as 2026-01-31 or 2026-01-31T12:00:00."
LetterId = Annotated[UUID, typer.Argument(metavar="ID", help="The dead letter's id.")]
SomeId = Annotated[UUID | None, typer.Argument(metavar="ID", help="One letter, by its id.")]
Signature = Annotated[str | None, typer.Option(help="Of this group only.")]
Code = Annotated[str | None, typer.Option(help="With this error code only.")]
Pipeline = Annotated[str | None, typer.Option(help="Of this pipeline only.")]
Since = Annotated[datetime | None, typer.Option(help=f"Failed then or later; {_TIME}")]
Until = Annotated[datetime | None, typer.Option(help=f"Failed before; {_TIME}")]
Everything = Annotated[bool, typer.Option("--all", help="All open letters of all orgs.")]
DryRun = Annotated[bool, typer.Option("--dry-run", help="Only count.")]
Yes = Annotated[bool, typer.Option("--yes", "-y", help="Do not ask before changing many.")]


@app.command("list")
def list_letters(
    state: Annotated[State, typer.Option(help="In this state only.")] = State.OPEN,
    signature: Signature = None,
    code: Code = None,
    pipeline: Pipeline = None,
    since: Since = None,
    until: Until = None,
    limit: Annotated[int, typer.Option(min=1, max=1000, help="At most so many.")] = 20,
    json: printing.Json = False,
) -> None:
    """Dead letters of all orgs, newest first."""
    from penstock.cli.jobs import dead_letter_control, dead_letter_view

    which = dead_letter_control.matching(signature, code, pipeline, since, until)
    found = asyncio.run(
        dead_letter_control.list_letters(None if state is State.ALL else state, which, limit)
    )
    if json:
        printing.as_json(found)
        return
    if not found:
        printing.note("No such dead letters.")
        return
    rows = [
        (
            row["id"], row["state"], row["code"], row["pipeline"], row["org"],
            printing.moment(row["lastFailedAt"]), row["name"],
            dead_letter_view.short(row["message"]),
        )
        for row in found
    ]  # fmt: skip
    printing.columns(
        ("ID", "STATE", "CODE", "PIPELINE", "ORG", "FAILED (UTC)", "NAME", "MESSAGE"), rows
    )


@app.command("groups")
def groups(
    limit: Annotated[int, typer.Option(min=1, max=1000, help="At most so many.")] = 100,
    json: printing.Json = False,
) -> None:
    """Open letters by what they have in common."""
    from penstock.cli.jobs import dead_letter_control, dead_letter_view

    found = asyncio.run(dead_letter_control.grouped(limit))
    if json:
        printing.as_json(found)
        return
    if not found:
        printing.note("No open dead letters.")
        return
    rows = [
        (
            row["signature"], row["count"], printing.moment(row["firstFailedAt"]),
            printing.moment(row["lastFailedAt"]), dead_letter_view.short(row["message"] or ""),
        )
        for row in found
    ]  # fmt: skip
    printing.columns(("SIGNATURE", "OPEN", "SINCE (UTC)", "LAST (UTC)", "NEWEST MESSAGE"), rows)


@app.command("show")
def show(letter_id: LetterId, json: printing.Json = False) -> None:
    """One dead letter with its stack trace."""
    from penstock.cli.jobs import dead_letter_control, dead_letter_view

    letter = asyncio.run(dead_letter_control.get_letter(letter_id))
    if json:
        printing.as_json(letter)
        return
    printing.fields(dead_letter_view.fields(letter))
    if letter["trace"]:
        print(f"\n{letter['trace'].rstrip()}")


@app.command("reprocess")
def reprocess(
    letter_id: SomeId = None,
    signature: Signature = None,
    code: Code = None,
    pipeline: Pipeline = None,
    since: Since = None,
    until: Until = None,
    everything: Everything = False,
    dry_run: DryRun = False,
    yes: Yes = False,
    json: printing.Json = False,
) -> None:
    """Run a letter's job again as a new job at priority 10, or all that match."""
    from penstock.cli.jobs import dead_letter_control

    which = dead_letter_control.matching(signature, code, pipeline, since, until)
    dead_letter_control.require_choice(letter_id, which, everything)
    if letter_id is not None:
        made = asyncio.run(dead_letter_control.reprocess_one(letter_id))
        if json:
            printing.as_json({"id": str(letter_id), "state": "reprocessed", "newJobId": made})
        else:
            print(made)
        return
    if not dry_run and not yes:
        _ask("Run", "again", which)
    _tell(
        asyncio.run(dead_letter_control.many("reprocess", which, dry_run=dry_run)),
        "run again",
        json,
    )


@app.command("discard")
def discard(
    reason: Annotated[str, typer.Option(help="Why they need not run again.")],
    letter_id: SomeId = None,
    signature: Signature = None,
    code: Code = None,
    pipeline: Pipeline = None,
    since: Since = None,
    until: Until = None,
    everything: Everything = False,
    dry_run: DryRun = False,
    yes: Yes = False,
    json: printing.Json = False,
) -> None:
    """Set a letter aside for good, or all that match."""
    from penstock.cli.jobs import dead_letter_control

    which = dead_letter_control.matching(signature, code, pipeline, since, until)
    dead_letter_control.require_choice(letter_id, which, everything)
    dead_letter_control.require_reason(reason)
    if letter_id is not None:
        asyncio.run(dead_letter_control.discard_one(letter_id, reason))
        if json:
            printing.as_json({"id": str(letter_id), "state": "discarded", "reason": reason})
        else:
            print("discarded")
        return
    if not dry_run and not yes:
        _ask("Discard", "", which)
    done = asyncio.run(dead_letter_control.many("discard", which, dry_run=dry_run, reason=reason))
    _tell(done, "discarded", json)


def _ask(verb: str, how: str, which: Any) -> None:
    """Many are changed only by someone who has seen how many."""
    from penstock.cli.jobs import dead_letter_control

    counted = asyncio.run(dead_letter_control.many("reprocess", which, dry_run=True))
    if counted["count"] == 0:
        return
    more = " or more" if counted["more"] else ""
    question = " ".join(filter(None, (verb, f"{counted['count']:,}{more} dead letters", how)))
    typer.confirm(f"{question}?", abort=True, err=True)


def _tell(done: dict[str, Any], what: str, json: bool) -> None:
    if json:
        printing.as_json(done)
        return
    would = "would be " if done["dryRun"] else ""
    more = " or more" if done["more"] else ""
    print(f"{done['count']:,}{more} {would}{what}")
    for one in done["refused"]:
        printing.note(f"{one['id']} stays open: {one['message']} [{one['code']}]")
