"""`penstock profiles`: profiles of suppliers' files, as TOML."""

from __future__ import annotations

import asyncio
import sys
from pathlib import Path
from typing import Annotated, Any

import typer

from penstock.cli import printing

app = typer.Typer(help="Profiles of suppliers' files.", no_args_is_help=True)
Name = Annotated[str, typer.Argument(metavar="NAME", help="The profile's name.")]
Org = Annotated[str, typer.Option("--org", help="Name of the org.")]
DEFAULT_ORG = "default"


@app.command("list")
def list_profiles(org: Org = DEFAULT_ORG, json: printing.Json = False) -> None:
    """List the latest version of each profile."""
    found = asyncio.run(_list(org))
    if json:
        printing.as_json(found)
        return
    rows = [(one["name"], one["version"], len(one["columns"]), one["contract"]) for one in found]
    printing.columns(("NAME", "VERSION", "COLUMNS", "CONTRACT"), rows)


@app.command("export")
def export(
    name: Name,
    version: Annotated[int | None, typer.Option(min=1, help="An older version.")] = None,
    org: Org = DEFAULT_ORG,
) -> None:
    """Print a profile as TOML, to be changed and imported again."""
    sys.stdout.write(asyncio.run(_export(org, name, version)))


@app.command("import")
def import_profile(
    file: Annotated[Path, typer.Argument(metavar="FILE", exists=True, dir_okay=False,
                                         help="A profile as TOML.")],
    org: Org = DEFAULT_ORG,
    json: printing.Json = False,
) -> None:  # fmt: skip
    """Save a profile from TOML, as a new version under the name in the file."""
    name, version = asyncio.run(_import(org, file.read_text("utf-8")))
    if json:
        printing.as_json({"name": name, "version": version})
    else:
        print(f"Profile {name} is saved, version {version}.")


@app.command("delete")
def delete(name: Name, org: Org = DEFAULT_ORG) -> None:
    """Delete a profile: no file uses it any more."""
    asyncio.run(_delete(org, name))
    print(f"Profile {name} is deleted.")


async def _list(org: str) -> list[dict[str, Any]]:
    from penstock.cli.connection import connected

    async with connected() as penstock:
        return [one async for one in penstock.client.listed("/api/profiles", org=org)]


async def _export(org: str, name: str, version: int | None) -> str:
    from penstock.catalog.profiles.profile import from_json
    from penstock.cli.connection import connected

    async with connected() as penstock:
        body = await penstock.get(_path(name), org=org, version=version)
    return from_json(body).to_toml()


async def _import(org: str, text: str) -> tuple[str, int]:
    from penstock.catalog.profiles.checks import parse_toml
    from penstock.catalog.profiles.profile import from_input
    from penstock.cli.connection import connected

    given = parse_toml(text)
    name = from_input(given).name
    async with connected() as penstock:
        saved = await penstock.client.call("PUT", _path(name), params={"org": org}, body=given)
    return name, saved["version"]


async def _delete(org: str, name: str) -> None:
    from penstock.cli.connection import connected

    async with connected() as penstock:
        await penstock.client.call("DELETE", _path(name), params={"org": org})


def _path(name: str) -> str:
    from urllib.parse import quote

    return f"/api/profiles/{quote(name, safe='')}"
