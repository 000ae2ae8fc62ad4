"""`penstock sources`: product APIs that are described by a configuration file."""

from __future__ import annotations

import asyncio
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from penstock.cli import printing
from penstock.cli.credentials import Credentials, parse_credentials

if TYPE_CHECKING:
    from penstock.model.sources.document import SourceDocument

app = typer.Typer(help="Sources: product APIs described by configuration.", no_args_is_help=True)
Name = Annotated[str, typer.Argument(metavar="SOURCE", help="The source's name or id.")]
ConfigFile = Annotated[
    Path, typer.Argument(metavar="FILE", exists=True, dir_okay=False, help="TOML or JSON.")
]
Org = Annotated[str, typer.Option("--org", help="Name of the org.")]
DEFAULT_ORG = "default"


@app.command("list")
def list_sources(org: Org = DEFAULT_ORG, json: printing.Json = False) -> None:
    """List the sources of an org."""
    found = asyncio.run(_list(org))
    if json:
        printing.as_json(found)
        return
    rows = [
        (one["name"], one["format"], one["status"], "yes" if one["enabled"] else "no",
         one["config"]["url"])
        for one in found
    ]  # fmt: skip
    printing.columns(("NAME", "FORMAT", "STATUS", "ENABLED", "URL"), rows)


@app.command("add")
def add(
    file: ConfigFile,
    credential: Credentials = None,
    org: Org = DEFAULT_ORG,
    json: printing.Json = False,
) -> None:
    """Add a source from a configuration file, or replace the one of the same name."""
    document = _document(file)
    body = {
        **document.values,
        "credentials": {**document.credentials, **parse_credentials(credential)},
    }
    made, is_new = asyncio.run(_add(document, body, org))
    if json:
        printing.as_json(made)
    else:
        print(f"Source {made['name']} is {'created' if is_new else 'replaced'}.")


@app.command("demo")
def demo(json: printing.Json = False) -> None:
    """Add the sources of a running `penstock sandbox`, or replace those of the same names."""
    made = asyncio.run(_demo())
    if json:
        printing.as_json(made)
        return
    printing.columns(
        ("NAME", "FORMAT", "URL"), [(m["name"], m["format"], m["config"]["url"]) for m in made]
    )
    printing.note("They offer household goods. Try: penstock research Chair")


@app.command("check")
def check(file: ConfigFile) -> None:
    """Check a configuration file without storing it."""
    config = _document(file).config()
    from penstock.providers.configured.mapping import check_fields

    check_fields(config)
    print(f"{file} describes the source {config.name}.")


@app.command("show")
def show(source: Name, org: Org = DEFAULT_ORG, json: printing.Json = False) -> None:
    """Show a source, with its limit and circuit."""
    found, health = asyncio.run(_show(source, org))
    if json:
        printing.as_json(found | {"health": health})
        return
    config = found["config"]
    printing.fields(
        [
            ("name", found["name"]), ("title", found["title"]), ("id", found["id"]),
            ("url", config["url"]), ("format", found["format"]), ("enabled", found["enabled"]),
            ("status", found["status"]), ("tested", printing.moment(found["testedAt"])),
            ("circuit", health["circuit"]["state"]), ("calls", health["calls"]),
            ("failed", health["failed"]), ("p95 ms", health["p95Ms"]),
        ]
    )  # fmt: skip


@app.command("test")
def run_test(
    source: Name,
    query: Annotated[str, typer.Option("--query", "-q", help="What to search for.")],
    org: Org = DEFAULT_ORG,
    json: printing.Json = False,
) -> None:
    """Ask a source, and show the request, the raw answer, the products and their problems. Exits
    with 1 if it does not work."""
    tested = asyncio.run(_test(source, query, org))
    if json:
        printing.as_json(tested)
    else:
        _print_test(tested)
    if not tested["ok"]:
        raise typer.Exit(1)


@app.command("delete")
def delete(
    source: Name,
    org: Org = DEFAULT_ORG,
    yes: Annotated[bool, typer.Option("--yes", help="Do not ask.")] = False,
) -> None:
    """Delete a source and its credentials."""
    if not yes:
        typer.confirm(f"Delete source {source}?", abort=True, err=True)
    asyncio.run(_delete(source, org))
    print(f"Source {source} is deleted.")


@app.command("fields")
def fields(json: printing.Json = False) -> None:
    """List the fields that a mapping can fill, and the functions of expressions."""
    from penstock.catalog.fields import FIELDS
    from penstock.model.sources.expressions.functions import FUNCTIONS

    mapped = [one for one in FIELDS if one.mapped]
    if json:
        printing.as_json(
            {
                "fields": [
                    {"target": f.target, "kind": f.kind, "description": f.description}
                    for f in mapped
                ],
                "functions": [
                    {"name": name, "description": rule.description}
                    for name, rule in FUNCTIONS.items()
                ],
            }
        )
        return
    printing.columns(("FIELD", "KIND", "WHAT"), [(f.target, f.kind, f.description) for f in mapped])
    print()
    rows = [(name, rule.description) for name, rule in FUNCTIONS.items()]
    printing.columns(("FUNCTION", "WHAT"), rows)


def _document(file: Path) -> SourceDocument:
    from penstock.model.sources.document import read_document

    text = file.read_text("utf-8")
    return read_document(text, is_toml=file.suffix.lower() != ".json")


def _print_test(tested: dict[str, Any]) -> None:
    request = tested["request"]
    print(f"{request['method']} {request['url']}")
    for name, value in request["headers"].items():
        print(f"  {name}: {value}")
    if not tested["ok"]:
        error = tested["error"]
        print(f"It does not work: {error['code']}: {error['message']}")
        return
    print(f"Status {tested['status']} in {tested['ms']} ms, {tested['records']} records.\n")
    print(tested["answer"][:2000])
    print()
    rows = []
    problems = []
    for one in tested["products"]:
        product = one["product"]
        price = product.get("price", {})
        rows.append(
            (product.get("sourceId"), product.get("identifiers", {}).get("gtin"),
             f"{price.get('amount', '')} {price.get('currency', '')}".strip(),
             product.get("availability", {}).get("status"), product.get("title"))
        )  # fmt: skip
        problems += [
            (product.get("sourceId"), found["code"], found.get("target"), found["message"])
            for found in one["problems"]
        ]
    printing.columns(("ID", "GTIN", "PRICE", "STOCK", "TITLE"), rows)
    if problems:
        print()
        printing.columns(("ID", "PROBLEM", "FIELD", "MESSAGE"), problems)


async def _list(org: str) -> list[dict[str, Any]]:
    from penstock.cli.connection import connected

    async with connected() as penstock:
        found: list[dict[str, Any]] = (await penstock.get("/api/sources", org=org))["items"]
        return found


async def _demo() -> list[dict[str, Any]]:
    from penstock.cli.connection import connected

    async with connected() as penstock:
        made: list[dict[str, Any]] = (await penstock.post("/api/sources/demo", {}))["items"]
        return made


async def _found(penstock: Any, source: str, org: str) -> dict[str, Any]:
    from penstock.model.errors import NotThere

    for one in (await penstock.get("/api/sources", org=org))["items"]:
        if source in (one["id"], one["name"]):
            found: dict[str, Any] = one
            return found
    raise NotThere("NOT_FOUND", f"There is no source {source!r}.")


async def _add(
    document: SourceDocument, body: dict[str, Any], org: str
) -> tuple[dict[str, Any], bool]:
    from penstock.cli.connection import connected
    from penstock.client import ApiError

    document.config()
    async with connected() as penstock:
        known = (await penstock.get("/api/sources", org=org))["items"]
        same = next((one for one in known if one["name"] == body.get("name")), None)
        try:
            if same is None:
                made = await penstock.client.call(
                    "POST", "/api/sources", params={"org": org}, body=body
                )
            else:
                made = await penstock.client.call("PUT", f"/api/sources/{same['id']}", body=body)
        except ApiError as error:
            raise _with_line(document, error) from error
    return made, same is None


def _with_line(document: SourceDocument, error: Any) -> Exception:
    """The error with the line of the file: the server names the field only."""
    field = str(error.details.get("field") or "")
    if error.code != "INVALID_CONFIG" or not field:
        raised: Exception = error
        return raised
    head, _, rest = field.partition(".")
    reason = str(error.message).partition(f"{field}: ")[2] or str(error.message)
    return document.refused([head, rest] if rest else [head], reason)


async def _show(source: str, org: str) -> tuple[dict[str, Any], dict[str, Any]]:
    from penstock.cli.connection import connected

    async with connected() as penstock:
        found = await _found(penstock, source, org)
        return found, await penstock.get(f"/api/sources/{found['id']}/health")


async def _test(source: str, query: str, org: str) -> dict[str, Any]:
    from penstock.cli.connection import connected

    async with connected() as penstock:
        found = await _found(penstock, source, org)
        tested: dict[str, Any] = await penstock.post(
            f"/api/sources/{found['id']}/test", {"query": query}
        )
        return tested


async def _delete(source: str, org: str) -> None:
    from penstock.cli.connection import connected

    async with connected() as penstock:
        found = await _found(penstock, source, org)
        await penstock.client.call("DELETE", f"/api/sources/{found['id']}")
