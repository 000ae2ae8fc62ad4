"""`penstock watchers`: places that are scanned for new files."""

from __future__ import annotations

import asyncio
from typing import Annotated, Any
from uuid import UUID

import orjson
import typer

from penstock.cli import printing
from penstock.cli.credentials import Credentials, parse_credentials

app = typer.Typer(help="Places that are scanned for new files.", no_args_is_help=True)
Id = Annotated[UUID, typer.Argument(metavar="ID", help="The watcher's id.")]
NoTest = Annotated[
    bool, typer.Option("--no-test", help="Store it without reading the place, which may be down.")
]


@app.command("add")
def add(
    kind: Annotated[str, typer.Argument(help="folder, s3, ftp, sftp or imap.")],
    address: Annotated[
        str,
        typer.Argument(help="/data/in, s3://bucket/prefix, sftp://host/folder, ftp://host/folder."),
    ],
    name: Annotated[str, typer.Option(help="What it is called in lists; else its address.")] = "",
    pattern: Annotated[str, typer.Option(help="Which files: `*.csv, prices/*.xlsx`.")] = "*",
    then: Annotated[str, typer.Option(help="keep, move, rename or delete taken files.")] = "keep",
    marker: Annotated[
        bool, typer.Option("--marker", help="A file is complete once there is a NAME.done.")
    ] = False,
    every: Annotated[
        int | None, typer.Option(min=1, help="Seconds between scans; else as the server is set.")
    ] = None,
    pipeline: Annotated[str, typer.Option(help="The pipeline of its jobs.")] = "extraction",
    profile: Annotated[str | None, typer.Option(help="The profile of its files.")] = None,
    intent: Annotated[str | None, typer.Option(help="What its jobs may write.")] = None,
    source: Annotated[str | None, typer.Option(help="Where its products come from.")] = None,
    config: Annotated[str, typer.Option(help="Further config of its jobs, as JSON.")] = "{}",
    credential: Credentials = None,
    no_test: NoTest = False,
    json: printing.Json = False,
) -> None:
    """Watch a place. It is tested first: a place that cannot be read is not added."""
    try:
        given: dict[str, Any] = orjson.loads(config)
    except ValueError as error:
        raise typer.BadParameter("--config is no JSON") from error
    given |= {key: v for key, v in (("intent", intent), ("source", source)) if v is not None}
    job = {"pipeline": pipeline, "config": given, "profile": profile}
    order: dict[str, Any] = {
        "name": name or address[:200], "kind": kind, "address": address, "pattern": pattern,
        "then": then, "completeBy": "marker" if marker else "unchanged", "job": job,
        "credentials": parse_credentials(credential), "test": not no_test,
    }  # fmt: skip
    if every is not None:
        order["everySeconds"] = every
    made, tested = asyncio.run(_add(order))
    if json:
        printing.as_json(made | {"test": tested})
        return
    print(f"Watcher {made['id']} of {made['address']} is created.")
    if tested is None:
        print(f"It is not tested: `watchers test {made['id']}`.")
    else:
        _print_test(tested)


@app.command("list")
def list_watchers(json: printing.Json = False) -> None:
    """List watchers."""
    found = asyncio.run(_list("/api/watchers"))
    if json:
        printing.as_json(found)
        return
    rows = [
        (one["id"], one["kind"], _state(one), printing.moment(one["scannedAt"]), one["name"],
         one["address"])
        for one in found
    ]  # fmt: skip
    printing.columns(("ID", "KIND", "STATE", "LAST SCAN", "NAME", "ADDRESS"), rows)


@app.command("show")
def show(watcher: Id, json: printing.Json = False) -> None:
    """Show a watcher."""
    found = asyncio.run(_call("GET", f"/api/watchers/{watcher}"))
    if json:
        printing.as_json(found)
    else:
        printing.fields(list(found.items()))


@app.command("files")
def list_files(
    watcher: Id,
    state: Annotated[
        str | None, typer.Option(help="Only these: seen, taking, submitted or failed.")
    ] = None,
    json: printing.Json = False,
) -> None:
    """List files that a watcher has seen, with their jobs and errors."""
    query = {} if state is None else {"state": state}
    found = asyncio.run(_list(f"/api/watchers/{watcher}/files", **query))
    if json:
        printing.as_json(found)
        return
    rows = [
        (one["name"], str(one["size"]), one["state"], one["jobId"] or "",
         one["error"]["code"] if one["error"] else "")
        for one in found
    ]  # fmt: skip
    printing.columns(("NAME", "SIZE", "STATE", "JOB", "ERROR"), rows)


@app.command("test")
def run_test(watcher: Id, json: printing.Json = False) -> None:
    """List the place and take nothing. Exits with 1 if it cannot be read."""
    tested = asyncio.run(_call("POST", f"/api/watchers/{watcher}/test"))
    if json:
        printing.as_json(tested)
    else:
        _print_test(tested)
    if not tested["ok"]:
        raise typer.Exit(1)


@app.command("scan")
def scan(
    watcher: Annotated[UUID | None, typer.Argument(metavar="ID", help="Else all.")] = None,
    json: printing.Json = False,
) -> None:
    """Scan now. Exits with 1 if a place or a file failed."""
    order = {} if watcher is None else {"watcherId": str(watcher)}
    found = asyncio.run(_call("POST", "/api/ingestion/scan", order))
    if json:
        printing.as_json(found)
    else:
        print(
            f"{printing.count(found['found'], 'file', 'files')} found,"
            f" {found['submitted']} submitted,"
            f" {found['skipped']} skipped, {len(found['errors'])} failed."
        )
        for one in found["errors"]:
            print(f"{one['name'] or one['watcherId']}: {one['code']}: {one['message']}")
    if found["errors"]:
        raise typer.Exit(1)


@app.command("pause")
def pause(watcher: Id) -> None:
    """Do not scan a place until it is resumed."""
    asyncio.run(_call("PATCH", f"/api/watchers/{watcher}", {"enabled": False}))
    print(f"Watcher {watcher} is paused.")


@app.command("resume")
def resume(watcher: Id) -> None:
    """Scan a place again."""
    asyncio.run(_call("PATCH", f"/api/watchers/{watcher}", {"enabled": True}))
    print(f"Watcher {watcher} is resumed.")


@app.command("rotate")
def rotate(watcher: Id, credential: Credentials = None, no_test: NoTest = False) -> None:
    """Replace the credentials, all of them at once. They are tested first: if the place cannot be
    read with them, the old ones are kept."""
    order = {"credentials": parse_credentials(credential), "test": not no_test}
    asyncio.run(_call("POST", f"/api/watchers/{watcher}/rotate", order))
    if no_test:
        print(f"The new credentials are stored, but not tested: `watchers test {watcher}`.")
    else:
        print("The place can be read with them: the new credentials are stored.")


@app.command("remove")
def remove(
    watcher: Id, yes: Annotated[bool, typer.Option("--yes", help="Do not ask.")] = False
) -> None:
    """Delete a watcher and its credentials. Its jobs and the files in the place stay."""
    if not yes:
        typer.confirm(f"Delete watcher {watcher}?", abort=True, err=True)
    asyncio.run(_call("DELETE", f"/api/watchers/{watcher}"))
    print(f"Watcher {watcher} is deleted.")


def _state(watcher: dict[str, Any]) -> str:
    if not watcher["enabled"]:
        return "paused"
    return "error" if watcher["error"] else "ok" if watcher["scannedAt"] else "new"


def _print_test(tested: dict[str, Any]) -> None:
    if tested["ok"]:
        files = printing.count(tested["listed"], "file", "files")
        print(f"It can be read: {files}, {tested['matching']} of them match.")
    else:
        error = tested["error"]
        print(f"It cannot be read: {error['code']}: {error['message']}")


async def _add(order: dict[str, Any]) -> tuple[dict[str, Any], dict[str, Any] | None]:
    from penstock.cli.connection import connected

    async with connected() as penstock:
        made = await penstock.client.call("POST", "/api/watchers", body=order)
        if not order["test"]:
            return made, None
        return made, await penstock.post(f"/api/watchers/{made['id']}/test")


async def _list(path: str, **query: str) -> list[dict[str, Any]]:
    from penstock.cli.connection import connected

    async with connected() as penstock:
        return [one async for one in penstock.client.listed(path, **query)]


async def _call(method: str, path: str, body: dict[str, Any] | None = None) -> dict[str, Any]:
    from penstock.cli.connection import connected

    async with connected() as penstock:
        answer: dict[str, Any] = await penstock.client.call(method, path, body=body)
        return answer
