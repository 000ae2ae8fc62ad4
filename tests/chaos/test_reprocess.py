"""Reprocessing while real workers are at it, and operations whose service is killed."""

from __future__ import annotations

import asyncio
import random
from uuid import UUID

import pytest
from tests.chaos.chaos_bench import ChaosBench
from tests.chaos.worker_pool import WorkerPool
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


async def operation(chaos_bench: ChaosBench, operation_id: UUID) -> store.OperationRow:
    async with chaos_bench.runtime.db.acquire() as conn:
        found = await store.get(conn, operation_id)
    assert found is not None
    return found


async def test_killed_between_chunks_and_jobs_it_repeats_and_loses_nothing(
    chaos_bench: ChaosBench, worker_pool: WorkerPool
) -> None:
    """One job of many chunks and twenty of one, reopened by processes that are killed, before
    and after its commits."""
    large = await chaos_bench.send(12_000, inline=False, failEvery=1)
    small = [await chaos_bench.send(10, failEvery=1) for _ in range(20)]
    worker_pool.start()
    await chaos_bench.ended(large, *small, timeout=60)
    worker_pool.processes[0].kill()
    async with chaos_bench.runtime.db.transaction() as conn:
        operation_id, counted = await bulk.start(
            conn,
            chaos_bench.who,
            BulkAction.REPROCESS,
            JobFilter(),
            {},
            reach=bulk.reach_of(chaos_bench.who),
        )
    assert counted.count == 21
    for point in ("before_commit:kill:2", "after_commit:kill:2", "before_commit:kill:9"):
        await worker_pool.start(f"bulk_{point}").dies(timeout=60)
    worker_pool.start()

    async def done() -> bool:
        return bool((await operation(chaos_bench, operation_id)).state == "done")

    await until(done, "the operation to end", timeout=60)
    made = await operation(chaos_bench, operation_id)
    assert (made.changed, made.left_out, made.failed) == (21, 0, 0)
    assert (made.items, made.items_left_out) == (12_200, 0)
    ended = await chaos_bench.ended(large, *small, timeout=60)
    assert {(job["state"], job["generation"]) for job in ended} == {("done", 2)}
    reopened = "SELECT count(*) FROM history_items WHERE from_status = 'ERROR'"
    assert await chaos_bench.value(reopened) == 12_200
    audits = "SELECT count(*) FROM audit WHERE action = 'job.reprocess'"
    assert await chaos_bench.value(audits) == 21
    await chaos_bench.is_clean()


@pytest.mark.parametrize("seed", range(3))
async def test_any_sequence_of_control_keeps_the_invariants(
    chaos_bench: ChaosBench, worker_pool: WorkerPool, seed: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    # Small enough for operations to take part.
    monkeypatch.setattr(reprocess, "MOST_AT_ONCE", 40)
    monkeypatch.setattr(ending, "MAX_SKIPPED_AT_ONCE", 60)
    chance = random.Random(seed)
    ids = [
        await chaos_bench.send(150, inline=False, failEvery=3, workMs=1, concurrency=4),
        await chaos_bench.send(80, failEvery=2, stages=2, barrier=True, summarizes=True),
        await chaos_bench.send(
            120, inline=False, failEvery=4, failHow="skip", learns=True, workMs=1
        ),
        await chaos_bench.send(60, groups=5, failEvery=5, workMs=1),
    ]
    for _ in range(2):
        worker_pool.start()
    await worker_pool.processes[0].is_up()
    async with chaos_bench.watching():
        for _ in range(STEPS):
            await step(chaos_bench, chance, chance.choice(ids))
            await asyncio.sleep(chance.random() * 0.15)
        for job_id in ids:
            async with chaos_bench.runtime.db.transaction() as conn:
                await jobs.resume(conn, job_id)
        await chaos_bench.ended(*ids, timeout=60)

        async def over() -> bool:
            return not await chaos_bench.value(
                "SELECT count(*) FROM bulk_operations WHERE state = 'running'"
            )

        await until(over, "operations to end")
        await chaos_bench.ended(*ids, timeout=60)
    await chaos_bench.is_clean()


async def step(chaos_bench: ChaosBench, chance: random.Random, job_id: UUID) -> None:
    action = chance.choice(["reprocess"] * 4 + ["cancel", "pause", "resume", "priority"])
    async with chaos_bench.runtime.db.transaction() as conn:
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
                        chaos_bench.runtime, conn, chaos_bench.who, job_id, any_selection(chance)
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
