"""`penstock keys`."""

from __future__ import annotations

import asyncio
from datetime import UTC, datetime, timedelta
from enum import StrEnum
from typing import Annotated, Any

import typer

from penstock.cli import shown
from penstock.cli.accounts import Org, Plan, Role, require_address, tell_of_plan
from penstock.cli.users import user_of

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
    json: shown.Json = False,
) -> None:
    """Make a key and print it, once. Org and user are made where they are missing."""
    email = user or f"{role}@{org}"
    expires_at = None if days is None else datetime.now(UTC) + timedelta(days=days)
    scopes = [one.value for one in scope] if scope else None
    key = asyncio.run(_create_key(org, plan, role, email, name, scopes, expires_at))
    if json:
        shown.as_json({"key": key, "org": org, "role": role})
    else:
        print(key)
        shown.note("Keep it: it is not shown again.")


@app.command("list")
def list_keys(
    user: Annotated[str, typer.Option(help="E-mail of one user; else all.")] = "",
    json: shown.Json = False,
) -> None:
    """All keys, newest first, also those that have ended."""
    found = asyncio.run(_list_keys(user))
    if json:
        shown.as_json(found)
        return
    head = ("ID", "BEGINS", "USER", "SCOPES", "NAME", "LAST USED", "STATE")
    rows = [
        [key["id"], key["prefix"], key["email"], ",".join(key["scopes"]), key["name"],
         shown.moment(key["lastUsedAt"]) or "never", _state(key)]
        for key in found
    ]  # fmt: skip
    shown.columns(head, rows)


@app.command("revoke")
def revoke_key(
    key_id: Annotated[int, typer.Argument(min=1, help="Number of the key, from `keys list`.")],
    json: shown.Json = False,
) -> None:
    """From now on no request with it is answered."""
    asyncio.run(_revoke(key_id))
    if json:
        shown.as_json({"id": key_id, "revoked": True})
    else:
        print(f"Key {key_id} is revoked.")


def _state(key: dict[str, Any]) -> str:
    if key["revokedAt"]:
        return "revoked"
    if key["expiresAt"] is None:
        return "valid"
    if key["expiresAt"] < datetime.now(UTC):
        return "expired"
    return f"until {shown.moment(key['expiresAt'])}"


async def _create_key(
    org: str, plan: Plan | None, role: Role, email: str, name: str, scopes: list[str] | None,
    expires_at: datetime | None,
) -> str:  # fmt: skip
    from penstock.cli.session import local_admin, transaction
    from penstock.engine import people
    from penstock.store import accounts

    async with transaction() as conn:
        row = await accounts.ensure_org(conn, org, plan)
        require_address(email)
        tell_of_plan(row, plan)
        asker = people.Asker(await local_admin(conn))
        owner = await accounts.ensure_user(conn, row["id"], email, role)
        wanted = people.NewKey(name, scopes, expires_at)
        _, key = await people.add_key(conn, asker, owner["id"], wanted)
    return key


async def _list_keys(email: str) -> list[dict[str, Any]]:
    from penstock.api.account_shapes import key_shape
    from penstock.cli.session import transaction
    from penstock.store import keys

    found: list[Any] = []
    async with transaction() as conn:
        owner = (await user_of(conn, email))["id"] if email else None
        while page := await keys.listed(
            conn, found[-1]["id"] if found else keys.NEWEST, owner, 500
        ):
            found += page
    return [key_shape(row) for row in found]


async def _revoke(key_id: int) -> None:
    from penstock.cli.session import local_admin, transaction
    from penstock.engine import people

    async with transaction() as conn:
        await people.revoke_key(conn, people.Asker(await local_admin(conn)), key_id)
