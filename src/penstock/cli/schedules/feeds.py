"""`penstock feeds`: products for Google Merchant Center by a secret address."""

from __future__ import annotations

import asyncio
from typing import Annotated, Any
from uuid import UUID

import typer

from penstock.cli import printing

app = typer.Typer(help="Feeds of products by a secret address.", no_args_is_help=True)
Id = Annotated[UUID, typer.Argument(metavar="ID", help="The feed's id.")]


@app.command("list")
def list_feeds(json: printing.Json = False) -> None:
    """List the feeds of your org."""
    found = asyncio.run(_call("GET", "/api/feeds"))["items"]
    if json:
        printing.as_json(found)
        return
    rows = [
        (one["id"], "on" if one["enabled"] else "off",
         max((file["included"] for file in one["files"]), default=""),
         printing.moment(one["readAt"]), one["name"])
        for one in found
    ]  # fmt: skip
    printing.columns(("ID", "STATE", "PRODUCTS", "LAST FETCH", "NAME"), rows)


@app.command("add")
def add(
    name: Annotated[str, typer.Argument(help="What it is called.")],
    source: Annotated[str, typer.Option(help="Only products of this source.")] = "",
    link: Annotated[
        str, typer.Option(help="Address of products, such as https://shop.example/p/{sku}.")
    ] = "",
    availability: Annotated[
        str, typer.Option(help="Of products that say nothing, such as in_stock.")
    ] = "",
    condition: Annotated[str, typer.Option(help="new, refurbished or used.")] = "",
    title: Annotated[str, typer.Option(help="Title in the header of the feed.")] = "",
    site: Annotated[str, typer.Option(help="Address of the shop in the header.")] = "",
    json: printing.Json = False,
) -> None:
    """Create a feed. Its addresses are shown only now."""
    given = {
        "source": source, "link": link, "availability": availability, "condition": condition,
        "title": title, "site": site,
    }  # fmt: skip
    settings = {key: value for key, value in given.items() if value}
    made = asyncio.run(_call("POST", "/api/feeds", {"name": name, "settings": settings}))
    _print_paths(made, json)


@app.command("check")
def check(feed: Id, json: printing.Json = False) -> None:
    """Build a feed, and show which products are left out and why."""
    found = asyncio.run(_call("POST", f"/api/feeds/{feed}/build"))
    if json:
        printing.as_json(found)
        return
    [file, *_] = found["files"]
    print(f"The feed has {printing.count(file['included'], 'product', 'products')}.")
    left_out = file["leftOut"]
    if left_out["reasons"]:
        printing.columns(("LEFT OUT", "PRODUCTS"), list(left_out["reasons"].items()))


@app.command("rotate")
def rotate(feed: Id, json: printing.Json = False) -> None:
    """Give a feed another address. The old one answers no longer."""
    _print_paths(asyncio.run(_call("POST", f"/api/feeds/{feed}/rotate")), json)


@app.command("delete")
def delete(
    feed: Id, yes: Annotated[bool, typer.Option("--yes", help="Do not ask.")] = False
) -> None:
    """Delete a feed. Its address answers no longer."""
    if not yes:
        typer.confirm(f"Delete feed {feed}?", abort=True, err=True)
    asyncio.run(_call("DELETE", f"/api/feeds/{feed}"))
    print(f"Feed {feed} is deleted.")


def _print_paths(made: dict[str, Any], json: bool) -> None:
    if json:
        printing.as_json(made)
        return
    print(f"Feed {made['id']}. These addresses are secret, and shown only now:")
    for path in made["paths"].values():
        print(path)


async def _call(method: str, path: str, body: dict[str, Any] | None = None) -> dict[str, Any]:
    from penstock.cli.connection import connected

    async with connected() as penstock:
        answer: dict[str, Any] = await penstock.client.call(method, path, body=body)
        return answer
