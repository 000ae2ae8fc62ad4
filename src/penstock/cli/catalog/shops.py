"""`penstock shops import`: bring the products of a connected shop into the catalog."""

from __future__ import annotations

import asyncio
from typing import Annotated, Any
from uuid import UUID

import typer

from penstock.cli import printing
from penstock.cli.jobs.fix import Wait
from penstock.cli.jobs.jobs import show_end

app = typer.Typer(help="Imports from connected shops.", no_args_is_help=True)


@app.callback()
def shops() -> None:
    """Keep `import` a command of its own group."""


@app.command("import")
def import_shop(
    connection: Annotated[str, typer.Argument(metavar="CONNECTION", help="The connection's id.")],
    product: Annotated[
        list[str] | None, typer.Option(help="A product by the shop's id; may be repeated.")
    ] = None,
    since: Annotated[
        str | None, typer.Option(help="Changed since this time, or `last` for the last import.")
    ] = None,
    intent: Annotated[str, typer.Option(help="check, create, update, merge, replace …")] = "merge",
    images: Annotated[bool, typer.Option(help="Download pictures, make thumbnails.")] = True,
    missing: Annotated[
        str | None, typer.Option(help="Products that the shop lacks: report or unpublish.")
    ] = None,
    wait: Wait = False,
    json: printing.Json = False,
) -> None:
    """Import all products, some by id, or those that changed; prints the id of the job."""
    from penstock.cli.errors import USAGE, CliError

    if product and since is not None:
        raise CliError(USAGE, "Give --product or --since, not both.")
    config: dict[str, Any] = {"intent": intent, "images": images}
    if missing is not None:
        config["missing"] = missing
    asked: dict[str, Any] = {"connectionId": connection, "config": config}
    if product:
        asked["productIds"] = product
    elif since is not None:
        asked["since"] = since
    else:
        asked["all"] = True
    receipt = asyncio.run(_import(asked))
    if wait:
        from penstock.cli.jobs.control import watched

        show_end(asyncio.run(watched(UUID(receipt["jobId"]))), json)
    elif json:
        printing.as_json(receipt)
    else:
        print(receipt["jobId"])


async def _import(asked: dict[str, Any]) -> dict[str, Any]:
    from penstock.cli.connection import connected

    async with connected() as penstock:
        receipt: dict[str, Any] = await penstock.post("/api/products/import", asked)
        return receipt
