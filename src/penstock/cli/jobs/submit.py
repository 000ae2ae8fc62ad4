"""`penstock jobs submit`: many jobs from a file of JSON lines."""

from __future__ import annotations

import asyncio
import sys
from pathlib import Path
from typing import Annotated, Any

import typer

from penstock.cli import printing

_STANDARD_INPUT = "-"


def submit(
    source: Annotated[
        str,
        typer.Argument(
            metavar="FILE",
            help="One job per line, as JSON with the fields of POST /api/jobs; - reads from"
            " standard input.",
        ),
    ],
    key: Annotated[
        str | None,
        typer.Option(
            help="Line n gets the idempotency key KEY/n, unless it has one: the same file can be"
            " submitted again without a second job.",
        ),
    ] = None,
    json: printing.Json = False,
) -> None:
    """Create many jobs; prints the id of each, or why it was refused. Exit code 3: some were
    refused."""
    from penstock.cli.errors import ROWS_FAILED
    from penstock.cli.jobs.control import submitted

    results = asyncio.run(submitted(_orders(source, key)))
    if json:
        printing.as_json(results)
    else:
        for number, one in enumerate(results, 1):
            if "jobId" in one:
                print(one["jobId"])
            else:
                printing.note(f"job {number}: {one['error']['code']}: {one['error']['message']}")
    if any("jobId" not in one for one in results):
        raise typer.Exit(ROWS_FAILED)


def _orders(source: str, key: str | None) -> list[dict[str, Any]]:
    import orjson

    from penstock.cli.errors import USAGE, CliError

    from_input = source == _STANDARD_INPUT
    lines = (sys.stdin.buffer.read() if from_input else Path(source).read_bytes()).splitlines()
    orders: list[dict[str, Any]] = []
    for number, line in enumerate(lines, 1):
        if not line.strip():
            continue
        try:
            order = orjson.loads(line)
        except ValueError as error:
            raise CliError(USAGE, f"{source}, line {number} is not valid JSON: {error}.") from error
        if not isinstance(order, dict):
            raise CliError(USAGE, f"{source}, line {number} is not a JSON object.")
        if key is not None:
            order = {"idempotencyKey": f"{key}/{number}", **order}
        orders.append(order)
    if not orders:
        raise CliError(USAGE, f"{source} has no jobs.")
    return orders
