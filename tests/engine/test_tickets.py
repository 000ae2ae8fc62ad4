"""A worker may claim exactly what a ticket names: a job, a stage, a group."""

from __future__ import annotations

from uuid import uuid4

import pytest
from tests.checker.benches import Tried
from tests.checker.scripted import Scripted

from penstock.engine.worker.loop import Worker
from penstock.model.ticket import Ticket


@pytest.fixture
def script(scripted: dict[str, Scripted]) -> Scripted:
    return scripted["scripted"]


async def test_claims_of_one_job(tried: Tried, script: Scripted) -> None:
    first = await tried.send({"rows": 1})
    second = await tried.send({"rows": 1})
    async with tried.by_hand() as worker:
        assert await worker.run_ticket(Ticket("standard", second))
        assert (await tried.job(second))["done"] == 1
        assert (await tried.job(first))["done"] == 0
        assert not await worker.run_ticket(Ticket("standard", second)), "it came twice"
    await tried.finish(first)


async def test_claims_of_one_stage_and_group(tried: Tried, script: Scripted) -> None:
    job = await tried.send({"rows": 6, "groups": 3, "stages": 2})
    async with tried.by_hand() as worker:
        assert not await worker.run_ticket(Ticket("standard", job, stage="s1"))
        assert await worker.run_ticket(Ticket("standard", job, stage="s0", group="g1"))
    assert sorted(script.began) == [(2, 0), (5, 0)]
    await tried.finish(job)
    await tried.is_clean()


async def test_claims_of_a_job_that_is_not_there(tried: Tried) -> None:
    worker = Worker(tried.runtime, sweeps=False, announces=False)
    assert not await worker.run_ticket(Ticket("standard", uuid4()))
