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
    """Seal every stored secret with the first key, so that older ones can be taken away."""
    changed = asyncio.run(_reseal())
    if json:
        printing.as_json({"resealed": changed})
    else:
        print(f"{changed} secrets are sealed anew.")


async def _reseal() -> int:
    from penstock.cli.local_session import local_admin, opened, quiet_logs
    from penstock.settings import Settings
    from penstock.store import webhooks
    from penstock.store.accounts import accounts
    from penstock.wiring import sealer_of

    quiet_logs()
    settings, changed, after = Settings(), 0, None
    sealer = sealer_of(settings)
    async with opened(settings) as session:
        while True:
            async with session.db.transaction() as conn:
                some, after = await webhooks.reseal(conn, sealer, after)
                changed += some
            if after is None:
                break
        async with session.db.transaction() as conn:
            who = await local_admin(conn)
            await accounts.audit(
                conn, None, who.user_id, "secrets.reseal", "secrets", after={"resealed": changed}
            )
    return changed
