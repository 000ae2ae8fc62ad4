"""`penstock values`: what words in the files of a source mean."""

from __future__ import annotations

import asyncio
from typing import Annotated, Any

import typer

from penstock.cli import printing
from penstock.cli.jobs.jobs import JobId

app = typer.Typer(help="What words in the files of a source mean.", no_args_is_help=True)
_PATH = "/api/saved-values"
Source = Annotated[str, typer.Argument(help="The source, such as a supplier's name.")]
FieldName = Annotated[str, typer.Argument(help="The field, such as availability.quantity.")]
Word = Annotated[str, typer.Argument(help="The word in the file, capitals or not.")]


@app.command("list")
def list_values(
    source: Annotated[str, typer.Option(help="Only of this source.")] = "",
    json: printing.Json = False,
) -> None:
    """List saved words."""
    found = asyncio.run(_listed(source))
    _show(found, ["source", "field", "word", "value"], json)


@app.command("set")
def remember(
    source: Source, field: FieldName, word: Word,
    value: Annotated[str, typer.Argument(help="The text that is read instead; empty: none.")] = "",
    json: printing.Json = False,
) -> None:  # fmt: skip
    """Read a word as a value, from the next file of the source on."""
    order = {"source": source, "field": field, "word": word, "value": value}
    made = asyncio.run(_call("PUT", _PATH, body=order))
    _show([made], ["source", "field", "word", "value"], json)


@app.command("delete")
def forget(source: Source, field: FieldName, word: Word) -> None:
    """Forget a word."""
    asyncio.run(_call("DELETE", _PATH, {"source": source, "field": field, "word": word}))


@app.command("unread")
def unread(job_id: JobId, json: printing.Json = False) -> None:
    """List values of a job that could not be read in several rows."""
    found = asyncio.run(_call("GET", f"/api/jobs/{job_id}/unread-values"))
    _show(found["items"], ["rows", "column", "field", "value", "code"], json)


def _show(items: list[dict[str, Any]], names: list[str], json: bool) -> None:
    if json:
        printing.as_json(items)
        return
    for one in items:
        print("\t".join(str(one[name]) for name in names))


async def _listed(source: str) -> list[dict[str, Any]]:
    from penstock.cli.connection import connected

    async with connected() as penstock:
        return await penstock.first(_PATH, 1000, source=source or None)


async def _call(
    method: str, path: str, params: dict[str, Any] | None = None, body: dict[str, Any] | None = None
) -> Any:
    from penstock.cli.connection import connected

    async with connected() as penstock:
        return await penstock.client.call(method, path, params=params, body=body)
