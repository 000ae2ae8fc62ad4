"""Reprocessing while real workers are at it, and operations whose service is killed."""

from __future__ import annotations

import asyncio
import random
from uuid import UUID

import pytest
from tests.chaos.crew import Crew
from tests.chaos.ordeal import Ordeal
from tests.checker.polling import until

from penstock.app import bulk
from penstock.engine import ending, reprocess
from penstock.model.bulk import BulkAction, JobFilter
from penstock.model.errors import PermanentError
from penstock.model.reprocess import Selection
from penstock.model.states import ItemStatus
from penstock.store.jobs import bulk as store
from penstock.store.jobs import jobs

STEPS = 30


async def operation(ordeal: Ordeal, operation_id: UUID) -> store.OperationRow:
    async with ordeal.runtime.db.acquire() as conn:
        found = await store.get(conn, operation_id)
    assert found is not None
    return found


async def test_killed_between_chunks_and_jobs_it_repeats_and_loses_nothing(
    ordeal: Ordeal, crew: Crew
) -> None:
    """One job of many chunks and twenty of one, reopened while whoever does it is killed, before
    and after its commits."""
    large = await ordeal.send(12_000, inline=False, failEvery=1)
    small = [await ordeal.send(10, failEvery=1) for _ in range(20)]
    crew.start()
    await ordeal.ended(large, *small, timeout=60)
    crew.hands[0].kill()
    async with ordeal.runtime.db.transaction() as conn:
        operation_id, counted = await bulk.start(
            conn, ordeal.who, BulkAction.REPROCESS, JobFilter(), {}, reach=bulk.reach_of(ordeal.who)
        )
    assert counted.count == 21
    for point in ("before_commit:kill:2", "after_commit:kill:2", "before_commit:kill:9"):
        await crew.start(f"bulk_{point}").dies(timeout=60)
    crew.start()

    async def done() -> bool:
        return bool((await operation(ordeal, operation_id)).state == "done")

    await until(done, "the operation to end", timeout=60)
    made = await operation(ordeal, operation_id)
    assert (made.changed, made.left_out, made.failed) == (21, 0, 0)
    assert (made.items, made.items_left_out) == (12_200, 0)
    ended = await ordeal.ended(large, *small, timeout=60)
    assert {(job["state"], job["generation"]) for job in ended} == {("done", 2)}
    reopened = "SELECT count(*) FROM history_items WHERE from_status = 'ERROR'"
    assert await ordeal.value(reopened) == 12_200
    audits = "SELECT count(*) FROM audit WHERE action = 'job.reprocess'"
    assert await ordeal.value(audits) == 21
    await ordeal.is_clean()


@pytest.mark.parametrize("seed", range(3))
async def test_any_sequence_of_control_keeps_the_invariants(
    ordeal: Ordeal, crew: Crew, seed: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    # Small enough for operations to take part.
    monkeypatch.setattr(reprocess, "MOST_AT_ONCE", 40)
    monkeypatch.setattr(ending, "MAX_SKIPPED_AT_ONCE", 60)
    chance = random.Random(seed)
    ids = [
        await ordeal.send(150, inline=False, failEvery=3, workMs=1, concurrency=4),
        await ordeal.send(80, failEvery=2, stages=2, barrier=True, summarizes=True),
        await ordeal.send(120, inline=False, failEvery=4, failHow="skip", learns=True, workMs=1),
        await ordeal.send(60, groups=5, failEvery=5, workMs=1),
    ]
    for _ in range(2):
        crew.start()
    await crew.hands[0].is_up()
    async with ordeal.watching():
        for _ in range(STEPS):
            await step(ordeal, chance, chance.choice(ids))
            await asyncio.sleep(chance.random() * 0.15)
        for job_id in ids:
            async with ordeal.runtime.db.transaction() as conn:
                await jobs.resume(conn, job_id)
        await ordeal.ended(*ids, timeout=60)

        async def over() -> bool:
            return not await ordeal.value(
                "SELECT count(*) FROM bulk_operations WHERE state = 'running'"
            )

        await until(over, "operations to end")
        await ordeal.ended(*ids, timeout=60)
    await ordeal.is_clean()


async def step(ordeal: Ordeal, chance: random.Random, job_id: UUID) -> None:
    action = chance.choice(["reprocess"] * 4 + ["cancel", "pause", "resume", "priority"])
    async with ordeal.runtime.db.transaction() as conn:
        match action:
            case "cancel":
                await ending.cancel(conn, job_id)
            case "pause":
                await jobs.pause(conn, job_id)
            case "resume":
                await jobs.resume(conn, job_id)
            case "priority":
                await jobs.set_priority(conn, job_id, chance.randrange(101))
            case _:
                try:
                    await bulk.reprocess_job(
                        ordeal.runtime, conn, ordeal.who, job_id, any_selection(chance)
                    )
                except PermanentError as refused:
                    if refused.code != "INVALID_STATE":
                        raise


def any_selection(chance: random.Random) -> Selection:
    rows = tuple(sorted(chance.sample(range(1, 200), 20))) if chance.random() < 0.3 else ()
    ended = [ItemStatus.DONE, ItemStatus.ERROR, ItemStatus.NOT_FOUND, ItemStatus.SKIPPED]
    some = chance.random() < 0.5
    return Selection(
        whole_job=not rows and chance.random() < 0.7,
        statuses=tuple(chance.sample(ended, chance.randrange(1, 5))) if some else (),
        codes=("VALIDATION_ERROR",) if chance.random() < 0.2 else (),
        rows=rows,
        reset_attempts=chance.random() < 0.8,
        from_start=chance.random() < 0.3,
    )
