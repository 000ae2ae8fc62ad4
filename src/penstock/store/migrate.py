"""Numbered, forward-only migrations under one advisory lock, and checks of the server."""

from __future__ import annotations

import hashlib
import re
from collections.abc import Sequence
from dataclasses import dataclass
from importlib import resources

import asyncpg

from penstock.model.errors import PermanentError
from penstock.store.database import Connection

OLDEST_SERVER = 150000
_FILE = re.compile(r"^(\d{4})_(\w+)\.sql$")
_API_ROLES = ("penstock_api", "penstock_admin")


@dataclass(frozen=True, slots=True)
class Migration:
    number: int
    name: str
    sql: str

    @property
    def digest(self) -> str:
        return hashlib.sha256(self.sql.encode()).hexdigest()


def migrations() -> list[Migration]:
    found = []
    for entry in resources.files("penstock.store").joinpath("migrations").iterdir():
        match = _FILE.match(entry.name)
        if match:
            found.append(Migration(int(match[1]), match[2], entry.read_text("utf-8")))
    return sorted(found, key=lambda m: m.number)


async def check_server(conn: Connection) -> None:
    """Refuse a server that may lose committed data, or is too old."""
    version = int(await conn.fetchval("SHOW server_version_num"))
    if version < OLDEST_SERVER:
        raise PermanentError(
            "DATABASE_TOO_OLD",
            f"PostgreSQL 15 or newer is needed, this is {version // 10000}.",
        )
    for setting in ("fsync", "full_page_writes", "synchronous_commit"):
        value = await conn.fetchval("SELECT current_setting($1)", setting)
        if value == "off":
            raise PermanentError(
                "DATABASE_NOT_DURABLE",
                f"PostgreSQL runs with {setting} = off and could lose accepted rows. "
                f"Set {setting} = on and start again.",
            )


async def migrate(conn: Connection, schema: str, tables: Sequence[str] = ()) -> list[str]:
    """Bring the schema up to date; answers the names of what was applied. ``tables`` is idempotent
    SQL of effects that other packages bring along."""
    await check_server(conn)
    await _make_roles(conn)
    applied: list[str] = []
    async with conn.transaction():
        await conn.execute("SET LOCAL statement_timeout = 0")
        await conn.execute(
            "SELECT pg_advisory_xact_lock(hashtextextended('penstock.migrate:' || $1, 0))", schema
        )
        await conn.execute(f'CREATE SCHEMA IF NOT EXISTS "{schema}"')
        await conn.execute(f'SET LOCAL search_path = "{schema}"')
        await conn.execute(
            "CREATE TABLE IF NOT EXISTS migrations (number integer PRIMARY KEY, name text NOT NULL,"
            " digest text NOT NULL, applied_at timestamptz NOT NULL DEFAULT now())"
        )
        known = {
            row["number"]: row for row in await conn.fetch("SELECT number, digest FROM migrations")
        }
        for migration in migrations():
            if migration.number in known:
                if known[migration.number]["digest"] != migration.digest:
                    raise PermanentError(
                        "MIGRATION_CHANGED",
                        f"Migration {migration.number:04} differs from the one this database had. "
                        "Migrations are never edited; add a new one.",
                    )
                continue
            await conn.execute(migration.sql)
            await conn.execute(
                "INSERT INTO migrations (number, name, digest) VALUES ($1, $2, $3)",
                migration.number, migration.name, migration.digest,
            )  # fmt: skip
            applied.append(f"{migration.number:04}_{migration.name}")
        for sql in tables:
            await conn.execute(sql)
        for role in _API_ROLES:
            await conn.execute(f'GRANT USAGE ON SCHEMA "{schema}" TO {role}')
    return applied


async def _make_roles(conn: Connection) -> None:
    """Create the roles. They belong to the whole cluster, so another process may create them
    too."""
    for role in _API_ROLES:
        if not await conn.fetchval("SELECT 1 FROM pg_roles WHERE rolname = $1", role):
            # Without NOINHERIT the API's role would see every org.
            await _tolerating_others(conn, f"CREATE ROLE {role} NOLOGIN NOINHERIT")
    for role, member in (
        ("penstock_api", "CURRENT_USER"),
        ("penstock_admin", "CURRENT_USER"),
        ("penstock_admin", "penstock_api"),
    ):
        named = "current_user" if member == "CURRENT_USER" else f"'{member}'"
        if not await conn.fetchval(f"SELECT pg_has_role({named}, $1, 'MEMBER')", role):
            await _tolerating_others(conn, f"GRANT {role} TO {member}")
    if await conn.fetchval("SELECT pg_has_role('penstock_api', 'penstock_admin', 'USAGE')"):
        raise PermanentError(
            "DATABASE_ROLE_TOO_STRONG",
            "penstock_api inherits penstock_admin and would see every org. As a superuser, run: "
            "ALTER ROLE penstock_api NOINHERIT; REVOKE penstock_admin FROM penstock_api;",
        )


async def _tolerating_others(conn: Connection, statement: str) -> None:
    try:
        await conn.execute(statement)
    except (asyncpg.DuplicateObjectError, asyncpg.UniqueViolationError):
        return
    except asyncpg.InternalServerError as error:
        if "tuple concurrently updated" not in str(error):
            raise
    except asyncpg.InsufficientPrivilegeError as error:
        raise PermanentError(
            "DATABASE_ROLE_MISSING",
            f"The database user may not do this itself. As a superuser, run: {statement};",
        ) from error
