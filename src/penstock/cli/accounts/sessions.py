"""`penstock sessions`."""

from __future__ import annotations

import asyncio
from typing import Annotated, Any
from uuid import UUID

import typer

from penstock.cli import printing
from penstock.cli.accounts.users import user_of

app = typer.Typer(help="Who is signed in, in which browser.", no_args_is_help=True)


@app.command("list")
def list_sessions(
    user: Annotated[str, typer.Option(help="E-mail of one user; else all.")] = "",
    json: printing.Json = False,
) -> None:
    """List open sessions, newest first."""
    found = asyncio.run(_list_sessions(user))
    if json:
        printing.as_json(found)
        return
    head = ("ID", "USER", "FROM", "SIGNED IN", "LAST SEEN", "WITH")
    rows = [
        [one["id"], one["email"], one["ip"] or "", printing.moment(one["createdAt"]),
         printing.moment(one["seenAt"]), one["agent"][:60]]
        for one in found
    ]  # fmt: skip
    printing.columns(head, rows)


@app.command("end")
def end_session(
    session_id: Annotated[UUID, typer.Argument(help="The session's id, from `sessions list`.")],
    json: printing.Json = False,
) -> None:
    """End a session: its browser is signed out at once."""
    asyncio.run(_end_session(session_id))
    if json:
        printing.as_json({"id": session_id, "ended": True})
    else:
        print(f"Session {session_id} has ended.")


async def _list_sessions(email: str) -> list[dict[str, Any]]:
    from penstock.cli.connection import connected

    async with connected() as penstock:
        owner = (await user_of(penstock, email))["id"] if email else "all"
        return [one async for one in penstock.client.listed("/api/sessions", user_id=owner)]


async def _end_session(session_id: UUID) -> None:
    from penstock.cli.connection import connected

    async with connected() as penstock:
        await penstock.client.call("DELETE", f"/api/sessions/{session_id}")
