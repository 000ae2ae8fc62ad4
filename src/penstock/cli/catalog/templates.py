"""`penstock templates`: choose, order and rename the columns of exports."""

from __future__ import annotations

import asyncio
from enum import StrEnum
from typing import Annotated, Any
from urllib.parse import quote

import typer

from penstock.cli import printing

app = typer.Typer(help="Which columns exports have, and their names.", no_args_is_help=True)
_PATH = "/api/export-templates"
Name = Annotated[str, typer.Argument(help="The template's name.")]


class Variants(StrEnum):
    TEXT = "text"
    ROWS = "rows"
    COLUMNS = "columns"


Template = Annotated[str, typer.Option(help="The export template that names the columns.")]
VariantsAs = Annotated[
    Variants | None, typer.Option("--variants", help="Variants in one cell, as rows or as columns.")
]


@app.command("list")
def list_templates(json: printing.Json = False) -> None:
    """List the templates of your org."""
    found = asyncio.run(_call("GET", _PATH))["items"]
    if json:
        printing.as_json(found)
        return
    for one in found:
        columns = ", ".join(f"{part['column']}={part['name']}" for part in one["columns"])
        print(f"{one['name']}\t{one['variants']}\t{columns}")


@app.command("set")
def save(
    name: Name,
    columns: Annotated[
        list[str], typer.Argument(metavar="COLUMN[=NAME]…", help="Columns in their order.")
    ],
    variants: VariantsAs = None,
) -> None:
    """Save a template: the columns of the file, and their names."""
    pairs = [text.partition("=") for text in columns]
    order: dict[str, Any] = {
        "columns": [{"column": column, "name": told or column} for column, _, told in pairs]
    }
    if variants is not None:
        order["variants"] = variants.value
    asyncio.run(_call("PUT", f"{_PATH}/{quote(name, safe='')}", order))


@app.command("delete")
def delete(name: Name) -> None:
    """Delete a template."""
    asyncio.run(_call("DELETE", f"{_PATH}/{quote(name, safe='')}"))


async def _call(method: str, path: str, body: dict[str, Any] | None = None) -> Any:
    from penstock.cli.connection import connected

    async with connected() as penstock:
        return await penstock.client.call(method, path, body=body)
