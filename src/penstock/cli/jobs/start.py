"""`penstock jobs start`: one job of any pipeline."""

from __future__ import annotations

import asyncio
from pathlib import Path
from typing import Annotated, Any
from uuid import UUID

import typer

from penstock.cli import printing
from penstock.cli.jobs.jobs import show_end


def start(
    pipeline: Annotated[str, typer.Argument(help="Such as extraction, lookup or crawl.")],
    file: Annotated[
        Path | None, typer.Argument(exists=True, dir_okay=False, help="Its file, if it takes one.")
    ] = None,
    config: Annotated[
        str, typer.Option(help="The config as JSON, or @FILE with it; fields as in the API.")
    ] = "{}",
    url: Annotated[str | None, typer.Option(help="A file that the server fetches.")] = None,
    name: Annotated[str, typer.Option(help="What the job is called in lists.")] = "",
    priority: Annotated[str, typer.Option(help="0 to 100, high, medium or low.")] = "medium",
    key: Annotated[
        str | None, typer.Option(help="An idempotency key: the same again is not a second job.")
    ] = None,
    wait: Annotated[bool, typer.Option("--wait", help="Show its progress until it ends.")] = False,
    json: printing.Json = False,
) -> None:
    """Create a job of any pipeline; prints its id."""
    from penstock.cli.jobs.control import priority_of, started, watched

    order: dict[str, Any] = {
        "pipeline": pipeline, "config": _parsed(config), "url": url, "name": name,
        "priority": priority_of(priority), "idempotency_key": key,
    }  # fmt: skip
    receipt, page = asyncio.run(started(file, order))
    if not wait:
        if page is not None:
            printing.note(f"See it at {page}")
        if json:
            printing.as_json(receipt)
        else:
            print(receipt["jobId"])
        return
    show_end(asyncio.run(watched(UUID(receipt["jobId"]))), json)


def _parsed(text: str) -> dict[str, Any]:
    import orjson

    from penstock.cli.errors import USAGE, CliError

    try:
        given = orjson.loads(Path(text[1:]).read_bytes() if text.startswith("@") else text)
    except OSError as error:
        raise CliError(USAGE, f"Cannot read {text[1:]}: {error.strerror}.") from error
    except ValueError as error:
        raise CliError(USAGE, f"--config is not valid JSON: {error}.") from error
    if not isinstance(given, dict):
        raise CliError(USAGE, '--config is not a JSON object such as {"intent": "merge"}.')
    return given
