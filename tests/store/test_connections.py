"""Connected shops: what is stored is sealed, and a job opens only its own org's."""

from __future__ import annotations

import pytest
from tests.fixtures import Bench

from penstock.guards.sealing import Sealer, new_key
from penstock.model.errors import NotThere, Waiting
from penstock.model.ids import new_id
from penstock.model.ports import Connections
from penstock.store.database import Database
from penstock.store.shops import connections
from penstock.store.shops.connections import NewConnection, StoredConnections

TOKEN = "shpat_canary_0123456789"


async def stored(bench: Bench, sealer: Sealer) -> NewConnection:
    who = bench.who
    one = new_id()
    new = NewConnection(
        one, who.org_id, who.user_id, "shopify", "Demo", "https://demo.myshopify.com",
        connections.credentials.seal(sealer, one, {"token": TOKEN}),
    )  # fmt: skip
    async with bench.runtime.db.transaction() as conn:
        await connections.add_connection(conn, new)
    return new


def sealing(*keys: str) -> Sealer:
    return Sealer(lambda: ",".join(keys))


async def test_a_job_opens_the_connections_of_its_own_org(bench: Bench, db: Database) -> None:
    sealer = sealing(new_key())
    new = await stored(bench, sealer)
    port: Connections = StoredConnections(db, sealer)
    opened = await port.open(new.org_id, new.id)
    assert opened.credentials == {"token": TOKEN}
    assert opened.source == "shopify:demo.myshopify.com"
    with pytest.raises(NotThere):
        await port.open(new.org_id + 1, new.id)
    with pytest.raises(NotThere):
        await port.open(new.org_id, new_id())


async def test_the_table_holds_no_secret(bench: Bench, db: Database) -> None:
    await stored(bench, sealing(new_key()))
    async with db.acquire() as conn:
        rows = await conn.fetch("SELECT to_jsonb(c)::text AS c FROM connections c")
    assert rows
    assert all(TOKEN not in row["c"] and TOKEN.encode().hex() not in row["c"] for row in rows)


async def test_credentials_are_sealed_again_with_the_newest_key(bench: Bench, db: Database) -> None:
    old, new = new_key(), new_key()
    made = await stored(bench, sealing(old))
    async with db.transaction() as conn:
        changed, last = await connections.credentials.reseal(conn, sealing(new, old), None)
        assert (changed, last) == (1, made.id)
        assert await connections.credentials.reseal(conn, sealing(new, old), None) == (0, made.id)
        assert await connections.credentials.newest_opens(conn, sealing(new))
        with pytest.raises(Waiting):
            await connections.credentials.newest_opens(conn, sealing(old))


async def test_a_deleted_connection_keeps_no_credentials(bench: Bench, db: Database) -> None:
    sealer = sealing(new_key())
    made = await stored(bench, sealer)
    async with db.transaction() as conn:
        assert await connections.delete_connection(conn, made.id)
        assert not await connections.delete_connection(conn, made.id)
        assert await conn.fetchval("SELECT credentials FROM connections") == b""
    with pytest.raises(NotThere):
        await StoredConnections(db, sealer).open(made.org_id, made.id)
