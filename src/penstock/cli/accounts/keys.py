"""`penstock keys`."""

from __future__ import annotations

import asyncio
from datetime import UTC, datetime, timedelta
from enum import StrEnum
from typing import TYPE_CHECKING, Annotated, Any

import typer

from penstock.cli import printing
from penstock.cli.accounts.orgs import Org, Plan, Role, ensured_org, require_address
from penstock.cli.accounts.users import find_user, user_of

if TYPE_CHECKING:
    from penstock.cli.connection import Penstock

app = typer.Typer(help="API keys.", no_args_is_help=True)


class KeyScope(StrEnum):
    READ = "read"
    WRITE = "write"
    ADMIN = "admin"


@app.command("create")
def create_key(
    org: Org,
    plan: Annotated[Plan | None, typer.Option(help="Plan of the org, if it is new.")] = None,
    role: Annotated[Role, typer.Option(help="Role of the user, if it is new.")] = Role.MEMBER,
    user: Annotated[str, typer.Option(help="E-mail of the user; else `<role>@<org>`.")] = "",
    name: Annotated[str, typer.Option(help="What the key is for.")] = "",
    scope: Annotated[
        list[KeyScope] | None,
        typer.Option(help="What it may do, once for each; else all that its user may do."),
    ] = None,
    days: Annotated[
        int | None, typer.Option(min=1, max=36500, help="Expires after so many days.")
    ] = None,
    json: printing.Json = False,
) -> None:
    """Create a key and print it once. Creates the org and the user if they are missing."""
    email = user or f"{role}@{org}"
    require_address(email)
    order: dict[str, Any] = {"name": name}
    if scope:
        order["scopes"] = scope
    if days is not None:
        order["expiresAt"] = (datetime.now(UTC) + timedelta(days=days)).isoformat()
    key = asyncio.run(_create_key(org, plan, role, email, order))
    if json:
        printing.as_json({"key": key, "org": org, "role": role})
    else:
        print(key)
        printing.note("Keep it: it is not shown again.")


@app.command("list")
def list_keys(
    user: Annotated[str, typer.Option(help="E-mail of one user; else all.")] = "",
    json: printing.Json = False,
) -> None:
    """List all keys, newest first, including revoked and expired ones."""
    found = asyncio.run(_list_keys(user))
    if json:
        printing.as_json(found)
        return
    head = ("ID", "BEGINS", "USER", "SCOPES", "NAME", "LAST USED", "STATE")
    rows = [
        [key["id"], key["prefix"], key["email"], ",".join(key["scopes"]), key["name"],
         printing.moment(key["lastUsedAt"]) or "never", _state(key)]
        for key in found
    ]  # fmt: skip
    printing.columns(head, rows)


@app.command("revoke")
def revoke_key(
    key_id: Annotated[int, typer.Argument(min=1, help="Number of the key, from `keys list`.")],
    json: printing.Json = False,
) -> None:
    """Revoke a key: requests with it are refused from now on."""
    asyncio.run(_revoke(key_id))
    if json:
        printing.as_json({"id": key_id, "revoked": True})
    else:
        print(f"Key {key_id} is revoked.")


def _state(key: dict[str, Any]) -> str:
    if key["revokedAt"]:
        return "revoked"
    if key["expiresAt"] is None:
        return "valid"
    if datetime.fromisoformat(key["expiresAt"]) < datetime.now(UTC):
        return "expired"
    return f"until {printing.moment(key['expiresAt'])}"


async def _create_key(
    org: str, plan: Plan | None, role: Role, email: str, order: dict[str, Any]
) -> str:
    from penstock.cli.connection import connected

    async with connected() as penstock:
        await ensured_org(penstock, org, plan)
        owner = await _ensured_user(penstock, org, email, role)
        made = await penstock.post("/api/keys", {**order, "userId": owner["id"]})
    return str(made["key"])


async def _ensured_user(penstock: Penstock, org: str, email: str, role: Role) -> dict[str, Any]:
    from penstock.cli.errors import USAGE, CliError

    found = await find_user(penstock, email)
    if found is None:
        made: dict[str, Any] = await penstock.post(
            "/api/users", {"email": email, "org": org, "role": role, "signsIn": False}
        )
        return made
    if found["org"] != org:
        raise CliError(USAGE, f"User {email} exists already, in the org {found['org']}.")
    return found


async def _list_keys(email: str) -> list[dict[str, Any]]:
    from penstock.cli.connection import connected

    async with connected() as penstock:
        owner = (await user_of(penstock, email))["id"] if email else "all"
        return [key async for key in penstock.client.listed("/api/keys", user_id=owner)]


async def _revoke(key_id: int) -> None:
    from penstock.cli.connection import connected

    async with connected() as penstock:
        await penstock.client.call("DELETE", f"/api/keys/{key_id}")
