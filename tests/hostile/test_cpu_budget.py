"""Requests of an org that uses too much processor time wait, while another org is active."""

from __future__ import annotations

import asyncio

import httpx2
import pytest
from fastapi import FastAPI
from tests.api.conftest import Caller

from penstock.guards.cpu_budget import Account, CpuBudget
from penstock.store.database import Database


async def _org_id(db: Database, name: str) -> int:
    async with db.acquire() as conn:
        return int(await conn.fetchval("SELECT id FROM orgs WHERE name = $1", name))


async def _overspend(budget: CpuBudget, org_id: int) -> None:
    spending = await budget.admit(Account(org_id, is_org=True))
    spending.charge(10.0)
    spending.close()


async def _become_known(client: httpx2.AsyncClient) -> None:
    """The first request of a key is charged to its network: only its answer tells the org."""
    for _ in range(2):
        assert (await client.get("/api/jobs")).status_code == 200


@pytest.fixture
def budget(app: FastAPI) -> CpuBudget:
    found: CpuBudget = app.state.cpu_budget
    return found


async def test_the_heavy_org_waits_and_is_refused_while_the_other_is_served(
    caller: Caller, budget: CpuBudget, db: Database
) -> None:
    loud, quiet = await caller("loud"), await caller("quiet")
    for client in (loud, quiet):
        await _become_known(client)
    await _overspend(budget, await _org_id(db, "loud"))
    waiting = asyncio.create_task(loud.get("/api/jobs"))
    while not budget.waiting:
        await asyncio.sleep(0)
    assert (await quiet.get("/api/jobs")).status_code == 200
    assert not waiting.done()
    waiting.cancel()
    budget.wait_s = 0.05
    refused = await loud.get("/api/jobs")
    assert refused.status_code == 429
    assert refused.json()["error"]["code"] == "RATE_LIMITED"
    assert int(refused.headers["Retry-After"]) > 0
    assert "processor time" in refused.json()["detail"]


async def test_a_heavy_org_that_is_alone_is_served(
    client: httpx2.AsyncClient, budget: CpuBudget, db: Database
) -> None:
    await _become_known(client)
    await _overspend(budget, await _org_id(db, "acme"))
    budget.wait_s = 0.05
    assert (await client.get("/api/jobs")).status_code == 200


async def test_health_never_waits(caller: Caller, budget: CpuBudget, app: FastAPI) -> None:
    await _become_known(await caller("quiet"))
    network = Account("127.0.0.0/24", is_org=False)
    spending = await budget.admit(network)
    spending.charge(10.0)
    budget.wait_s = 0.05
    transport = httpx2.ASGITransport(app)
    async with httpx2.AsyncClient(transport=transport, base_url="http://penstock") as probe:
        assert (await probe.get("/health")).status_code == 200
        assert (await probe.post("/api/session", json={})).status_code == 429
