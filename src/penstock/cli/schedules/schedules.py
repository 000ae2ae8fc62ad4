"""`penstock schedules`: jobs at fixed times."""

from __future__ import annotations

import asyncio
from pathlib import Path
from typing import Annotated, Any
from uuid import UUID

import typer

from penstock.cli import printing
from penstock.cli.files.extract import Intent

app = typer.Typer(help="Schedules: cron in a time zone, or once.", no_args_is_help=True)
Id = Annotated[UUID, typer.Argument(metavar="ID", help="The schedule's id.")]
Cron = Annotated[str | None, typer.Option(help="Such as '0 6 * * MON-FRI' or @daily.")]
At = Annotated[str | None, typer.Option(help="Once, such as 2026-12-24T18:00:00+01:00.")]
Zone = Annotated[str, typer.Option("--time-zone", help="Of --cron, such as Europe/Berlin.")]


@app.command("list")
def list_schedules(json: printing.Json = False) -> None:
    """List the schedules of your org."""
    found = asyncio.run(_call("GET", "/api/schedules"))["items"]
    if json:
        printing.as_json(found)
        return
    rows = [
        (one["id"], one["state"], one["cron"] or one["at"], one["timeZone"],
         printing.moment(one["nextAt"]), (one["lastRun"] or {}).get("state", ""), one["name"])
        for one in found
    ]  # fmt: skip
    head = ("ID", "STATE", "DUE", "TIME ZONE", "NEXT (UTC)", "LAST RUN", "NAME")
    printing.columns(head, rows)


@app.command("add")
def add(
    name: Annotated[str, typer.Argument(help="What it is called.")],
    cron: Cron = None,
    at: At = None,
    time_zone: Zone = "UTC",
    catch_up: Annotated[str, typer.Option(help="Missed runs: once, all or none.")] = "once",
    pause_after: Annotated[int, typer.Option(min=0, help="Failures in a row; 0: never.")] = 5,
    url: Annotated[str | None, typer.Option(help="Fetch this file.")] = None,
    profile: Annotated[str | None, typer.Option(help="Profile for --url.")] = None,
    intent: Annotated[
        Intent, typer.Option(help="What files of --url may write to the catalog.")
    ] = Intent.CHECK,
    source: Annotated[
        str | None, typer.Option(help="The source that products of --url belong to.")
    ] = None,
    connection: Annotated[str | None, typer.Option(help="Import this connected shop.")] = None,
    query: Annotated[str | None, typer.Option(help="Ask the sources for this.")] = None,
    action: Annotated[
        str | None,
        typer.Option(metavar="JSON", help="The whole action, or @FILE that contains it."),
    ] = None,
    json: printing.Json = False,
) -> None:
    """Create a schedule. Give one of --url, --connection, --query and --action."""
    order: dict[str, Any] = {
        "name": name, "timeZone": time_zone, "catchUp": catch_up, "pauseAfter": pause_after,
        "action": _action(
            None if url is None else _file(url, profile, intent, source), connection, query, action
        ),
    }  # fmt: skip
    order |= {key: value for key, value in (("cron", cron), ("at", at)) if value is not None}
    made = asyncio.run(_call("POST", "/api/schedules", order))
    if json:
        printing.as_json(made)
        return
    print(f"Schedule {made['id']} is created. Its next runs:")
    _print_times(made["nextRuns"], made["timeZone"])


def _file(url: str, profile: str | None, intent: Intent, source: str | None) -> dict[str, Any]:
    config = {"intent": intent.value} | ({"source": source} if source else {})
    return {"kind": "file", "url": url, "config": config} | (
        {"profile": profile} if profile else {}
    )


def _action(
    file: dict[str, Any] | None, connection: str | None, query: str | None, action: str | None
) -> dict[str, Any]:
    import orjson

    if sum(one is not None for one in (file, connection, query, action)) != 1:
        raise typer.BadParameter("give one of --url, --connection, --query and --action")
    if file is not None:
        return file
    if connection is not None:
        return {"kind": "shop", "connectionId": connection}
    if query is not None:
        return {"kind": "research", "query": query}
    assert action is not None
    text = Path(action[1:]).read_text("utf-8") if action.startswith("@") else action
    try:
        given = orjson.loads(text)
    except ValueError as error:
        raise typer.BadParameter(f"--action is not JSON: {error}") from error
    if not isinstance(given, dict):
        raise typer.BadParameter("--action is not a JSON object")
    return given


@app.command("next")
def next_runs(
    cron: Cron = None, at: At = None, time_zone: Zone = "UTC", json: printing.Json = False
) -> None:
    """Show the next five due times of a cron expression."""
    order = {"timeZone": time_zone}
    order |= {key: value for key, value in (("cron", cron), ("at", at)) if value is not None}
    found = asyncio.run(_call("POST", "/api/schedules/next-runs", order))
    if json:
        printing.as_json(found)
        return
    _print_times(found["nextRuns"], time_zone)


@app.command("show")
def show(schedule: Id, json: printing.Json = False) -> None:
    """Show a schedule with its next and its newest runs."""
    found = asyncio.run(_call("GET", f"/api/schedules/{schedule}"))
    if json:
        printing.as_json(found)
        return
    runs, following = found.pop("runs"), found.pop("nextRuns")
    found.pop("lastRun")
    printing.fields(list(found.items()))
    if following:
        print("\nNext runs")
        _print_times(following, found["timeZone"])
    if runs:
        print()
        rows = [
            (printing.moment(one["dueAt"]), one["state"], one["jobId"] or "",
             (one["error"] or {}).get("message", ""))
            for one in runs
        ]  # fmt: skip
        printing.columns(("DUE (UTC)", "STATE", "JOB", "ERROR"), rows)


@app.command("run")
def run(schedule: Id, json: printing.Json = False) -> None:
    """Run a schedule now."""
    started = asyncio.run(_call("POST", f"/api/schedules/{schedule}/run"))
    if json:
        printing.as_json(started)
    else:
        print(f"Schedule {schedule} runs now. `penstock schedules show {schedule}` shows the job.")


@app.command("pause")
def pause(schedule: Id) -> None:
    """Pause a schedule."""
    asyncio.run(_call("POST", f"/api/schedules/{schedule}/pause"))
    print(f"Schedule {schedule} is paused.")


@app.command("resume")
def resume(schedule: Id) -> None:
    """Resume a schedule that was paused, or paused itself."""
    found = asyncio.run(_call("POST", f"/api/schedules/{schedule}/resume"))
    print(f"Schedule {schedule} is active. Its next runs:")
    _print_times(found["nextRuns"], found["timeZone"])


@app.command("delete")
def delete(
    schedule: Id, yes: Annotated[bool, typer.Option("--yes", help="Do not ask.")] = False
) -> None:
    """Delete a schedule. Jobs of its runs stay."""
    if not yes:
        typer.confirm(f"Delete schedule {schedule}? Its jobs stay.", abort=True, err=True)
    asyncio.run(_call("DELETE", f"/api/schedules/{schedule}"))
    print(f"Schedule {schedule} is deleted.")


def _print_times(times: list[str], zone: str) -> None:
    for one in times:
        print(printing.local_moment(one, zone))


async def _call(method: str, path: str, body: dict[str, Any] | None = None) -> dict[str, Any]:
    from penstock.cli.connection import connected

    async with connected() as penstock:
        answer: dict[str, Any] = await penstock.client.call(method, path, body=body)
        return answer
