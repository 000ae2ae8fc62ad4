"""Schemas for tests. Creating one takes about 200 ms and dropping it 100 ms, so a schema of which a
test has changed only rows is emptied and given to the next test. Schemas that keep a history of all
changes are pooled apart from the plain ones."""

from __future__ import annotations

import secrets
from collections import defaultdict
from dataclasses import dataclass, field

import asyncpg

from penstock.store.database import Connection
from penstock.store.migrate import migrate
from tests.checker.history import install_history

# Dead rows of earlier tests slow down later ones. A schema that is used for ever would hide what
# tests depend on.
_MOST_USES = 40
# Any change of a table, column, index, constraint, policy or function gives its row here a new
# xmin. Statistics of ANALYZE change plans, so they count as well, except those of the history,
# which is analysed again before each check.
_FINGERPRINT = """
SELECT md5(string_agg(line, ',' ORDER BY line)) FROM (
    SELECT 'c' || oid || xmin AS line FROM pg_class WHERE relnamespace = $1
    UNION ALL SELECT 'p' || oid || xmin FROM pg_proc WHERE pronamespace = $1
    UNION ALL SELECT 'k' || oid || xmin FROM pg_constraint WHERE connamespace = $1
    UNION ALL SELECT 'a' || attrelid || '.' || attnum || a.xmin FROM pg_attribute a
        JOIN pg_class c ON c.oid = attrelid WHERE relnamespace = $1
    UNION ALL SELECT 't' || t.oid || t.xmin FROM pg_trigger t
        JOIN pg_class c ON c.oid = tgrelid WHERE relnamespace = $1
    UNION ALL SELECT 'r' || p.oid || p.xmin FROM pg_policy p
        JOIN pg_class c ON c.oid = polrelid WHERE relnamespace = $1
    UNION ALL SELECT 's' || tablename FROM pg_stats
        WHERE schemaname = (SELECT nspname FROM pg_namespace WHERE oid = $1)
        AND tablename NOT LIKE 'history%'
) AS lines
"""
# Tables before those that they refer to, so that foreign keys allow all rows to be deleted. The
# history is last, since it records deleted rows.
_TABLES = """
WITH RECURSIVE depths AS (
    SELECT oid, 0 AS depth FROM pg_class WHERE relnamespace = $1 AND relkind = 'r'
    UNION
    SELECT confrelid, depth + 1 FROM depths
    JOIN pg_constraint ON conrelid = depths.oid AND contype = 'f' AND confrelid <> conrelid
    WHERE depth < 10
)
SELECT relname FROM depths JOIN pg_class USING (oid) GROUP BY relname
ORDER BY relname LIKE 'history%', max(depth), relname
"""
_SEQUENCES = "SELECT relname FROM pg_class WHERE relnamespace = $1 AND relkind = 'S'"


@dataclass
class Schema:
    name: str
    # Some tests have a server of their own.
    server: str
    has_history: bool = False
    oid: int = 0
    fingerprint: str = ""
    # What migrations put into tables; all other tables are empty at first.
    first_rows: dict[str, list[object]] = field(default_factory=dict)
    uses: int = 0


_free: defaultdict[tuple[str, bool], list[Schema]] = defaultdict(list)


def borrow(server: str, *, has_history: bool = False) -> Schema:
    """An empty schema from the pool, or a new name."""
    free = _free[server, has_history]
    return free.pop() if free else Schema(f"t_{secrets.token_hex(6)}", server, has_history)


async def ensure_created(conn: Connection, schema: Schema) -> None:
    """Migrate a new schema, when a test begins to use it."""
    if not schema.oid:
        await migrate(conn, schema.name)
        if schema.has_history:
            await install_history(conn)
        schema.oid = await conn.fetchval(
            "SELECT oid FROM pg_namespace WHERE nspname = $1", schema.name
        )
        schema.fingerprint = await conn.fetchval(_FINGERPRINT, schema.oid)
        for row in await conn.fetch(_TABLES, schema.oid):
            table = f'"{schema.name}"."{row["relname"]}"'
            rows = [one[0] for one in await conn.fetch(f"SELECT to_jsonb(t) FROM {table} t")]
            if rows:
                schema.first_rows[row["relname"]] = rows
    schema.uses += 1


async def _drop(conn: Connection, name: str) -> None:
    """Autovacuum may hold a table of the schema while it waits for another one."""
    for tries_left in (4, 3, 2, 1, 0):
        try:
            await conn.execute(f'DROP SCHEMA "{name}" CASCADE')
            return
        except asyncpg.DeadlockDetectedError:
            if not tries_left:
                raise


async def give_back(conn: Connection, schema: Schema) -> None:
    """Return the schema to the pool if only its rows were changed; otherwise drop it."""
    same = await conn.fetchval(_FINGERPRINT, schema.oid) == schema.fingerprint
    if not same or schema.uses >= _MOST_USES:
        await _drop(conn, schema.name)
        return
    async with conn.transaction():
        await conn.execute("SET LOCAL statement_timeout = 0")
        tables = [row["relname"] for row in await conn.fetch(_TABLES, schema.oid)]
        await conn.execute(";".join(f'DELETE FROM "{schema.name}"."{table}"' for table in tables))
        for name, first in schema.first_rows.items():
            table = f'"{schema.name}"."{name}"'
            if first:
                await conn.executemany(
                    f"INSERT INTO {table} OVERRIDING SYSTEM VALUE "
                    f"SELECT (jsonb_populate_record(NULL::{table}, $1)).*",
                    [(one,) for one in first],
                )
        for row in await conn.fetch(_SEQUENCES, schema.oid):
            await conn.execute(
                "SELECT setval(format('%I.%I', $1::text, $2::text)::regclass, 1, false)",
                schema.name, row["relname"],
            )  # fmt: skip
    _free[schema.server, schema.has_history].append(schema)
