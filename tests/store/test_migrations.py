"""Migrations: repeatable, safe side by side, and equal to `schema.sql`."""

from __future__ import annotations

import asyncio
import re
import secrets
from importlib import resources

import pytest

from penstock.model.errors import PermanentError
from penstock.store import migrate as module
from penstock.store.database import Connection, Database
from penstock.store.migrate import check_server, migrate, migrations

STRUCTURE = """
SELECT 'column ' || table_name || '.' || column_name || ' ' || data_type || ' ' || is_nullable
       || ' ' || coalesce(column_default, '') || ' ' || coalesce(collation_name, '')
FROM information_schema.columns WHERE table_schema = current_schema()
UNION ALL SELECT 'index ' || indexdef FROM pg_indexes WHERE schemaname = current_schema()
UNION ALL SELECT 'constraint ' || conrelid::regclass || ' ' || pg_get_constraintdef(oid)
FROM pg_constraint WHERE connamespace = current_schema()::regnamespace
UNION ALL SELECT 'policy ' || tablename || ' ' || policyname || ' ' || roles::text || ' '
       || coalesce(qual, '') FROM pg_policies WHERE schemaname = current_schema()
UNION ALL SELECT 'grant ' || table_name || ' ' || grantee || ' ' || privilege_type
FROM information_schema.role_table_grants WHERE table_schema = current_schema()
UNION ALL SELECT 'column grant ' || attrelid::regclass || '.' || attname || ' ' || attacl::text
FROM pg_attribute JOIN pg_class c ON c.oid = attrelid
WHERE c.relnamespace = current_schema()::regnamespace AND attacl IS NOT NULL
ORDER BY 1
"""


async def structure(conn: Connection, schema: str) -> list[str]:
    rows = await conn.fetch(STRUCTURE)
    return [re.sub(rf"\b{schema}\b", "S", row[0]) for row in rows]


def test_every_migration_has_its_own_number() -> None:
    folder = resources.files("penstock.store").joinpath("migrations")
    numbers = sorted(one.name[:4] for one in folder.iterdir() if one.name.endswith(".sql"))
    assert numbers == [f"{number:04}" for number in range(1, len(numbers) + 1)]


async def test_a_second_run_changes_nothing(db: Database) -> None:
    async with db.acquire() as conn:
        before = await structure(conn, db.schema)
        assert await migrate(conn, db.schema) == []
        assert await structure(conn, db.schema) == before


async def test_many_may_migrate_at_once(owner_dsn: str) -> None:
    schema = f"t_{secrets.token_hex(6)}"
    database = await Database(owner_dsn, schema, size=5).open()

    async def once() -> list[str]:
        async with database.acquire() as conn:
            return await migrate(conn, schema)

    try:
        applied = await asyncio.gather(*(once() for _ in range(5)))
        assert sorted(len(names) for names in applied) == [0, 0, 0, 0, len(migrations())]
    finally:
        async with database.acquire() as conn:
            await conn.execute(f'DROP SCHEMA "{schema}" CASCADE')
        await database.close()


async def test_schema_sql_is_the_sum_of_the_migrations(db: Database, owner_dsn: str) -> None:
    schema = f"t_{secrets.token_hex(6)}"
    whole = resources.files("penstock.store").joinpath("schema.sql").read_text("utf-8")
    database = await Database(owner_dsn, schema).open()
    try:
        async with database.acquire() as conn:
            await conn.execute(f'CREATE SCHEMA "{schema}"')
            await conn.execute(whole)
            theirs = await structure(conn, schema)
    finally:
        async with database.acquire() as conn:
            await conn.execute(f'DROP SCHEMA "{schema}" CASCADE')
        await database.close()
    async with db.acquire() as conn:
        ours = [line for line in await structure(conn, db.schema) if "migrations" not in line]
    assert theirs == ours


async def test_an_edited_migration_is_refused(db: Database) -> None:
    async with db.acquire() as conn:
        await conn.execute("UPDATE migrations SET digest = 'another'")
        with pytest.raises(PermanentError, match="never edited"):
            await migrate(conn, db.schema)


@pytest.mark.parametrize("setting", ["synchronous_commit"])
async def test_a_server_that_could_lose_rows_is_refused(db: Database, setting: str) -> None:
    async with db.acquire() as conn, conn.transaction():
        await conn.execute(f"SET LOCAL {setting} = off")
        with pytest.raises(PermanentError, match=f"{setting} = off"):
            await check_server(conn)


async def test_an_old_server_is_refused(db: Database, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(module, "OLDEST_SERVER", 990000)
    async with db.acquire() as conn:
        with pytest.raises(PermanentError, match="15 or newer"):
            await check_server(conn)


async def test_the_owner_is_no_superuser_and_the_api_bypasses_nothing(db: Database) -> None:
    async with db.acquire() as conn:
        owner = await conn.fetchrow(
            "SELECT rolsuper, rolbypassrls FROM pg_roles WHERE rolname = current_user"
        )
        api = await conn.fetchrow(
            "SELECT rolsuper, rolbypassrls FROM pg_roles WHERE rolname = 'penstock_api'"
        )
        inherits = await conn.fetchval(
            "SELECT pg_has_role('penstock_api', 'penstock_admin', 'USAGE')"
        )
    assert tuple(owner or ()) == (False, False)
    assert tuple(api or ()) == (False, False)
    assert inherits is False
