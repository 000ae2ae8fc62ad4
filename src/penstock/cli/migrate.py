"""`penstock migrate`."""

from __future__ import annotations

import asyncio

from penstock.cli import shown


def migrate(json: shown.Json = False) -> None:
    """Bring the database's schema up to date, and make the first admin where there is none."""
    applied, key_file = asyncio.run(_migrate())
    if json:
        shown.as_json({"applied": applied, "adminKeyFile": key_file})
        return
    for name in applied:
        print(f"Applied {name}")
    if not applied:
        print("The schema is up to date.")
    if key_file is not None:
        shown.note(f"A new admin key is in {key_file}")


async def _migrate() -> tuple[list[str], str | None]:
    from penstock import wiring
    from penstock.cli.session import owner_database, quiet_logs
    from penstock.settings import Settings

    quiet_logs()
    settings = Settings()
    async with (
        wiring.database_addresses(settings) as addresses,
        # Opened first because it gives up sooner.
        owner_database(settings, addresses.owner_dsn),
    ):
        applied, new_key = await wiring.prepare(settings, addresses.owner_dsn)
    return applied, str(settings.admin_key_file) if new_key else None
