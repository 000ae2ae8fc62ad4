"""A process that freezes in the middle of a transaction does not hold up the others for long."""

from __future__ import annotations

import asyncio
import time
from collections.abc import Iterator

import psycopg
import pytest
from psycopg.pq.abc import PGconn
from tests.checker.benches import Tried
from tests.checker.scenarios import claim

from penstock.engine.services.sweep import Sweeper

pytestmark = pytest.mark.slow

_LOCK = "SELECT pg_advisory_xact_lock(hashtextextended('penstock.claims:' || current_schema(), 0))"


@pytest.fixture
def frozen(owner_dsn: str, tried: Tried) -> Iterator[PGconn]:
    """A connection as the engine makes it, in a transaction that holds the claim lock."""
    conn = psycopg.Connection.connect(owner_dsn, autocommit=True)
    limits = {**tried.runtime.db._settings(), "idle_in_transaction_session_timeout": "700ms"}
    for name, value in limits.items():
        conn.execute("SELECT set_config(%s, %s, false)", (name, value))
    conn.pgconn.exec_(b"BEGIN")
    conn.pgconn.exec_(_LOCK.encode())
    yield conn.pgconn
    conn.close()


async def _claims_within(tried: Tried, seconds: float) -> None:
    began = time.monotonic()
    async with tried.by_hand() as worker:
        await asyncio.wait_for(claim(worker), seconds)
    assert time.monotonic() - began > 0.1, "nobody was in the way"


async def test_frozen_between_two_statements(tried: Tried, frozen: PGconn) -> None:
    await tried.send({"rows": 1})
    await _claims_within(tried, 5)


async def test_frozen_between_the_messages_of_one_statement(tried: Tried, frozen: PGconn) -> None:
    """Parsed but not executed, as asyncpg does it: the server calls that active, not idle."""
    await tried.send({"rows": 1})
    frozen.enter_pipeline_mode()
    frozen.send_prepare(b"", b"SELECT 1")
    frozen.send_flush_request()
    frozen.flush()
    sweeper = Sweeper(tried.runtime)

    async def sweep() -> None:
        while True:
            await sweeper.run_once()
            await asyncio.sleep(0.05)

    sweeping = asyncio.create_task(sweep())
    await _claims_within(tried, 8)
    sweeping.cancel()
