"""The database as a command on this machine uses it: as the local admin."""

from __future__ import annotations

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import dataclass
from typing import Any

from penstock import wiring
from penstock.accounts.bootstrap import FIRST_ADMIN, FIRST_ORG, local_user
from penstock.engine.runtime import Runtime
from penstock.logs import configure_logging
from penstock.settings import Settings
from penstock.store.accounts import accounts
from penstock.store.accounts.accounts import Principal
from penstock.store.database import Connection, Database

# A person waits at the terminal: report soon that a server does not answer.
_PATIENCE_S = 5.0


@dataclass(frozen=True)
class Session:
    settings: Settings
    addresses: wiring.Addresses
    db: Database


def quiet_logs() -> None:
    """Log errors only, since the command runs its own engine."""
    configure_logging("error")


@asynccontextmanager
async def opened(settings: Settings) -> AsyncIterator[Session]:
    """The embedded database is migrated at once; another server only by `penstock migrate`."""
    async with (
        wiring.database_addresses(settings) as addresses,
        owner_database(settings, addresses.owner_dsn) as db,
    ):
        if settings.database_url is None:
            await wiring.prepare(settings, addresses.owner_dsn)
        yield Session(settings, addresses, db)


@asynccontextmanager
async def owner_database(settings: Settings, owner_dsn: str) -> AsyncIterator[Database]:
    db = Database(owner_dsn, settings.database_schema, name="penstock cli", size=2)
    await db.open(patience=_PATIENCE_S)
    try:
        yield db
    finally:
        await db.close()


@asynccontextmanager
async def opened_engine(settings: Settings, name: str, **options: Any) -> AsyncIterator[Runtime]:
    async with (
        opened(settings) as session,
        wiring.open_runtime(settings, session.addresses.owner_dsn, name=name, **options) as runtime,
    ):
        yield runtime


@asynccontextmanager
async def transaction() -> AsyncIterator[Connection]:
    """A transaction for a command that needs only one."""
    quiet_logs()
    async with opened(Settings()) as session, session.db.transaction() as conn:
        yield conn


async def local_admin(conn: Connection) -> Principal:
    """The principal of commands on this machine: a user who can read the data folder is an
    admin."""
    org = await accounts.ensure_org(conn, FIRST_ORG)
    user = await local_user(conn, org.id)
    return Principal(user.id, org.id, FIRST_ADMIN, "admin", FIRST_ORG, org.plan)
