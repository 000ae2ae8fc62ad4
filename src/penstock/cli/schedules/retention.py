"""`penstock retention`: how long things are kept."""

from __future__ import annotations

import asyncio
from typing import Annotated, Any

import typer

from penstock.cli import printing

app = typer.Typer(help="How long things are kept.", no_args_is_help=True)
Org = Annotated[str, typer.Option(help="Name of the org; else your own.")]


@app.command("show")
def show(org: Org = "", json: printing.Json = False) -> None:
    """Show how long an org keeps things."""
    found = asyncio.run(_call("GET", org))
    if json:
        printing.as_json(found)
    else:
        _print(found)


@app.command("set")
def change(
    values: Annotated[
        list[str],
        typer.Argument(metavar="NAME=DAYS…", help="`items=30`; `items=` removes what was set."),
    ],
    org: Org = "",
    json: printing.Json = False,
) -> None:
    """Set days by kind for an org. Kinds that are not named stay as they are."""
    given: dict[str, Any] = {}
    for one in values:
        name, equals, value = one.partition("=")
        if not equals:
            raise typer.BadParameter("write NAME=DAYS, such as items=30")
        try:
            number = float(value) if value else None
        except ValueError:
            raise typer.BadParameter(f"{value!r} is not a number of days") from None
        given[name] = int(number) if number is not None and number.is_integer() else number
    changed = asyncio.run(_change(org, given))
    if json:
        printing.as_json(changed)
    else:
        _print(changed)


def _print(found: dict[str, Any]) -> None:
    rows = [
        (kind, _shown(days, kind), "" if found["overrides"][kind] is None else "set by the org")
        for kind, days in found["effective"].items()
    ]
    printing.columns(("KIND", "KEPT", ""), rows)


def _shown(value: float, kind: str) -> str:
    if kind.endswith("Imports"):
        return f"{value:g} per shop" if value else "all"
    return f"{value:g} days" if value else "forever"


async def _change(org: str, given: dict[str, Any]) -> dict[str, Any]:
    before = await _call("GET", org)
    return await _call("PUT", org, before["overrides"] | given)


async def _call(method: str, org: str, body: dict[str, Any] | None = None) -> dict[str, Any]:
    from penstock.cli.connection import connected

    async with connected() as penstock:
        answer: dict[str, Any] = await penstock.client.call(
            method, "/api/retention", params={"org": org} if org else {}, body=body
        )
        return answer
