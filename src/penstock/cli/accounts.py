"""`penstock orgs`, `penstock users`, `penstock keys`."""

from __future__ import annotations

import asyncio
from enum import StrEnum
from typing import Annotated, Any

import typer

from penstock.cli import shown

orgs = typer.Typer(help="Tenants and their plans.", no_args_is_help=True)
users = typer.Typer(help="People and programs of an org.", no_args_is_help=True)
keys = typer.Typer(help="API keys.", no_args_is_help=True)


class Plan(StrEnum):
    ENTERPRISE = "enterprise"
    PREMIUM = "premium"
    STANDARD = "standard"
    BASIC = "basic"
    TRIAL = "trial"


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
    json: shown.Json = False,
) -> None:
    """Make an org."""
    org = asyncio.run(_create_org(name, plan))
    if json:
        shown.as_json({"org": org["name"], "plan": org["plan"]})
    else:
        print(f"Org {org['name']} is there, with plan {org['plan']}.")


@orgs.command("list")
def list_orgs(json: shown.Json = False) -> None:
    """All orgs."""
    found = asyncio.run(_list_orgs())
    if json:
        shown.as_json(found)
    else:
        shown.columns(("ORG", "PLAN", "CREATED"), [list(org.values()) for org in found])


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
    json: shown.Json = False,
) -> None:
    """Change an org. Jobs that wait already stay in their lane."""
    org = asyncio.run(_set_org(name, plan, max_slices, shared_jobs))
    if json:
        shown.as_json(org)
    else:
        openness = "shared" if org["sharedJobs"] else "each member's own"
        shown.fields(
            [
                ("Org", org["org"]),
                ("Plan", org["plan"]),
                ("Weight", org["weight"]),
                ("Most slices", org["maxSlices"] or "as any org"),
                ("Jobs are", openness),
            ]
        )


@users.command("create")
def create_user(
    email: Email,
    org: Org,
    role: Annotated[Role, typer.Option(help="What the user may do.")] = Role.MEMBER,
    json: shown.Json = False,
) -> None:
    """Make a user of an org that exists."""
    asyncio.run(_create_user(email, org, role))
    if json:
        shown.as_json({"email": email, "org": org, "role": role})
    else:
        print(f"User {email} is there, {role} of {org}.")


@keys.command("create")
def create_key(
    org: Org,
    plan: Annotated[Plan | None, typer.Option(help="Plan of the org, if it is new.")] = None,
    role: Annotated[Role, typer.Option(help="Role of the user, if it is new.")] = Role.MEMBER,
    user: Annotated[str, typer.Option(help="E-mail of the user; else `<role>@<org>`.")] = "",
    name: Annotated[str, typer.Option(help="What the key is for.")] = "",
    json: shown.Json = False,
) -> None:
    """Make a key and print it, once. Org and user are made where they are missing."""
    key = asyncio.run(_create_key(org, plan, role, user or f"{role}@{org}", name))
    if json:
        shown.as_json({"key": key, "org": org, "role": role})
    else:
        print(key)
        shown.note("Keep it: it is not shown again.")


async def _create_org(name: str, plan: Plan) -> Any:
    from penstock.cli.session import transaction
    from penstock.store import accounts

    async with transaction() as conn:
        org = await accounts.ensure_org(conn, name, plan)
        _tell_of_plan(org, plan)
        return org


async def _list_orgs() -> list[dict[str, str]]:
    from penstock.cli.session import transaction
    from penstock.store import accounts

    async with transaction() as conn:
        rows = await accounts.list_orgs(conn)
    return [
        {"org": row["name"], "plan": row["plan"], "createdAt": row["created_at"].isoformat()}
        for row in rows
    ]


async def _set_org(
    name: str, plan: Plan | None, max_slices: int | None, shared_jobs: bool | None
) -> dict[str, Any]:
    from penstock.cli.session import local_admin, transaction
    from penstock.store import accounts

    async with transaction() as conn:
        by = await local_admin(conn)
        row = await accounts.set_org(conn, name, plan, max_slices, shared_jobs, by_user=by.user_id)
    return {"org": row["name"], "plan": row["plan"], "weight": row["weight"],
            "maxSlices": row["max_slices"], "sharedJobs": row["shared_jobs"]}  # fmt: skip


async def _create_user(email: str, org: str, role: Role) -> None:
    from penstock.cli.session import transaction
    from penstock.store import accounts

    _require_address(email)
    async with transaction() as conn:
        row = await accounts.find_org(conn, org)
        await accounts.ensure_user(conn, row["id"], email, role)


async def _create_key(org: str, plan: Plan | None, role: Role, email: str, name: str) -> str:
    from penstock.cli.session import transaction
    from penstock.store import accounts

    async with transaction() as conn:
        row = await accounts.ensure_org(conn, org, plan)
        _require_address(email)
        _tell_of_plan(row, plan)
        owner = await accounts.ensure_user(conn, row["id"], email, role)
        return await accounts.create_key(conn, row["id"], owner["id"], name)


def _tell_of_plan(org: Any, wanted: Plan | None) -> None:
    if wanted is not None and org["plan"] != wanted:
        shown.note(f"Org {org['name']} exists already and keeps its plan, {org['plan']}.")


def _require_address(email: str) -> None:
    from penstock.cli.errors import USAGE, CliError

    name, at, place = email.partition("@")
    if not (name and at and place) or any(character.isspace() for character in email):
        raise CliError(USAGE, f"{email!r} is no e-mail address.")
