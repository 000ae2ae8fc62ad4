"""`penstock connections`: shops that products are imported from."""

from __future__ import annotations

import asyncio
from typing import Annotated, Any
from uuid import UUID

import typer

from penstock.cli import printing
from penstock.cli.credentials import Credentials, parse_credentials

app = typer.Typer(help="Connections to shops.", no_args_is_help=True)
Id = Annotated[UUID, typer.Argument(metavar="ID", help="The connection's id.")]
Org = Annotated[str, typer.Option("--org", help="Name of the org.")]
DEFAULT_ORG = "default"


@app.command("list")
def list_connections(org: Org = DEFAULT_ORG, json: printing.Json = False) -> None:
    """List the connections of an org."""
    found = asyncio.run(_list(org))
    if json:
        printing.as_json(found)
        return
    rows = [
        (one["id"], one["provider"], one["status"], printing.moment(one["syncedAt"]), one["name"],
         one["address"])
        for one in found
    ]  # fmt: skip
    printing.columns(("ID", "PROVIDER", "STATUS", "LAST IMPORT", "NAME", "ADDRESS"), rows)


@app.command("providers")
def providers(json: printing.Json = False) -> None:
    """List what can be connected, with the names of the credentials."""
    found = asyncio.run(_call("GET", "/api/connections/providers"))
    if json:
        printing.as_json(found)
        return
    rows = [
        (
            one["key"],
            ", ".join(
                field["name"] + ("" if field["required"] else " (optional)")
                for field in one["credentialFields"]
            ),
            one["addressHelp"],
        )
        for one in found["items"]
    ]
    printing.columns(("PROVIDER", "CREDENTIALS", "ADDRESS"), rows)


@app.command("add")
def add(
    provider: Annotated[str, typer.Argument(help="shopify, woocommerce or roastify.")],
    address: Annotated[str, typer.Argument(help="The shop's address.")] = "",
    credential: Credentials = None,
    name: Annotated[str, typer.Option(help="What it is called in lists.")] = "",
    org: Org = DEFAULT_ORG,
    json: printing.Json = False,
) -> None:
    """Connect a shop, and test the connection."""
    order = {
        "name": name, "provider": provider, "address": address,
        "credentials": parse_credentials(credential),
    }  # fmt: skip
    made, tested = asyncio.run(_add(order, org))
    if json:
        printing.as_json(made | {"test": tested})
    else:
        print(f"Connection {made['id']} to {made['address']} is created.")
        _print_test(tested)
    if not tested["ok"]:
        raise typer.Exit(1)


@app.command("demo")
def demo(json: printing.Json = False) -> None:
    """Connect the shops of a running `penstock sandbox`."""
    made = asyncio.run(_call("POST", "/api/connections/demo", {}))["items"]
    if json:
        printing.as_json(made)
        return
    printing.columns(("ID", "NAME", "ADDRESS"), [(m["id"], m["name"], m["address"]) for m in made])


@app.command("show")
def show(connection: Id, json: printing.Json = False) -> None:
    """Show a connection."""
    found = asyncio.run(_call("GET", f"/api/connections/{connection}"))
    if json:
        printing.as_json(found)
    else:
        printing.fields(list(found.items()))


@app.command("rename")
def rename(
    connection: Id,
    name: Annotated[str, typer.Argument(metavar="NAME", help="Its new name.")],
) -> None:
    """Give a connection another name."""
    changed = asyncio.run(_call("PATCH", f"/api/connections/{connection}", {"name": name}))
    print(f"Connection {connection} is called {changed['name']!r}.")


@app.command("test")
def run_test(connection: Id, json: printing.Json = False) -> None:
    """Ask the shop whether the connection works. Exits with 1 if it does not."""
    tested = asyncio.run(_call("POST", f"/api/connections/{connection}/test"))
    if json:
        printing.as_json(tested)
    else:
        _print_test(tested)
    if not tested["ok"]:
        raise typer.Exit(1)


@app.command("rotate")
def rotate(
    connection: Id,
    credential: Credentials = None,
    no_test: Annotated[
        bool,
        typer.Option("--no-test", help="Store them without asking the shop, which may be down."),
    ] = False,
) -> None:
    """Replace the credentials, all of them at once. They are tested first: if the shop refuses
    them, the old ones are kept."""
    order = {"credentials": parse_credentials(credential), "test": not no_test}
    asyncio.run(_call("POST", f"/api/connections/{connection}/rotate", order))
    if no_test:
        print(f"The new credentials are stored, but not tested: `connections test {connection}`.")
    else:
        print("The shop accepts them: the new credentials are stored.")


@app.command("delete")
def delete(
    connection: Id,
    yes: Annotated[bool, typer.Option("--yes", help="Do not ask.")] = False,
) -> None:
    """Delete a connection and its credentials. Its products stay."""
    if not yes:
        typer.confirm(f"Delete connection {connection}? Its products stay.", abort=True, err=True)
    gone = asyncio.run(_call("DELETE", f"/api/connections/{connection}"))
    print(f"Connection {connection} is deleted. {gone['productsKept']} of its products stay.")


@app.command("products")
def products(
    connection: Id,
    search: Annotated[str, typer.Option("--search", "-s", help="Words of the title.")] = "",
    limit: Annotated[int, typer.Option(min=1, max=1000, help="How many at most.")] = 50,
    json: printing.Json = False,
) -> None:
    """List products that the shop has now."""
    found = asyncio.run(_products(connection, search, limit))
    if json:
        printing.as_json(found)
        return
    rows = [
        (one["id"], one["status"], f"{one['price'] or ''} {one['currency'] or ''}".strip(),
         one["title"])
        for one in found
    ]  # fmt: skip
    printing.columns(("ID", "STATUS", "PRICE", "TITLE"), rows)


def _print_test(tested: dict[str, Any]) -> None:
    if tested["ok"]:
        shop = tested["shop"]
        count = "" if shop["products"] is None else f", {shop['products']} products"
        print(f"It works: {shop['name']}{count}, prices in {shop['currency'] or 'no currency'}.")
    else:
        error = tested["error"]
        print(f"It does not work: {error['code']}: {error['message']}")


async def _add(order: dict[str, Any], org: str) -> tuple[dict[str, Any], dict[str, Any]]:
    from penstock.cli.connection import connected

    async with connected() as penstock:
        made = await penstock.client.call(
            "POST", "/api/connections", params={"org": org}, body=order
        )
        tested = await penstock.post(f"/api/connections/{made['id']}/test")
    return made, tested


async def _list(org: str) -> list[dict[str, Any]]:
    from penstock.cli.connection import connected

    async with connected() as penstock:
        return [one async for one in penstock.client.listed("/api/connections", org=org)]


async def _products(connection: UUID, search: str, limit: int) -> list[dict[str, Any]]:
    from penstock.cli.connection import connected

    found: list[dict[str, Any]] = []
    after = ""
    async with connected() as penstock:
        while len(found) < limit:
            page = await penstock.get(
                f"/api/connections/{connection}/products", q=search, after=after
            )
            found += page["items"]
            after = page["next"]
            if not after:
                break
    return found[:limit]


async def _call(method: str, path: str, body: dict[str, Any] | None = None) -> dict[str, Any]:
    from penstock.cli.connection import connected

    async with connected() as penstock:
        answer: dict[str, Any] = await penstock.client.call(method, path, body=body)
        return answer
