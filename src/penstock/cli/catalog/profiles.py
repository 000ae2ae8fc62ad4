"""`penstock profiles`: what was learnt of suppliers' files, as TOML."""

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
    """The latest version of each profile."""
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
    """Save a profile from TOML, as a new version of the name it carries."""
    name, version = asyncio.run(_import(org, file.read_text("utf-8")))
    if json:
        printing.as_json({"name": name, "version": version})
    else:
        print(f"Profile {name} is saved, version {version}.")


@app.command("delete")
def delete(name: Name, org: Org = DEFAULT_ORG) -> None:
    """Files no longer find this profile."""
    asyncio.run(_delete(org, name))
    print(f"Profile {name} is deleted.")


async def _list(org: str) -> list[dict[str, Any]]:
    from penstock.cli.local_session import transaction
    from penstock.store.accounts import accounts
    from penstock.store.catalog import profiles
    from penstock.store.database import from_json

    async with transaction() as conn:
        rows = await profiles.listed(conn, (await accounts.find_org(conn, org))["id"])
    return [from_json(row["body"]) for row in rows]


async def _export(org: str, name: str, version: int | None) -> str:
    from penstock.catalog.profiles.profile import from_json
    from penstock.cli.local_session import transaction
    from penstock.store.accounts import accounts
    from penstock.store.catalog import profiles

    async with transaction() as conn:
        body = await profiles.get(conn, (await accounts.find_org(conn, org))["id"], name, version)
    if body is None:
        raise _missing(name)
    return from_json(body).to_toml()


async def _import(org: str, text: str) -> tuple[str, int]:
    from penstock.catalog.profiles.profile import from_toml, to_json
    from penstock.catalog.saved_profiles import prepare_to_save
    from penstock.cli.local_session import local_admin, transaction
    from penstock.store.accounts import accounts
    from penstock.store.catalog import profiles

    profile = prepare_to_save(from_toml(text))
    async with transaction() as conn:
        org_id = (await accounts.find_org(conn, org))["id"]
        user = (await local_admin(conn)).user_id
        version = await profiles.save(conn, org_id, user, profile.name, to_json(profile))
        await accounts.audit(
            conn, org_id, user, "profile.save", f"profile:{profile.name}",
            after={"version": version},
        )  # fmt: skip
    return profile.name, version


async def _delete(org: str, name: str) -> None:
    from penstock.cli.local_session import local_admin, transaction
    from penstock.store.accounts import accounts
    from penstock.store.catalog import profiles

    async with transaction() as conn:
        org_id = (await accounts.find_org(conn, org))["id"]
        if not await profiles.delete(conn, org_id, name):
            raise _missing(name)
        user = (await local_admin(conn)).user_id
        await accounts.audit(conn, org_id, user, "profile.delete", f"profile:{name}")


def _missing(name: str) -> Exception:
    from penstock.cli.errors import NOT_FOUND, CliError

    return CliError(NOT_FOUND, f"There is no profile {name!r}.")
