"""`penstock jobs export`: a job's rows as a file."""

from __future__ import annotations

import asyncio
from enum import StrEnum
from pathlib import Path
from typing import Annotated

import typer

from penstock.cli import printing
from penstock.cli.catalog.products import Format
from penstock.cli.catalog.templates import Template, VariantsAs
from penstock.cli.jobs.jobs import JobId


class Which(StrEnum):
    VALID = "valid"
    ALL = "all"
    ERRORS = "errors"
    ORIGINAL = "original-with-errors"
    MISSING = "missing"


class Status(StrEnum):
    PENDING = "PENDING"
    PROCESSING = "PROCESSING"
    DONE = "DONE"
    ERROR = "ERROR"
    NOT_FOUND = "NOT_FOUND"
    SKIPPED = "SKIPPED"


def export(
    job_id: JobId,
    output: Annotated[
        Path, typer.Option("-o", "--output", metavar="FILE", help="Where it goes; - is stdout.")
    ],
    kind: Annotated[
        Format | None,
        typer.Option(
            "--format",
            help="Else as the name of the file ends, CSV on stdout. Names of shop systems: the"
            " products that the job wrote, as the CSV they import.",
        ),
    ] = None,
    which: Annotated[
        Which,
        typer.Option(
            help="Rows that did not fail; all rows, with status and problems; one line per problem;"
            " the supplier's own rows with a reason; or products that the file does not contain, if"
            " the job looked for them."
        ),
    ] = Which.VALID,
    status: Annotated[
        list[Status] | None, typer.Option(help="Rows of this status; several times for several.")
    ] = None,
    code: Annotated[str, typer.Option(help="Rows that ended with this error only.")] = "",
    q: Annotated[str, typer.Option("--q", metavar="WORDS", help="Rows that contain this.")] = "",
    template: Template = "",
    variants: VariantsAs = None,
    json: printing.Json = False,
) -> None:
    """Write a job's rows to a file, as the grid shows them."""
    from penstock.cli.catalog.products_view import exported
    from penstock.cli.files.results import output_place, pages_for

    place = output_place(output, json)
    given = {
        "format": kind.value if kind else pages_for(output).extension, "which": which.value,
        "code": code, "q": q,
        "statuses": [one.value for one in status or ()], "template": template,
        "variants": variants.value if variants else "",
    }  # fmt: skip
    filters = {name: value for name, value in given.items() if value}
    size = asyncio.run(exported(f"/api/jobs/{job_id}/export", filters, place))
    if json:
        printing.as_json({"id": str(job_id), "output": str(output), "bytes": size})
    else:
        printing.note(f"{size:,} bytes written to {output}")
