"""`penstock products edit`: change fields of a product by hand, undo that, and show its prices."""

from __future__ import annotations

import asyncio
from typing import Annotated, Any
from uuid import UUID

import typer

from penstock.cli import printing
from penstock.cli.catalog.products import ProductId, parse_product_id


def edit(
    product_id: ProductId,
    set_fields: Annotated[
        list[str] | None,
        typer.Option(
            "--set", metavar="FIELD=VALUE", help="As in title=Hammer or price.amount=12.90."
        ),
    ] = None,
    clear: Annotated[list[str] | None, typer.Option(metavar="FIELD", help="Empty a field.")] = None,
    json: printing.Json = False,
) -> None:
    """Set fields of a product. Imports leave them as they are until the edit is undone."""
    fields: dict[str, str | None] = dict.fromkeys(clear or ())
    for one in set_fields or ():
        name, equals, value = one.partition("=")
        if not equals:
            raise _usage(f"{one!r} is not FIELD=VALUE.")
        fields[name.strip()] = value
    if not fields:
        raise _usage("Name at least one field with --set or --clear.")
    made = asyncio.run(_call("PATCH", f"/api/products/{product_id}", {"fields": fields}))
    _tell(made, json)


def undo_edit(
    product_id: ProductId,
    edit_id: Annotated[
        UUID,
        typer.Argument(
            metavar="EDIT", parser=parse_product_id, help="As `penstock products history` names it."
        ),
    ],
    json: printing.Json = False,
) -> None:
    """Undo an edit of a product: imports change its fields again."""
    path = f"/api/products/{product_id}/edits/{edit_id}/undo"
    _tell(asyncio.run(_call("POST", path)), json)


def prices(product_id: ProductId, json: printing.Json = False) -> None:
    """Show the prices that a product had, oldest first."""
    found = asyncio.run(_call("GET", f"/api/products/{product_id}/prices"))["items"]
    if json:
        printing.as_json(found)
        return
    rows = [
        (printing.moment(one["at"]), f"{one['amount'] or ''} {one['currency'] or ''}".strip())
        for one in found
    ]
    printing.columns(("FROM (UTC)", "PRICE"), rows)


def _tell(made: dict[str, Any], json: bool) -> None:
    if json:
        printing.as_json(made)
        return
    for one in made["changes"]:
        print(f"{one['field']}: {one['before']} → {one['after']}")
    edit_id = f", edit {made['editId']}" if made["editId"] else ""
    printing.note(f"The product has version {made['version']}{edit_id}.")


def _usage(why: str) -> Exception:
    from penstock.cli.errors import USAGE, CliError

    return CliError(USAGE, why)


async def _call(method: str, path: str, body: Any = None) -> dict[str, Any]:
    from penstock.cli.connection import connected

    async with connected() as penstock:
        answer: dict[str, Any] = await penstock.client.call(method, path, body=body)
        return answer
