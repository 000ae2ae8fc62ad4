"""Stored sources: sealed credentials, and the secret of the org."""

from __future__ import annotations

import pytest
from tests.fixtures import Bench

from penstock.guards.sealing import Sealer, new_key
from penstock.model.errors import NotThere, Waiting
from penstock.model.ids import new_id
from penstock.model.sources.config import SourceConfig
from penstock.store.database import Database
from penstock.store.research import secrets
from penstock.store.sources import sources
from penstock.store.sources.sources import StoredSources

CONFIG = SourceConfig(name="acme", url="https://api.example.com/x", mapping={"title": "name"})
TOKEN = "a-token-that-is-long-enough"


def sealing(*keys: str) -> Sealer:
    return Sealer(lambda: ",".join(keys))


async def test_a_job_opens_the_sources_of_its_own_org(bench: Bench, db: Database) -> None:
    sealer, source_id, who = sealing(new_key()), new_id(), bench.who
    sealed = sources.credentials.seal(sealer, source_id, {"token": TOKEN})
    async with db.transaction() as conn:
        assert await sources.add_source(conn, source_id, who.org_id, who.user_id, CONFIG, sealed)
        again = (conn, new_id(), who.org_id, who.user_id, CONFIG, sealed)
        assert not await sources.add_source(*again), "the name is taken"
    port = StoredSources(db, sealer)
    assert (await port.open(who.org_id, source_id)).credentials == {"token": TOKEN}
    assert [one.name for one in await port.enabled(who.org_id)] == ["acme"]
    assert await port.names(who.org_id) == {"acme": source_id}
    with pytest.raises(NotThere):
        await port.open(who.org_id + 1, source_id)
    async with db.transaction() as conn:
        assert await sources.delete_source(conn, source_id)
        assert await conn.fetchval("SELECT credentials FROM sources") == b""
    with pytest.raises(NotThere):
        await port.open(who.org_id, source_id)


async def test_secrets_are_sealed_again_with_the_newest_key(bench: Bench, db: Database) -> None:
    old, new, source_id, who = new_key(), new_key(), new_id(), bench.who
    sealed = sources.credentials.seal(sealing(old), source_id, {"token": TOKEN})
    async with db.transaction() as conn:
        await sources.add_source(conn, source_id, who.org_id, who.user_id, CONFIG, sealed)
        secret = await secrets.secret_of(conn, sealing(old), who.org_id)
        both = sealing(new, old)
        assert await sources.credentials.reseal(conn, both, None) == (1, source_id)
        assert await sources.credentials.reseal(conn, both, None) == (0, source_id)
        changed, last = await secrets.reseal(conn, both, None)
        assert changed == 1
        assert await secrets.reseal(conn, both, last) == (0, None)
        assert await secrets.secret_of(conn, sealing(new), who.org_id) == secret
        for newest in (sources.credentials.newest_opens, secrets.newest_opens):
            assert await newest(conn, sealing(new))
            with pytest.raises(Waiting):
                await newest(conn, sealing(old))
