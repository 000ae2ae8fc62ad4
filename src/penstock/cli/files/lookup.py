"""`penstock lookup`: find the products of a list, or of pictures."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Any

import typer

from penstock.cli import printing
from penstock.cli.files.extract import ConfigText, Mapping, ProfileName, Sheet, asked_config


def lookup(
    files: Annotated[
        list[Path],
        typer.Argument(
            metavar="FILE…", exists=True, dir_okay=False, show_default=False,
            help="A list (CSV, Excel …), pictures, or ZIP archives of pictures.",
        ),
    ],
    output: Annotated[
        Path | None,
        typer.Option(
            "-o", "--output", metavar="OUT", show_default=False,
            help="Where the results go, as the name ends: csv, xlsx, json, ndjson; - is stdout.",
        ),
    ] = None,
    mapping: Mapping = None,
    profile: ProfileName = "",
    sheet: Sheet = "",
    config: ConfigText = "",
    source: Annotated[
        list[str] | None,
        typer.Option(help="A source to ask, by name; may be given again. Else all enabled ones."),
    ] = None,
    no_sources: Annotated[
        bool, typer.Option("--no-sources", help="Search in the catalog only.")
    ] = False,
    accept: Annotated[
        float | None,
        typer.Option(min=0, max=1, help="Least confidence of a match.", show_default="0.8"),
    ] = None,
    wait: Annotated[
        bool, typer.Option("--wait/--no-wait", help="Wait for the results, or print the job's id.")
    ] = True,
    json: printing.Json = False,
) -> None:  # fmt: skip
    """Look up each row of a list, or each picture, in the catalog and in the sources.

    Rows that sources did not have are tried again after 15 minutes and after 6 hours; the command
    does not wait for that.

    Exit code 0: everything was found; 3: some rows were not, or are a question; 2: the files were
    refused; 1: the job failed.
    """
    asked: dict[str, Any] = asked_config(config, mapping or [], profile=profile, sheet=sheet)
    if source or no_sources:
        asked["sources"] = [] if no_sources else source
    if accept is not None:
        asked["accept"] = accept
    _run(files, asked, output, wait, json)


def _run(
    files: list[Path], asked: dict[str, Any], output: Path | None, wait: bool, json: bool
) -> None:
    import uvloop

    from penstock.cli.files.lookups import run_lookup

    done = uvloop.run(run_lookup(files, asked, output, wait=wait))
    if json:
        printing.as_json(done.as_json())
    else:
        for line in done.lines():
            printing.note(line)
        if not wait:
            print(done.job_id)
    raise typer.Exit(done.code)
