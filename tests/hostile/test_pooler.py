"""A pooler that shares sessions between clients: no tenant sees another's rows through it."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from pathlib import Path

import asyncpg
import pytest
from fastapi import FastAPI
from pydantic import SecretStr, ValidationError
from tests.api.conftest import PASSWORD, MakePerson, client_of, submit_noop
from tests.api.signing import try_to_sign_in
from tests.fixtures import Bench
from tests.hostile.bouncer import bouncing

from penstock import wiring
from penstock.api.app import create_app
from penstock.engine.runtime import Runtime
from penstock.model.errors import PermanentError
from penstock.settings import Settings
from penstock.store.accounts import accounts
from penstock.store.database import Database, Scope

TENANTS = 4
SIZES = pytest.mark.parametrize("size", [1, 2])


@pytest.fixture
def size() -> int:
    return 2


@pytest.fixture
async def pooler(tmp_path: Path, api_dsn: str, size: int) -> AsyncIterator[str]:
    async with bouncing(tmp_path / "bouncer", api_dsn, size=size) as address:
        yield address


def database(dsn: str, settings: Settings, *, pooled: bool, size: int = 20) -> Database:
    return Database(dsn, settings.database_schema, role="penstock_api", size=size, pooled=pooled)


async def orgs_of(db: Database, count: int) -> list[int]:
    async with db.acquire() as conn:
        return [(await accounts.ensure_org(conn, f"tenant{n}")).id for n in range(count)]


async def foreign_rows(db: Database, org_ids: list[int], rounds: int) -> tuple[int, int]:
    """How many rows of others were seen, of how many reads: tenants read and write side by side."""
    foreign = reads = 0

    async def tenant(org_id: int) -> None:
        nonlocal foreign, reads
        for turn in range(rounds):
            async with db.scoped(Scope(org_id), readonly=turn % 3 != 0) as conn:
                for _ in range(2):
                    seen = [row[0] for row in await conn.fetch("SELECT id FROM orgs")]
                    foreign += seen != [org_id]
                    reads += 1

    await asyncio.gather(*(tenant(org_id) for org_id in org_ids for _ in range(3)))
    return foreign, reads


@SIZES
async def test_tenants_side_by_side_see_only_their_own(
    db: Database, pooler: str, settings: Settings
) -> None:
    org_ids = await orgs_of(db, TENANTS)
    pooled = await database(pooler, settings, pooled=True).open()
    try:
        foreign, reads = await foreign_rows(pooled, org_ids, rounds=40)
    finally:
        await pooled.close()
    print(f"{reads:,} reads of {TENANTS} tenants through the pooler, {foreign} with foreign rows")
    assert (foreign, reads) == (0, TENANTS * 3 * 40 * 2)


async def test_what_keeps_its_scope_in_a_session_would_show_foreign_rows(
    db: Database, tmp_path: Path, api_dsn: str, settings: Settings
) -> None:
    """What the refusal at the start is for. Schema and role are the pooler's here, so that the
    statements work at all."""
    org_ids = await orgs_of(db, TENANTS)
    async with bouncing(tmp_path / "b", api_dsn, size=2) as address:
        sessions = [await asyncpg.connect(address, statement_cache_size=0) for _ in org_ids]
        wrong = 0
        for _ in range(10):
            for session, org_id in zip(sessions, org_ids, strict=True):
                await session.execute(f"SELECT set_config('penstock.org', '{org_id}', false)")
            for session, org_id in zip(sessions, org_ids, strict=True):
                async with session.transaction():
                    seen = await session.fetchval("SELECT current_setting('penstock.org')")
                wrong += seen != str(org_id)
        for session in sessions:
            session.terminate()
    assert wrong > 0


async def test_without_a_scope_nothing_is_seen(
    db: Database, pooler: str, settings: Settings
) -> None:
    [org_id, _] = await orgs_of(db, 2)
    pooled = await database(pooler, settings, pooled=True).open()
    try:
        async with pooled.scoped(Scope(org_id, admin=True)) as conn:
            assert await conn.fetchval("SELECT count(*) FROM orgs") >= 2
        async with pooled.acquire() as conn:
            assert await conn.fetchval("SELECT count(*) FROM orgs") == 0
            assert await conn.fetchval("SELECT current_user") == "penstock_api"
        async with pooled.scoped(Scope(org_id), readonly=True) as conn:
            with pytest.raises(asyncpg.ReadOnlySQLTransactionError):
                await conn.execute("DELETE FROM profiles")
            assert await conn.fetchval("SELECT count(*) FROM orgs") == 1
            assert await conn.fetchval("SHOW statement_timeout") == "10s"
        with pytest.raises(RuntimeError, match="session"):
            await pooled.connect()
    finally:
        await pooled.close()


@SIZES
async def test_a_cancelled_read_leaves_no_open_transaction(
    db: Database, pooler: str, settings: Settings
) -> None:
    [org_id] = await orgs_of(db, 1)
    pooled = await database(pooler, settings, pooled=True, size=3).open()

    async def sleeping() -> None:
        async with pooled.scoped(Scope(org_id), readonly=True) as conn:
            await conn.fetchval("SELECT pg_sleep(30)")

    try:
        for _ in range(4):
            with pytest.raises(TimeoutError):
                await asyncio.wait_for(sleeping(), 0.3)
        async with pooled.scoped(Scope(org_id), readonly=True) as conn:
            assert await conn.fetchval("SELECT count(*) FROM orgs") == 1
    finally:
        await pooled.close()


@pytest.mark.parametrize("drops_settings", [True, False])
@pytest.mark.parametrize("mode", ["transaction", "statement"])
@SIZES
async def test_such_a_pooler_is_refused_where_it_is_not_named(
    tmp_path: Path, api_dsn: str, settings: Settings, mode: str, size: int, drops_settings: bool
) -> None:
    async with bouncing(
        tmp_path / "b", api_dsn, mode=mode, size=size, drops_settings=drops_settings
    ) as address:
        unnamed = settings.model_copy(update={"database_url": SecretStr(address)})
        with pytest.raises(PermanentError, match="PENSTOCK_DATABASE_POOLER") as error:
            async with wiring.database_addresses(unnamed):
                pass
        assert error.value.code == "DATABASE_POOLER"
        direct = {"database_direct_url": SecretStr(address), "database_pooler": "transaction"}
        with pytest.raises(PermanentError, match="PENSTOCK_DATABASE_DIRECT_URL"):
            async with wiring.database_addresses(unnamed.model_copy(update=direct)):
                pass


async def test_postgresql_itself_is_taken(settings: Settings, api_dsn: str) -> None:
    plain = settings.model_copy(update={"database_url": SecretStr(api_dsn)})
    for _ in range(3):
        async with wiring.database_addresses(plain) as addresses:
            assert addresses == wiring.Addresses(api_dsn, api_dsn)


async def test_two_addresses_must_lead_to_one_database(
    settings: Settings, pooler: str, owner_dsn: str
) -> None:
    pooled = {"database_url": SecretStr(pooler), "database_pooler": "transaction"}
    here = {**pooled, "database_direct_url": SecretStr(owner_dsn)}
    async with wiring.database_addresses(settings.model_copy(update=here)) as addresses:
        assert (addresses.owner_dsn, addresses.api_dsn) == (owner_dsn, pooler)
    elsewhere = owner_dsn.replace("/penstock?", "/postgres?")
    assert elsewhere != owner_dsn
    there = {**pooled, "database_direct_url": SecretStr(elsewhere)}
    with pytest.raises(PermanentError, match="different databases"):
        async with wiring.database_addresses(settings.model_copy(update=there)):
            pass


def test_the_direct_address_is_needed() -> None:
    url = "postgresql://pooler/penstock"
    for wrong in (
        {"database_pooler": "transaction"},
        {"database_pooler": "transaction", "database_url": url},
        {"database_url": url, "database_direct_url": url},
    ):
        with pytest.raises(ValidationError, match="PENSTOCK_DATABASE_DIRECT_URL"):
            Settings.model_validate(wrong)


@pytest.fixture
async def pooled_app(runtime: Runtime, pooler: str, settings: Settings) -> AsyncIterator[FastAPI]:
    pooled = settings.model_copy(update={"database_pooler": "transaction"})
    api_db = await wiring.api_database(pooled, pooler).open()
    yield create_app(runtime, api_db)
    await api_db.close()


async def test_the_api_works_through_the_pooler(
    pooled_app: FastAPI, bench: Bench, db: Database, person: MakePerson
) -> None:
    """Signing in, jobs, lists and exports of two orgs at once; each sees its own."""
    keys = {}
    for org in ("north", "south"):
        async with db.acquire() as conn:
            row = await accounts.ensure_org(conn, org)
            user = await accounts.ensure_user(conn, row.id, f"m@{org}", "member")
            keys[org] = await accounts.create_key(conn, row.id, user.id)
    made: dict[str, set[str]] = {}

    async def use(org: str) -> None:
        async with client_of(pooled_app, keys[org]) as client:
            made[org] = {await submit_noop(client, items=2) for _ in range(5)}
            for _ in range(10):
                listed = (await client.get("/api/jobs")).json()["items"]
                assert {one["id"] for one in listed} == made[org]

    await asyncio.gather(*map(use, keys))
    await bench.work()
    async with client_of(pooled_app, keys["north"]) as client:
        for job in made["north"]:
            answer = await client.post(f"/api/jobs/{job}/export", params={"format": "csv"})
            assert answer.status_code == 200, answer.text
        for job in made["south"]:
            assert (await client.get(f"/api/jobs/{job}")).status_code == 404
    await person()
    async with client_of(pooled_app, None) as browser:
        assert (await try_to_sign_in(browser, password=PASSWORD)).status_code == 200
        assert (await browser.get("/api/session")).status_code == 200
