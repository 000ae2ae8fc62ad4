"""`penstock users`."""

from __future__ import annotations

import asyncio
from typing import Annotated, Any

import typer

from penstock.cli import shown
from penstock.cli.accounts import Email, Org, Role, require_address

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
    json: shown.Json = False,
) -> None:
    """Make a user of an org that exists. A password that is made is printed, once."""
    require_address(email)
    given = _read(password_file)
    password = asyncio.run(_create_user(email, org, role, given))
    made = {} if given else {"password": password}
    if json:
        shown.as_json({"email": email.lower(), "org": org, "role": role, **made})
        return
    print(f"User {email.lower()} is there, {role} of {org}.")
    _show_password(given, password)


@app.command("list")
def list_users(
    org: Annotated[str, typer.Option("--org", help="Of this org only.")] = "",
    json: shown.Json = False,
) -> None:
    """All users, or those of one org."""
    found = asyncio.run(_list_users(org or None))
    if json:
        shown.as_json(found)
        return
    head = ("ID", "E-MAIL", "ROLE", "ORG", "CREATED", "STATE")
    rows = [
        [user["id"], user["email"], user["role"], user["org"], shown.moment(user["createdAt"]),
         _state(user)]
        for user in found
    ]  # fmt: skip
    shown.columns(head, rows)


@app.command("set-role")
def set_role(
    email: Email,
    role: Annotated[Role, typer.Argument(help="What the user may do from now on.")],
    json: shown.Json = False,
) -> None:
    """Another role, from the next request on. The last admin stays one."""
    _show(asyncio.run(_change(email, role, None)), json)


@app.command("disable")
def disable(email: Email, json: shown.Json = False) -> None:
    """No access from now on: sessions end, keys are refused. What they made stays."""
    _show(asyncio.run(_change(email, None, True)), json)


@app.command("enable")
def enable(email: Email, json: shown.Json = False) -> None:
    """Access again, with the keys and the password of before."""
    _show(asyncio.run(_change(email, None, False)), json)


@app.command("reset-password")
def reset_password(
    email: Email, password_file: PasswordFile = None, json: shown.Json = False
) -> None:
    """A new password, printed once unless you give it. Whoever is signed in as them is out."""
    given = _read(password_file)
    password = asyncio.run(_reset(email, given))
    if json:
        shown.as_json({"email": email, **({} if given else {"password": password})})
        return
    if given:
        print(f"{email} has a new password.")
    _show_password(given, password)


def _read(password_file: Any) -> str | None:
    return None if password_file is None else password_file.read().rstrip("\r\n")


def _show_password(given: str | None, password: str) -> None:
    if not given:
        print(password)
        shown.note("This is the password. Keep it: it is not shown again.")


def _state(user: dict[str, Any]) -> str:
    if user["disabledAt"]:
        return "disabled"
    return "signs in" if user["passwordChangedAt"] else "keys only"


def _show(user: dict[str, Any], json: bool) -> None:
    if json:
        shown.as_json(user)
    else:
        print(f"{user['email']} is {user['role']} of {user['org']}: {_state(user)}.")


async def _create_user(email: str, org: str, role: Role, given: str | None) -> str:
    from penstock.cli.session import local_admin, transaction
    from penstock.engine import people

    password, hashed = await people.chosen_password(given, email)
    async with transaction() as conn:
        asker = people.Asker(await local_admin(conn))
        await people.add_user(conn, asker, people.NewUser(email, role, org, hashed))
    return password


async def _list_users(org: str | None) -> list[dict[str, Any]]:
    from penstock.api.account_shapes import user_shape
    from penstock.cli.session import transaction
    from penstock.store import people

    found: list[Any] = []
    async with transaction() as conn:
        while page := await people.listed(conn, found[-1]["id"] if found else 0, org, 500):
            found += page
    return [user_shape(row) for row in found]


async def _change(email: str, role: str | None, disabled: bool | None) -> dict[str, Any]:
    from penstock.api.account_shapes import user_shape
    from penstock.cli.session import local_admin, transaction
    from penstock.engine import people

    async with transaction() as conn:
        asker = people.Asker(await local_admin(conn))
        user = await user_of(conn, email)
        return user_shape(await people.change_user(conn, asker, user["id"], role, disabled))


async def _reset(email: str, given: str | None) -> str:
    from penstock.cli.session import local_admin, transaction
    from penstock.engine import people

    password, hashed = await people.chosen_password(given, email)
    async with transaction() as conn:
        asker = people.Asker(await local_admin(conn))
        user = await user_of(conn, email)
        await people.reset_password(conn, asker, user["id"], hashed)
    return password


async def user_of(conn: Any, email: str) -> Any:
    from penstock.model.errors import NotThere
    from penstock.store import accounts

    user = await accounts.find_user(conn, email)
    if user is None:
        raise NotThere("RESOURCE_NOT_FOUND", f"There is no user {email!r}.")
    return user
