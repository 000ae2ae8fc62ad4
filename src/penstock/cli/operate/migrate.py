"""`penstock migrate`."""

from __future__ import annotations

import asyncio
from typing import TYPE_CHECKING

from penstock.cli import printing

if TYPE_CHECKING:
    from penstock.settings import Settings
    from penstock.wiring import Prepared


def migrate(json: printing.Json = False) -> None:
    """Bring the database's schema up to date, and make the first admin where there is none."""
    from penstock.cli.operate.first_steps import how_to_sign_in
    from penstock.settings import Settings
    from penstock.supervisor.address import base_url

    settings = Settings()
    made = asyncio.run(_migrate(settings))
    key_file = str(settings.admin_key_file) if made.admin_key else None
    if json:
        admin = None
        if made.admin is not None:
            admin = {"email": made.admin.email, "password": made.admin.password}
        printing.as_json({"applied": made.applied, "adminKeyFile": key_file, "admin": admin})
        return
    for name in made.applied:
        print(f"Applied {name}")
    if not made.applied:
        print("The schema is up to date.")
    if key_file is not None:
        printing.note(f"A new admin key is in {key_file}")
    for line in how_to_sign_in(made.admin, base_url(settings.host, settings.port)):
        printing.note(line)


async def _migrate(settings: Settings) -> Prepared:
    from penstock import wiring
    from penstock.cli.local_session import owner_database, quiet_logs

    quiet_logs()
    async with (
        wiring.database_addresses(settings) as addresses,
        # Opened first because it gives up sooner.
        owner_database(settings, addresses.owner_dsn),
    ):
        return await wiring.prepare(settings, addresses.owner_dsn, shown=True)
