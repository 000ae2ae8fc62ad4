"""`penstock users`."""

from __future__ import annotations

import asyncio
from typing import TYPE_CHECKING, Annotated, Any

import typer

from penstock.cli import printing
from penstock.cli.accounts.orgs import Email, Org, Role, require_address
from penstock.model.text.emails import fold_email

if TYPE_CHECKING:
    from penstock.cli.connection import Penstock

app = typer.Typer(help="People and programs of an org.", no_args_is_help=True)
PasswordFile = Annotated[
    typer.FileText | None,
    typer.Option(
        "--password-file", help="Read the password from here (`-`: stdin); else one is made."
    ),
]


@app.command("create")
def create_user(
    email: Email,
    org: Org,
    role: Annotated[Role, typer.Option(help="What the user may do.")] = Role.MEMBER,
    password_file: PasswordFile = None,
    json: printing.Json = False,
) -> None:
    """Create a user of an existing org. A generated password is printed once."""
    require_address(email)
    password = asyncio.run(_create_user(email, org, role, _read(password_file)))
    made = {"password": password} if password else {}
    if json:
        printing.as_json({"email": fold_email(email), "org": org, "role": role, **made})
        return
    print(f"User {fold_email(email)} is there, {role} of {org}.")
    _show_password(password)


@app.command("list")
def list_users(
    org: Annotated[str, typer.Option("--org", help="Of this org only.")] = "",
    json: printing.Json = False,
) -> None:
    """List all users, or those of one org."""
    found = asyncio.run(_list_users(org or None))
    if json:
        printing.as_json(found)
        return
    head = ("ID", "E-MAIL", "ROLE", "ORG", "CREATED", "STATE")
    rows = [
        [user["id"], user["email"], user["role"], user["org"], printing.moment(user["createdAt"]),
         _state(user)]
        for user in found
    ]  # fmt: skip
    printing.columns(head, rows)


@app.command("set-role")
def set_role(
    email: Email,
    role: Annotated[Role, typer.Argument(help="What the user may do from now on.")],
    json: printing.Json = False,
) -> None:
    """Change the role of a user, from the next request on. The last admin keeps its role."""
    _show(asyncio.run(_change(email, {"role": role})), json)


@app.command("disable")
def disable(email: Email, json: printing.Json = False) -> None:
    """Disable a user: sessions end and keys are refused. Jobs of the user stay."""
    _show(asyncio.run(_change(email, {"disabled": True})), json)


@app.command("enable")
def enable(email: Email, json: printing.Json = False) -> None:
    """Enable a user again, with the same keys and password."""
    _show(asyncio.run(_change(email, {"disabled": False})), json)


@app.command("reset-password")
def reset_password(
    email: Email, password_file: PasswordFile = None, json: printing.Json = False
) -> None:
    """Set a new password, printed once unless you give it. Ends all sessions of the user."""
    password = asyncio.run(_reset(email, _read(password_file)))
    if json:
        printing.as_json({"email": email, **({"password": password} if password else {})})
        return
    if not password:
        print(f"{email} has a new password.")
    _show_password(password)


def _read(password_file: Any) -> str | None:
    return None if password_file is None else password_file.read().rstrip("\r\n")


def _show_password(password: str | None) -> None:
    if password:
        print(password)
        printing.note("This is the password. Keep it: it is not shown again.")


def _state(user: dict[str, Any]) -> str:
    if user["disabledAt"]:
        return "disabled"
    return "signs in" if user["passwordChangedAt"] else "keys only"


def _show(user: dict[str, Any], json: bool) -> None:
    if json:
        printing.as_json(user)
    else:
        print(f"{user['email']} is {user['role']} of {user['org']}: {_state(user)}.")


async def _create_user(email: str, org: str, role: Role, given: str | None) -> str | None:
    from penstock.cli.connection import connected

    order = {"email": email, "org": org, "role": role, **({"password": given} if given else {})}
    async with connected() as penstock:
        made = await penstock.post("/api/users", order)
    password: str | None = made["password"]
    return password


async def _list_users(org: str | None) -> list[dict[str, Any]]:
    from penstock.cli.connection import connected

    async with connected() as penstock:
        return [user async for user in penstock.client.listed("/api/users", org=org)]


async def _change(email: str, change: dict[str, Any]) -> dict[str, Any]:
    from penstock.cli.connection import connected

    async with connected() as penstock:
        user = await user_of(penstock, email)
        changed: dict[str, Any] = await penstock.client.call(
            "PATCH", f"/api/users/{user['id']}", body=change
        )
        return changed


async def _reset(email: str, given: str | None) -> str | None:
    from penstock.cli.connection import connected

    async with connected() as penstock:
        user = await user_of(penstock, email)
        made = await penstock.post(
            f"/api/users/{user['id']}/password", {"password": given} if given else {}
        )
    password: str | None = made["password"]
    return password


async def user_of(penstock: Penstock, email: str) -> dict[str, Any]:
    from penstock.cli.errors import NOT_FOUND, CliError

    found = await find_user(penstock, email)
    if found is None:
        raise CliError(NOT_FOUND, f"There is no user {email!r}.")
    return found


async def find_user(penstock: Penstock, email: str) -> dict[str, Any] | None:
    found = await penstock.first("/api/users", 1, email=email)
    return found[0] if found else None
