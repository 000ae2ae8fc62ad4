"""The checks of `penstock doctor` in the database: they try things instead of reading catalogs."""

from __future__ import annotations

from penstock import wiring
from penstock.accounts.bootstrap import FIRST_ORG
from penstock.cli.errors import explain
from penstock.cli.local_session import owner_database
from penstock.cli.operate.finding import Check, fail, ok, warn
from penstock.model.errors import NotThere, PenstockError, PermanentError
from penstock.settings import Settings
from penstock.store import webhooks
from penstock.store.accounts import accounts
from penstock.store.database import Connection, Scope
from penstock.store.jobs import jobs
from penstock.store.migrate import check_server, migrate
from penstock.store.research import secrets as org_secrets
from penstock.store.shops import connections
from penstock.store.sources import sources
from penstock.store.watchers import watchers
from penstock.store.workers import leaders

_UNKNOWN_ORG = Scope(org_id=0)
_SILENT_SECONDS = 15


async def database_checks(settings: Settings) -> list[Check]:
    """Does not create a cluster that does not exist."""
    if settings.database_url is None and not (settings.data_dir / "pg").exists():
        return [warn("Database", "The embedded one is not made yet.", "`penstock up` makes it.")]
    try:
        async with (
            wiring.database_addresses(settings) as addresses,
            owner_database(settings, addresses.owner_dsn) as db,
            db.acquire() as conn,
        ):
            return await _look(conn, settings, addresses.api_dsn)
    except Exception as error:
        where = "pg.log in the data folder" if settings.database_url is None else "the server's log"
        return [fail("Database", explain(error)[1], f"See {where}.")]


async def _look(conn: Connection, settings: Settings, api_dsn: str) -> list[Check]:
    version = await conn.fetchval("SHOW server_version")
    whose = "PENSTOCK_DATABASE_URL" if settings.database_url else "embedded"
    found = [
        ok("Database", f"PostgreSQL {version.split()[0]} ({whose}) answers."),
        await _durability(conn),
        _owner(conn),
        await _migrations(conn, settings.database_schema),
    ]
    if any(check.status == "fail" for check in found):
        return found
    tenancy = await _tenancy(conn, settings, api_dsn)
    secrets = await _secrets(conn, settings)
    return [*found, tenancy, secrets, await _workers(conn), await _services(conn)]


async def _durability(conn: Connection) -> Check:
    try:
        await check_server(conn)
    except PermanentError as error:
        return fail("Durability", error.message)
    return ok("Durability", "fsync, full_page_writes and synchronous_commit are on.")


def _owner(conn: Connection) -> Check:
    if conn.get_settings().is_superuser == "on":
        todo = "Give Penstock a user of its own that owns its schema."
        return warn("Owner", "The database user is a superuser.", todo)
    return ok("Owner", "The database user is no superuser.")


async def _migrations(conn: Connection, schema: str) -> Check:
    """Migrate and roll back: this also finds roles with too many rights."""
    trial = conn.transaction()
    await trial.start()
    try:
        missing = await migrate(conn, schema)
    except PermanentError as error:
        return fail("Migrations", error.message)
    finally:
        await trial.rollback()
    if missing:
        return fail("Migrations", f"{', '.join(missing)} missing.", "Run `penstock migrate`.")
    return ok("Migrations", "up to date.")


async def _tenancy(conn: Connection, settings: Settings, api_dsn: str) -> Check:
    """The owner sees the first org; the API's role must not see it without a scope."""
    await accounts.find_org(conn, FIRST_ORG)
    api = await wiring.api_database(settings, api_dsn).open(patience=5)
    try:
        async with api.acquire() as unscoped, api.scoped(_UNKNOWN_ORG, readonly=True) as foreign:
            if await _sees(unscoped) or await _sees(foreign):
                todo = "As a superuser, run: ALTER ROLE penstock_api NOSUPERUSER NOBYPASSRLS;"
                return fail("Tenancy", "penstock_api sees rows of other orgs.", todo)
    finally:
        await api.close()
    return ok("Tenancy", "penstock_api sees nothing but the org it is given.")


async def _sees(conn: Connection) -> bool:
    try:
        await accounts.find_org(conn, FIRST_ORG)
    except NotThere:
        return False
    return True


async def _secrets(conn: Connection, settings: Settings) -> Check:
    try:
        sealer = wiring.sealer_of(settings)
        opened = await webhooks.newest_opens(conn, sealer)
        opened |= await connections.credentials.newest_opens(conn, sealer)
        opened |= await sources.credentials.newest_opens(conn, sealer)
        opened |= await org_secrets.newest_opens(conn, sealer)
        opened |= await watchers.credentials.newest_opens(conn, sealer)
    except PenstockError as error:
        return fail("Secrets", error.message)
    return ok("Secrets", "open with this machine's key." if opened else "none are stored.")


async def _workers(conn: Connection) -> Check:
    state = await jobs.queue_state(conn)
    if not state.workers:
        return warn("Workers", "none runs.", "`penstock up` or `penstock worker` starts some.")
    return ok("Workers", f"{state.workers} with {state.slots} slots; {state.depth} jobs.")


async def _services(conn: Connection) -> Check:
    """Recovery needs a leader; while no process runs, there is nothing to recover."""
    for leader in await leaders.list_leaders(conn):
        if leader.silent_s < _SILENT_SECONDS:
            return ok("Services", f"{leader.worker} leads since {leader.took_at:%F %T} UTC.")
    todo = "`penstock up`, `penstock worker` or `penstock api` takes over within seconds."
    return warn("Services", "no leader: expired leases are not released.", todo)
