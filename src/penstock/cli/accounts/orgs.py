"""`penstock orgs`, and what `users` and `keys` share with it."""

from __future__ import annotations

import asyncio
from enum import StrEnum
from typing import TYPE_CHECKING, Annotated, Any

import typer

from penstock.cli import printing

if TYPE_CHECKING:
    from penstock.cli.connection import Penstock

orgs = typer.Typer(help="Tenants and their plans.", no_args_is_help=True)


class Plan(StrEnum):
    ENTERPRISE = "enterprise"
    PREMIUM = "premium"
    STANDARD = "standard"
    BASIC = "basic"
    TRIAL = "trial"


class CatalogKey(StrEnum):
    SKU = "sku"
    GTIN = "gtin"
    NONE = "none"


class Role(StrEnum):
    ADMIN = "admin"
    MEMBER = "member"
    VIEWER = "viewer"


Org = Annotated[str, typer.Option("--org", help="Name of the org.")]
Email = Annotated[str, typer.Argument(help="E-mail address.")]


@orgs.command("create")
def create_org(
    name: Annotated[str, typer.Argument(help="Letters, digits, '.', '_' and '-'.")],
    plan: Annotated[Plan, typer.Option(help="Decides the org's share of the workers.")] = (
        Plan.STANDARD
    ),
    json: printing.Json = False,
) -> None:
    """Create an org."""
    org = asyncio.run(_create_org(name, plan))
    if json:
        printing.as_json({"org": org["name"], "plan": org["plan"]})
    else:
        print(f"Org {org['name']} is there, with plan {org['plan']}.")


@orgs.command("list")
def list_orgs(json: printing.Json = False) -> None:
    """List all orgs."""
    found = asyncio.run(_list_orgs())
    if json:
        printing.as_json(found)
    else:
        printing.columns(("ORG", "PLAN", "CREATED"), [list(org.values()) for org in found])


@orgs.command("set")
def set_org(
    name: Annotated[str, typer.Argument(help="Name of the org.")],
    plan: Annotated[Plan | None, typer.Option(help="Its share and its lane from now on.")] = None,
    max_slices: Annotated[
        int | None,
        typer.Option(min=0, help="Running slices it may hold; 0: as many as any org."),
    ] = None,
    shared_jobs: Annotated[
        bool | None,
        typer.Option("--shared-jobs/--own-jobs", help="Whether members see each other's jobs."),
    ] = None,
    catalog_key: Annotated[
        CatalogKey | None,
        typer.Option(
            help="By which products of all sources are one; none: each source keeps its own."
        ),
    ] = None,
    json: printing.Json = False,
) -> None:
    """Change an org. Jobs that wait already stay in their lane."""
    change = {"plan": plan, "maxSlices": max_slices, "sharedJobs": shared_jobs,
              "catalogKey": catalog_key}  # fmt: skip
    org = asyncio.run(_set_org(name, change))
    if json:
        printing.as_json(org)
    else:
        openness = "shared" if org["sharedJobs"] else "each member's own"
        printing.fields(
            [
                ("Org", org["org"]),
                ("Plan", org["plan"]),
                ("Weight", org["weight"]),
                ("Most slices", org["maxSlices"] or "as any org"),
                ("Jobs are", openness),
                ("Catalog key", org["catalogKey"] or "none: each source keeps its own products"),
            ]
        )


async def _create_org(name: str, plan: Plan) -> Any:
    from penstock.cli.connection import connected

    async with connected() as penstock:
        return await ensured_org(penstock, name, plan)


async def _list_orgs() -> list[dict[str, str]]:
    from penstock.cli.connection import connected

    async with connected() as penstock:
        found = (await penstock.get("/api/orgs"))["items"]
    return [{"org": org["name"], "plan": org["plan"], "createdAt": org["createdAt"]}
            for org in found]  # fmt: skip


async def _set_org(name: str, change: dict[str, Any]) -> dict[str, Any]:
    from penstock.cli.connection import connected

    async with connected() as penstock:
        org = await penstock.client.call(
            "PATCH", "/api/org", params={"org": name}, body=_given(change)
        )
    names = ("plan", "weight", "maxSlices", "sharedJobs", "catalogKey")
    return {"org": org["name"], **{one: org[one] for one in names}}


def _given(change: dict[str, Any]) -> dict[str, Any]:
    return {name: value for name, value in change.items() if value is not None}


async def ensured_org(penstock: Penstock, name: str, plan: Plan | None) -> Any:
    """The org with that name, created if it is missing."""
    from penstock.client import Conflict

    try:
        return await penstock.post("/api/orgs", {"name": name, "plan": plan or Plan.STANDARD})
    except Conflict:
        org = await penstock.get("/api/org", org=name)
        tell_of_plan(org, plan)
        return org


def tell_of_plan(org: Any, wanted: Plan | None) -> None:
    if wanted is not None and org["plan"] != wanted:
        printing.note(f"Org {org['name']} exists already and keeps its plan, {org['plan']}.")


def require_address(email: str) -> None:
    from penstock.cli.errors import USAGE, CliError

    name, at, place = email.partition("@")
    if not (name and at and place) or any(character.isspace() for character in email):
        raise CliError(USAGE, f"{email!r} is no e-mail address.")
