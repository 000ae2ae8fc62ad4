"""Plans that were made while a table was empty are forgotten once it has grown."""

from __future__ import annotations

from collections.abc import AsyncIterator

import pytest
from tests.fixtures import MakePrincipal

from penstock.settings import Settings
from penstock.store.database import Connection, Database
from penstock.store.queries import load

_sql = load("products")
_PRODUCTS = """
INSERT INTO products (id, org_id, source, source_id, data, job_id, row_no)
SELECT gen_random_uuid(), $1, 'shop', 'P' || n, '{}', gen_random_uuid(), n
FROM generate_series(1, 5000) AS n
"""


@pytest.fixture
async def engine_db(settings: Settings, db: Database, owner_dsn: str) -> AsyncIterator[Database]:
    """As workers connect; one connection."""
    made = Database(owner_dsn, settings.database_schema, size=1, plans_once=True)
    yield await made.open()
    await made.close()


async def read_by(conn: Connection, org_id: int) -> str:
    """The index by which the prepared statement reads products."""
    rows = await conn.fetch(
        f"EXPLAIN EXECUTE found({org_id}, 'shop', ARRAY['P7'], ARRAY['x'::bytea])"
    )
    (line,) = [row[0] for row in rows if "Scan using products" in row[0]]
    return str(line.split("using ")[1].split()[0])


async def test_products_are_found_by_name_after_the_table_has_grown(
    engine_db: Database, principal: MakePrincipal
) -> None:
    org_id = (await principal()).org_id
    async with engine_db.acquire() as conn:
        await conn.execute(f"PREPARE found AS {_sql.find_unchanged}")
        await read_by(conn, org_id)
        await conn.execute(_PRODUCTS, org_id)
    engine_db.note_written(5000)
    async with engine_db.acquire() as conn:
        assert await read_by(conn, org_id) == "products_org_id_source_source_id_key"
