"""Looking at the server: the few statements that only commands need, all of them reads."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import asyncpg

from penstock.store.database import Connection
from penstock.store.migrate import migrations


async def pending_migrations(conn: Connection) -> list[str]:
    """Names of what this version has and the database lacks."""
    try:
        rows = await conn.fetch("SELECT number FROM migrations")
    except asyncpg.UndefinedTableError:
        rows = []
    known = {row["number"] for row in rows}
    return [f"{m.number:04}_{m.name}" for m in migrations() if m.number not in known]


async def orgs(conn: Connection) -> list[Any]:
    return await conn.fetch("SELECT name, plan, shared_jobs, created_at FROM orgs ORDER BY name")


@dataclass(frozen=True, slots=True)
class Tenancy:
    """What keeps orgs apart."""

    owner: str
    owner_is_superuser: bool
    api_bypasses: bool
    open_tables: list[str]
    api_sees_orgs: bool


async def tenancy(conn: Connection, schema: str) -> Tenancy:
    owner = await conn.fetchrow(
        "SELECT rolname, rolsuper FROM pg_roles WHERE rolname = current_user"
    )
    assert owner is not None
    bypasses = await conn.fetchval(
        "SELECT bool_or(rolsuper OR rolbypassrls) OR pg_has_role('penstock_api', 'penstock_admin', "
        "'USAGE') FROM pg_roles WHERE rolname = 'penstock_api'"
    )
    unguarded = await conn.fetch(
        "SELECT c.relname FROM pg_class c JOIN pg_namespace n ON n.oid = c.relnamespace "
        "JOIN pg_attribute a ON a.attrelid = c.oid AND a.attname = 'org_id' "
        "WHERE n.nspname = $1 AND c.relkind IN ('r', 'p') AND NOT c.relrowsecurity "
        "ORDER BY c.relname",
        schema,
    )
    async with conn.transaction():
        await conn.execute("SET LOCAL ROLE penstock_api")
        sees = await conn.fetchval("SELECT EXISTS (SELECT 1 FROM orgs)")
    return Tenancy(
        owner["rolname"], owner["rolsuper"], bool(bypasses), [row["relname"] for row in unguarded],
        bool(sees),
    )  # fmt: skip
