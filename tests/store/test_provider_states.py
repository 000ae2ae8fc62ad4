"""The state of a provider's limits, written without a lock by the process that wrote it last."""

from __future__ import annotations

import asyncio
import random
from collections.abc import AsyncIterator
from contextlib import AsyncExitStack
from dataclasses import dataclass, field
from typing import Any

import pytest
from tests.fixtures import MakePrincipal

from penstock.model.network.circuits import CircuitRules
from penstock.model.network.provider_limits import CallReport, LimitKey, ProviderLimits
from penstock.model.network.token_bucket import Rate
from penstock.settings import Settings
from penstock.store.database import Database
from penstock.store.providers.states import StoredLimits, reset

# So slow that nothing is refilled while a test runs.
SLOW = Rate(1e-6, 1000)


@dataclass
class Process:
    """Limits as one worker process has them, and the statements that it sent."""

    limits: StoredLimits
    statements: list[str] = field(default_factory=list)


@pytest.fixture
async def processes(
    settings: Settings, db: Database, owner_dsn: str
) -> AsyncIterator[list[Process]]:
    async with AsyncExitStack() as stack:
        made = []
        for _ in range(3):
            statements: list[str] = []

            def note(told: Any, statements: list[str] = statements) -> None:
                statements.append(told.query)

            pool = await Database(
                owner_dsn, settings.database_schema, size=2, on_statement=note
            ).open()
            stack.push_async_callback(pool.close)
            limits = StoredLimits(pool, ProviderLimits(default=SLOW, circuit=CircuitRules(5)))
            made.append(Process(limits, statements))
        yield made


@pytest.fixture
async def key(principal: MakePrincipal) -> LimitKey:
    return LimitKey((await principal()).org_id, "shop", "", "eu.example")


async def _stored(db: Database, what: str) -> Any:
    async with db.acquire() as conn:
        return await conn.fetchval(f"SELECT {what} FROM provider_states")


async def test_the_process_that_wrote_last_needs_one_statement(
    processes: list[Process], key: LimitKey, db: Database
) -> None:
    alone = processes[0]
    assert (await alone.limits.admit(key, 1, 0)).tokens == 1
    alone.statements.clear()
    assert (await alone.limits.admit(key, 2, 0)).tokens == 2
    report = CallReport(succeeded=3)
    report.add_duration(20)
    await alone.limits.report(key, report)
    assert len([one for one in alone.statements if "provider_states" in one]) == 2
    assert not any("FOR NO KEY UPDATE" in one for one in alone.statements)
    assert await _stored(db, "tokens") == pytest.approx(SLOW.capacity - 3, abs=0.01)
    async with db.acquire() as conn:
        assert await conn.fetchval("SELECT sum(calls) FROM provider_calls") == 3


async def test_no_process_decides_on_an_old_state(
    processes: list[Process], key: LimitKey, db: Database
) -> None:
    """Each takes what it is granted; together never more than there is."""
    chance = random.Random(1)
    granted = 0.0
    for _ in range(60):
        some = chance.choices(processes, k=chance.randint(1, 4))
        permits = await asyncio.gather(
            *(one.limits.admit(key, chance.randint(1, 5), 0) for one in some)
        )
        granted += sum(one.tokens for one in permits)
        assert await _stored(db, "tokens") == pytest.approx(SLOW.capacity - granted, abs=0.01)
    assert granted > 200


async def test_a_reset_is_seen_by_the_process_that_wrote_last(
    processes: list[Process], key: LimitKey, db: Database
) -> None:
    limits = processes[0].limits
    for _ in range(3):
        await limits.admit(key, 1, 0)
    await limits.report(key, CallReport(failed=5))
    assert (await limits.admit(key, 1, 0)).code == "CIRCUIT_OPEN"
    assert (await limits.admit(key, 1, 0)).tokens == 0
    async with db.acquire() as conn:
        assert await reset(conn, "shop") == 1
    assert (await limits.admit(key, 1, 0)).tokens == 1


async def test_a_circuit_that_opens_is_told_once(
    processes: list[Process], key: LimitKey, db: Database
) -> None:
    for one in processes[:2]:
        await one.limits.admit(key, 1, 0)
        await one.limits.admit(key, 1, 0)
    await asyncio.gather(*(one.limits.report(key, CallReport(failed=3)) for one in processes[:2]))
    async with db.acquire() as conn:
        told = await conn.fetchval(
            "SELECT count(*) FROM events WHERE event = 'provider.circuit_opened'"
        )
    assert told == 1
    assert await _stored(db, "circuit") == "open"
