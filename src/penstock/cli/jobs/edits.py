"""`penstock jobs fix` and `penstock jobs undo-fix`: edit many rows, and undo the last edit."""

from __future__ import annotations

import asyncio
from typing import Annotated, Any
from uuid import UUID

import typer

from penstock.cli import printing
from penstock.cli.jobs.fix import Wait
from penstock.cli.jobs.jobs import JobId


def fix_many(
    job_id: JobId,
    column: Annotated[str, typer.Option("--column", help="The column to change.")],
    find: Annotated[str | None, typer.Option(help="Replace this text by --value.")] = None,
    value: Annotated[str | None, typer.Option(help="The new text.")] = None,
    fill_down: Annotated[
        bool, typer.Option("--fill-down", help="Fill empty cells with the text above.")
    ] = False,
    whole_cell: Annotated[
        bool, typer.Option("--whole-cell", help="Only cells that are the text as a whole.")
    ] = False,
    ignore_case: Annotated[bool, typer.Option("--ignore-case", help="Capitals or not.")] = False,
    status: Annotated[
        list[str] | None, typer.Option(help="Only rows with this status; may be repeated.")
    ] = None,
    problem: Annotated[str | None, typer.Option(help="Only rows with this problem.")] = None,
    code: Annotated[str | None, typer.Option(help="Only rows that failed with this error.")] = None,
    where: Annotated[
        str | None, typer.Option(metavar="COLUMN=VALUE", help="Only rows with this cell.")
    ] = None,
    row: Annotated[list[int] | None, typer.Option(help="Only this row; may be repeated.")] = None,
    dry_run: Annotated[
        bool, typer.Option("--dry-run", help="Only show what would change.")
    ] = False,
    wait: Wait = False,
    json: printing.Json = False,
) -> None:
    """Change a column of many rows of a job, and run these rows again.

    With --find and --value a text is replaced, with --value alone the cell is set, with --fill-down
    empty cells take the text above. `penstock jobs undo-fix` undoes the last change.
    """
    change = _change(column, find, value, fill_down)
    if find is not None:
        change |= {"wholeCell": whole_cell, "matchCase": not ignore_case}
    select: dict[str, Any] = {"statuses": status or [], "itemIds": row or []}
    select |= {"problem": problem, "code": code, **_cell(where)}
    given = {name: one for name, one in select.items() if one not in (None, [])}
    order = {"select": given, "change": change}
    if dry_run:
        _show(asyncio.run(_post(job_id, "items/fix", order | {"dryRun": True})), json)
        return
    _tell(job_id, asyncio.run(_edited(job_id, "items/fix", order)), "changed", wait, json)


def _change(column: str, find: str | None, value: str | None, fill_down: bool) -> dict[str, Any]:
    from penstock.cli.errors import USAGE, CliError

    if fill_down == (value is not None) or (find is not None and value is None):
        raise CliError(USAGE, "Give --value, --find and --value, or --fill-down.")
    if value is None:
        return {"kind": "fillDown", "column": column}
    if find is None:
        return {"kind": "set", "column": column, "value": value}
    return {"kind": "replace", "column": column, "value": value, "find": find}


def _cell(where: str | None) -> dict[str, str]:
    from penstock.cli.errors import USAGE, CliError

    if where is None:
        return {}
    name, equals, cell = where.partition("=")
    if not (name and equals):
        raise CliError(USAGE, f"{where!r}: write it as COLUMN=VALUE.")
    return {"column": name, "value": cell}


def undo_fix(job_id: JobId, wait: Wait = False, json: printing.Json = False) -> None:
    """Undo the last change of rows of a job, by `jobs fix`, `items fix` or in the browser."""
    made = asyncio.run(_edited(job_id, "edits/undo", {}))
    _tell(job_id, made, "restored", wait, json)


def _show(seen: dict[str, Any], json: bool) -> None:
    if json:
        printing.as_json(seen)
        return
    at_least = "at least " if seen["capped"] else ""
    print(f"{at_least}{printing.count(seen['rows'], 'row', 'rows')} would change")
    for one in seen["changes"]:
        for name, text in one["after"].items():
            print(f"row {one['row']:,}  {name}: {one['before'].get(name)!r} → {text!r}")


def _tell(job_id: UUID, made: dict[str, Any], verb: str, wait: bool, json: bool) -> None:
    from penstock.cli.jobs.jobs import ending_code

    if wait:
        from penstock.cli.jobs.control import watched

        made["job"] = asyncio.run(watched(job_id))
    if json:
        printing.as_json(made)
    else:
        rows = printing.count(made["rows"], "row", "rows")
        print(f"{verb} {rows}; the job is {made['job']['state']}")
    if wait:
        raise typer.Exit(ending_code(made["job"]["state"], made["job"]["counters"]["error"]))


async def _post(job_id: UUID, path: str, order: dict[str, Any]) -> dict[str, Any]:
    from penstock.cli.connection import connected

    async with connected() as penstock:
        made: dict[str, Any] = await penstock.post(f"/api/jobs/{job_id}/{path}", order)
        return made


async def _edited(job_id: UUID, path: str, order: dict[str, Any]) -> dict[str, Any]:
    """Start an edit and follow it until all its rows are reopened."""
    from penstock.cli.connection import connected

    async with connected() as penstock:
        made: dict[str, Any] = await penstock.post(f"/api/jobs/{job_id}/{path}", order)
        if made["operationId"]:
            await penstock.to_the_end(made["operationId"])
            made["job"] = await penstock.get(f"/api/jobs/{job_id}")
        return made
