"""`penstock secrets`: the keys that stored secrets are sealed with."""

from __future__ import annotations

import asyncio

import typer

from penstock.cli import printing

app = typer.Typer(help="Keys that seal stored secrets.", no_args_is_help=True)


@app.command("new-key")
def new_key() -> None:
    """Print a new key for PENSTOCK_SECRET_KEY or its file."""
    from penstock.guards.sealing import new_key as made

    print(made())


@app.command("reseal")
def reseal(json: printing.Json = False) -> None:
    """Seal every stored secret with the first key, so that older keys can be removed."""
    changed = asyncio.run(_reseal())
    if json:
        printing.as_json({"resealed": changed})
    else:
        print(f"{changed} secrets are sealed with the first key.")


async def _reseal() -> int:
    from penstock.app import secrets
    from penstock.cli.local_session import local_admin, opened, quiet_logs
    from penstock.settings import Settings
    from penstock.store.accounts.audit_log import Caller
    from penstock.wiring import sealer_of

    quiet_logs()
    settings = Settings()
    async with opened(settings) as session:
        async with session.db.transaction() as conn:
            caller = Caller(await local_admin(conn))
        return await secrets.reseal(session.db.transaction, sealer_of(settings), caller)
