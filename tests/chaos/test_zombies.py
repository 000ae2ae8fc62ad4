"""F2: workers that are frozen beyond their lease and wake up while or after others do their
work."""

from __future__ import annotations

from typing import Any
from uuid import UUID

import pytest
from tests.chaos.chaos_bench import ChaosBench
from tests.chaos.worker_pool import WorkerPool
from tests.checker.polling import until

_PLACES = ["after_claim", "after_work", "before_commit"]


async def _frozen(chaos_bench: ChaosBench, job_id: UUID) -> list[dict[str, Any]]:
    return [dict(row) for row in await chaos_bench.items(job_id)]


async def _has_spoken(chaos_bench: ChaosBench, worker: str) -> None:
    """Wait until the worker sends heartbeats again and has tried to write its results."""
    woken = await chaos_bench.value("SELECT clock_timestamp()")

    async def beats() -> bool:
        later = "SELECT count(*) FROM workers WHERE id = $1 AND heartbeat_at > $2"
        return bool(await chaos_bench.value(later, worker, woken))

    await until(beats, "the zombie's heart to beat")


@pytest.mark.parametrize("place", _PLACES)
async def test_a_zombie_wakes_up_after_its_successor_finished(
    chaos_bench: ChaosBench, worker_pool: WorkerPool, place: str
) -> None:
    job_id = await chaos_bench.send(100, workMs=0.2)
    zombie = worker_pool.start(f"{place}:stop")
    await zombie.freezes()
    worker_pool.start()
    await chaos_bench.ended(job_id)
    before = await _frozen(chaos_bench, job_id)
    zombie.wake()
    await _has_spoken(chaos_bench, zombie.said().split()[0])
    zombie.end()
    assert await _frozen(chaos_bench, job_id) == before
    (job,) = await chaos_bench.ended(job_id)
    assert (job["done"], job["total"]) == (100, 100)
    await chaos_bench.is_clean()


@pytest.mark.parametrize("place", _PLACES)
async def test_a_zombie_wakes_up_while_its_successor_works(
    chaos_bench: ChaosBench, worker_pool: WorkerPool, place: str
) -> None:
    job_id = await chaos_bench.send(100, workMs=10)
    zombie = worker_pool.start(f"{place}:stop")
    await zombie.freezes()
    worker_pool.start()
    taken_back = "SELECT count(*) FROM history_items WHERE crashes > from_crashes AND job_id = $1"

    async def successor_works() -> bool:
        running = await chaos_bench.value("SELECT processing FROM jobs WHERE id = $1", job_id)
        return bool(await chaos_bench.value(taken_back, job_id)) and running > 0

    await until(successor_works, "the successor to take over")
    zombie.wake()
    (job,) = await chaos_bench.ended(job_id)
    zombie.end()
    assert (job["done"], job["total"]) == (100, 100)
    await chaos_bench.is_clean()


async def test_a_sleeping_claimer_does_not_hold_up_the_others_for_long(
    chaos_bench: ChaosBench, worker_pool: WorkerPool
) -> None:
    """Stopped at any moment, also in the middle of a transaction; several times."""
    job_id = await chaos_bench.send(6000, inline=False, workMs=0.2)
    sleeper = worker_pool.start()
    worker_pool.start()
    for share in (1, 2, 3):
        await chaos_bench.reaches(job_id, "done", 1000 * share)
        sleeper.stop()
        await chaos_bench.reaches(job_id, "done", 1000 * share + 700)
        sleeper.wake()
    (job,) = await chaos_bench.ended(job_id)
    assert job["done"] == 6000
    sleeper.end()
    await chaos_bench.is_clean()


@pytest.mark.long
@pytest.mark.timeout(600)
async def test_many_zombies(chaos_bench: ChaosBench, worker_pool: WorkerPool) -> None:
    items = 30_000
    job_id = await chaos_bench.send(items, inline=False, workMs=0.5)
    processes = [worker_pool.start() for _ in range(3)]
    async with chaos_bench.watching():
        for n in range(20):
            await chaos_bench.reaches(job_id, "done", items * (n + 1) // 22, timeout=60)
            processes[n % 3].stop()
            processes[(n + 1) % 3].wake()
        for hand in processes:
            hand.wake()
        (job,) = await chaos_bench.ended(job_id, timeout=200)
    assert job["done"] == items
    await chaos_bench.is_clean()
