"""F3: many that reach for the same item at once, and a sweeper that acts on what it saw before."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Awaitable
from dataclasses import replace
from typing import Any

import pytest
from tests.chaos.chaos_bench import ChaosBench
from tests.chaos.worker_pool import WorkerPool
from tests.checker.polling import until

from penstock.engine.claim import Claim
from penstock.engine.context import StopSign
from penstock.engine.run import run_items
from penstock.engine.runtime import Runtime
from penstock.engine.services.sweep import Sweeper
from penstock.engine.settle import release, settle
from penstock.engine.worker.loop import Worker
from penstock.settings import Settings
from penstock.store.database import Database

CLAIMERS = 50
SWEEPERS = 4


@pytest.fixture
async def crowd(
    runtime: Runtime, settings: Settings, owner_dsn: str
) -> AsyncIterator[list[Worker]]:
    """Workers that do only what they are told, each with a connection of its own."""
    db = await Database(owner_dsn, settings.database_schema, name="crowd", size=CLAIMERS).open()
    theirs = replace(runtime, db=db)
    yield [Worker(theirs, sweeps=False, announces=False) for _ in range(CLAIMERS)]
    await db.close()


async def _at_once(*tries: Awaitable[Any]) -> list[Any]:
    """All of them wait at one barrier, so that they start together."""
    barrier = asyncio.Barrier(len(tries))

    async def one(attempt: Awaitable[Any]) -> Any:
        await barrier.wait()
        return await attempt

    return await asyncio.gather(*(one(attempt) for attempt in tries))


async def _claimed(workers: list[Worker]) -> tuple[Worker, Claim]:
    """The one that got it; a second one would be the end of all order."""
    found = await _at_once(*(worker._claim() for worker in workers))
    (winner,) = [(w, c) for w, c in zip(workers, found, strict=True) if c is not None]
    return winner


def _long(rounds: int) -> Any:
    return pytest.param(rounds, marks=[pytest.mark.long, pytest.mark.timeout(3000)])


@pytest.mark.parametrize("rounds", [25, _long(10_000)])
async def test_one_item_goes_to_one_claimer(
    chaos_bench: ChaosBench, crowd: list[Worker], rounds: int
) -> None:
    job_id = await chaos_bench.send(1)
    for _ in range(rounds):
        worker, claimed = await _claimed(crowd)
        await release(chaos_bench.runtime, claimed, worker.id)
    assert (
        await chaos_bench.value("SELECT count(*) FROM history_slices WHERE op = 'INSERT'") == rounds
    )
    crowd_of_one = crowd[0]
    assert await crowd_of_one.run_once()
    (job,) = await chaos_bench.ended(job_id)
    assert job["done"] == 1
    await chaos_bench.is_clean()


@pytest.mark.parametrize("rounds", [10, _long(1000)])
async def test_a_lease_that_ran_out_is_written_by_its_holder_or_taken_by_a_sweeper(
    chaos_bench: ChaosBench, crowd: list[Worker], rounds: int
) -> None:
    """The holder settles while sweepers take its lease back and others claim what they free."""
    sweepers = [Sweeper(chaos_bench.runtime) for _ in range(SWEEPERS)]
    for _ in range(rounds):
        job_id = await chaos_bench.send(1)
        holder, claimed = await _claimed(crowd[:2])
        worked = await run_items(chaos_bench.runtime, claimed, StopSign(), 60)
        await chaos_bench.value("UPDATE slices SET expires_at = now() - interval '1 second'")
        settled, *_ = await _at_once(
            settle(chaos_bench.runtime, claimed, worked, holder.id, 5),
            *(sweeper.run_once() for sweeper in sweepers),
            *(worker.run_once() for worker in crowd[2:12]),
        )
        runs = await chaos_bench.value(
            "SELECT count(*) FROM history_slices WHERE op = 'INSERT' AND job_id = $1", job_id
        )
        # Without its lease the worker wrote nothing; another one has the item or will claim it.
        assert settled.held == (runs == 1 and (await chaos_bench.job(job_id))["state"] == "done")
        while await crowd[0].run_once():
            pass
        (job,) = await chaos_bench.ended(job_id)
        assert (job["done"], job["total"]) == (1, 1)
    await chaos_bench.is_clean()


@pytest.mark.parametrize("who_acts", ["holder", "successor"])
async def test_a_sweeper_stopped_between_looking_and_taking(
    chaos_bench: ChaosBench, worker_pool: WorkerPool, who_acts: str
) -> None:
    """What it saw expired is settled by its holder, or done again by another, before it goes on."""
    job_id = await chaos_bench.send(60, workMs=0.2)
    holder = worker_pool.start("after_claim:stop")
    await holder.freezes()
    late = worker_pool.start("in_sweep:stop")
    await late.freezes()
    other = worker_pool.start() if who_acts == "successor" else holder
    other.wake()
    (job,) = await chaos_bench.ended(job_id)
    before = [dict(row) for row in await chaos_bench.items(job_id)]
    other.end()
    late.wake()
    await _swept_once_more(chaos_bench, late.said().split()[0])
    assert [dict(row) for row in await chaos_bench.items(job_id)] == before
    assert (job["done"], job["total"]) == (60, 60)
    await chaos_bench.is_clean()


async def _swept_once_more(chaos_bench: ChaosBench, worker: str) -> None:
    """The woken worker has done what it was about to do: it claims again."""
    probe = await chaos_bench.send(1)

    async def its_claim() -> bool:
        mine = "SELECT count(*) FROM history_slices WHERE job_id = $1 AND worker = $2"
        return bool(await chaos_bench.value(mine, probe, worker))

    await until(its_claim, "the woken worker to go on")
    await chaos_bench.ended(probe)
