"""`penstock extract`: extract one file in this process, without a server."""

from __future__ import annotations

from enum import StrEnum
from pathlib import Path
from typing import Annotated, Any

import typer

from penstock.cli import printing


class Intent(StrEnum):
    CHECK = "check"
    CREATE = "create"
    UPDATE = "update"
    MERGE = "merge"
    REPLACE = "replace"
    IGNORE_EXISTING = "ignoreExisting"


Output = Annotated[
    str,
    typer.Option(
        "-o", "--output", metavar="OUT", show_default="<name>.clean.csv in this folder",
        help="Where the clean rows go, as the name ends: csv, xlsx, json, ndjson; - is stdout, as"
        " CSV.",
    ),
]  # fmt: skip
ConfigText = Annotated[
    str, typer.Option(metavar="JSON", help="The pipeline's configuration.", show_default=False)
]
Mapping = Annotated[
    list[str] | None,
    typer.Option(
        metavar="COLUMN=FIELD", help="Which column fills which field; may be given again."
    ),
]
ProfileName = Annotated[str, typer.Option(help="A saved profile, by name.", show_default=False)]
Sheet = Annotated[
    str, typer.Option(help="Sheet of a workbook, by name or number.", show_default=False)
]
SourceName = Annotated[
    str,
    typer.Option(
        "--source", show_default=False,
        help="The supplier or system the products are from; rows match its products only.",
    ),
]  # fmt: skip
Errors = Annotated[
    Path | None,
    typer.Option(metavar="OUT", help="Where the problems of failed rows go: csv, xlsx, json."),
]


def extract(
    file: Annotated[
        str, typer.Argument(metavar="FILE|URL", help="The file to clean.", show_default=False)
    ],
    output: Output = "",
    config: ConfigText = "",
    mapping: Mapping = None,
    profile: ProfileName = "",
    sheet: Sheet = "",
    source: SourceName = "",
    intent: Annotated[
        Intent | None, typer.Option(help="What may be written to the catalog; else only checked.")
    ] = None,
    errors: Errors = None,
    quiet: Annotated[bool, typer.Option("--quiet", "-q", help="No progress, no notes.")] = False,
    json: printing.Json = False,
) -> None:
    """Extract clean rows from a file: stored first, then worked through, then written.

    A URL is fetched first, from public addresses only (PENSTOCK_FETCH_ALLOW names others).

    Exit code 0: every row is valid; 3: some rows failed or were held back; 2: the file was refused;
    1: the job failed.
    """
    import uvloop

    from penstock.cli.errors import INTERRUPTED, code_of_job_error
    from penstock.cli.files.extraction import Wish, run_extraction
    from penstock.cli.files.results import pages_for
    from penstock.cli.jobs.jobs import ending_code

    asked = asked_config(
        config, mapping or [], profile=profile, sheet=sheet, source=source, intent=intent
    )
    if errors is not None:
        pages_for(errors)
    wish = Wish(file, _output(file, output, json), asked, quiet, errors)
    done = uvloop.run(run_extraction(wish))
    if json:
        printing.as_json(done.as_json())
    elif not quiet:
        for line in done.lines():
            printing.note(line)
    if done.error is not None:
        printing.note(f"penstock: {done.problem()}")
    if done.interrupted:
        printing.note("penstock: Interrupted; the job was cancelled and nothing was written.")
        raise typer.Exit(INTERRUPTED)
    failed = done.error and code_of_job_error(done.error["code"])
    raise typer.Exit(failed or ending_code(done.state, done.undone))


def asked_config(text: str, pairs: list[str], **options: Any) -> dict[str, Any]:
    """The configuration, with the options that have a flag of their own."""
    config = _config(text, pairs)
    for name, value in options.items():
        if value:
            config[name] = int(value) if name == "sheet" and value.isdecimal() else str(value)
    return config


def _output(given: str, output: str, json: bool) -> Path | None:
    """None is stdout. What is wrong with it is said before any work is done."""
    from penstock.cli.errors import USAGE, CliError
    from penstock.cli.files.results import pages_for
    from penstock.cli.files.sources import stem_of

    if output == "-":
        if json:
            raise CliError(USAGE, "With --json the clean rows need a file: -o OUT.")
        return None
    chosen, file = Path(output or f"{stem_of(given)}.clean.csv"), Path(given)
    if chosen.exists() and file.exists() and chosen.samefile(file):
        raise CliError(USAGE, f"{chosen} is the input; choose another place with -o.")
    if chosen.is_dir():
        raise CliError(USAGE, f"{chosen} is a folder; name a file with -o.")
    if not chosen.parent.is_dir():
        raise CliError(USAGE, f"There is no folder {chosen.parent} for the output.")
    if not chosen.exists() or chosen.is_file():
        pages_for(chosen)
    return chosen


def _config(text: str, pairs: list[str]) -> dict[str, Any]:
    import json

    from penstock.cli.errors import USAGE, CliError

    try:
        config = json.loads(text or "{}")
    except ValueError as error:
        raise CliError(USAGE, f"--config is no JSON: {error}.") from error
    if not isinstance(config, dict):
        raise CliError(USAGE, '--config must be an object, e.g. {"mapping": {"Name": "title"}}.')
    for pair in pairs:
        column, equals, field = pair.rpartition("=")
        if not (column and equals and field):
            raise CliError(USAGE, f"--mapping {pair!r}: write it as COLUMN=FIELD.")
        config["mapping"] = {**(config.get("mapping") or {}), column: field}
    return config
