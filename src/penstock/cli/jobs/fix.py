"""`penstock items fix` and `penstock jobs remap`: correct rows, or the mapping of their columns."""

from __future__ import annotations

import asyncio
from typing import Annotated, Any
from uuid import UUID

import typer

from penstock.cli import printing
from penstock.cli.files.extract import ConfigText, Intent, Mapping, ProfileName, asked_config
from penstock.cli.jobs.items import Row
from penstock.cli.jobs.jobs import JobId

Wait = Annotated[
    bool, typer.Option("--wait", help="Until the job has ended; exit code 3 if rows failed.")
]


def fix(
    job_id: JobId,
    row: Row,
    cells: Annotated[
        list[str], typer.Argument(metavar="COLUMN=VALUE…", help="Cells as they should be.")
    ],
    wait: Wait = False,
    json: printing.Json = False,
) -> None:
    """Change cells of a row, and run the row again."""
    from penstock.cli.jobs.control import fixed

    _tell(job_id, asyncio.run(fixed(job_id, row, _cells(cells))), wait, json)


def remap(
    job_id: JobId,
    mapping: Mapping = None,
    profile: ProfileName = "",
    config: ConfigText = "",
    intent: Annotated[
        Intent | None, typer.Option(help="What may be written to the catalog.")
    ] = None,
    wait: Wait = False,
    json: printing.Json = False,
) -> None:
    """Run all rows of a job again with other options, without sending its file again."""
    from penstock.cli.errors import USAGE, CliError
    from penstock.cli.jobs.control import remapped

    asked = asked_config(config, mapping or [], profile=profile, intent=intent)
    if not asked:
        raise CliError(USAGE, "Nothing to change: give --mapping, --profile, --intent or --config.")
    _tell(job_id, asyncio.run(remapped(job_id, asked)), wait, json)


def _cells(pairs: list[str]) -> dict[str, str]:
    from penstock.cli.errors import USAGE, CliError

    cells = {}
    for pair in pairs:
        column, equals, value = pair.partition("=")
        if not (column and equals):
            raise CliError(USAGE, f"{pair!r}: write it as COLUMN=VALUE.")
        cells[column] = value
    return cells


def _tell(job_id: UUID, made: dict[str, Any], wait: bool, json: bool) -> None:
    """Print what runs again and, with ``wait``, the result."""
    from penstock.cli.jobs.jobs import ending_code

    if wait:
        from penstock.cli.jobs.control import watched

        made["job"] = asyncio.run(watched(job_id))
    if json:
        printing.as_json(made)
    else:
        left_out = f", left out {made['leftOut']:,}" if made["leftOut"] else ""
        print(f"reopened {made['reprocessed']:,}{left_out}; the job is {made['job']['state']}")
    if wait:
        raise typer.Exit(ending_code(made["job"]["state"], made["job"]["counters"]["error"]))
