"""F1, F13: workers that are killed at every step, and an item that kills its worker."""

from __future__ import annotations

import random
import signal
from uuid import UUID

import pytest
from tests.chaos.chaos_bench import ChaosBench
from tests.chaos.worker_pool import WorkerPool
from tests.checker.polling import until

_ITEMS = 300
# Leases are of three seconds; the rest is for a machine that is busy.
RECOVERY_SECONDS = 20


async def _clean_end(chaos_bench: ChaosBench, job_id: UUID, items: int) -> None:
    (job,) = await chaos_bench.ended(job_id)
    assert (job["state"], job["done"], job["total"]) == ("done", items, items)
    await chaos_bench.is_clean(reclaim_seconds=RECOVERY_SECONDS)


@pytest.mark.parametrize("elsewhere", [False, True], ids=["here", "elsewhere"])
@pytest.mark.parametrize("place", ["after_claim", "after_work", "before_commit", "after_commit"])
async def test_a_worker_is_killed_at_its_work(
    chaos_bench: ChaosBench, worker_pool: WorkerPool, place: str, elsewhere: bool
) -> None:
    job_id = await chaos_bench.send(_ITEMS, inline=False, stages=2, workMs=0.2)
    # The first claim is the ingest's.
    count = 3 if place == "after_claim" else 2
    victim = worker_pool.start(f"{place}:kill:{count}", elsewhere=elsewhere)
    assert await victim.dies() == -signal.SIGKILL
    worker_pool.start()
    await _clean_end(chaos_bench, job_id, _ITEMS)


@pytest.mark.parametrize("elsewhere", [False, True], ids=["here", "elsewhere"])
async def test_a_worker_is_killed_in_the_middle_of_a_heartbeat(
    chaos_bench: ChaosBench, worker_pool: WorkerPool, elsewhere: bool
) -> None:
    """Its leases are just extended, and are still its successor's within their time."""
    job_id = await chaos_bench.send(_ITEMS, inline=False, workMs=10, concurrency=2)
    victim = worker_pool.start("in_heartbeat:kill", elsewhere=elsewhere)
    assert await victim.dies() == -signal.SIGKILL
    worker_pool.start()
    await _clean_end(chaos_bench, job_id, _ITEMS)


async def test_a_worker_is_killed_between_batches_of_the_ingest(
    chaos_bench: ChaosBench, worker_pool: WorkerPool
) -> None:
    job_id = await chaos_bench.send(3000, inline=False)
    for _ in range(2):
        victim = worker_pool.start("between_batches:kill:2", ingest_max_rows=64)
        assert await victim.dies() == -signal.SIGKILL
    worker_pool.start()
    await _clean_end(chaos_bench, job_id, 3000)


async def test_a_worker_is_killed_over_the_summary(
    chaos_bench: ChaosBench, worker_pool: WorkerPool
) -> None:
    job_id = await chaos_bench.send(50, summarizes=True, learns=True)
    victim = worker_pool.start("in_finish:kill")
    assert await victim.dies() == -signal.SIGKILL
    worker_pool.start()
    await _clean_end(chaos_bench, job_id, 50)
    assert (await chaos_bench.job(job_id))["summary"] is not None


async def test_a_parent_that_runs_twice_has_its_children_once(
    chaos_bench: ChaosBench, worker_pool: WorkerPool
) -> None:
    job_id = await chaos_bench.send(40, childrenPer=5)
    for place in ("after_work", "before_commit", "after_commit"):
        assert await worker_pool.start(f"{place}:kill").dies() == -signal.SIGKILL
    worker_pool.start()
    (job,) = await chaos_bench.ended(job_id)
    assert (job["done"], job["total"]) == (240, 240)
    twice = "SELECT count(*) - count(DISTINCT key) FROM job_items WHERE key IS NOT NULL"
    assert await chaos_bench.value(twice) == 0
    await chaos_bench.is_clean(reclaim_seconds=RECOVERY_SECONDS)


async def _kill_at_random(
    chaos_bench: ChaosBench, worker_pool: WorkerPool, job_id: UUID, items: int, kills: int
) -> None:
    """Two workers; again and again one of them is killed and replaced."""
    chance = random.Random(7)
    for _ in range(2):
        await worker_pool.start(elsewhere=chance.random() < 0.5).is_up()
    for n in range(kills):
        await chaos_bench.reaches(job_id, "done", items * (n + 1) // (kills + 2), timeout=60)
        chance.choice(list(worker_pool.living())).kill()
        worker_pool.start(elsewhere=chance.random() < 0.5)


async def test_random_kills_lose_and_double_nothing(
    chaos_bench: ChaosBench, worker_pool: WorkerPool
) -> None:
    items = 20_000
    job_id = await chaos_bench.send(items, inline=False)
    async with chaos_bench.watching():
        await _kill_at_random(chaos_bench, worker_pool, job_id, items, kills=4)
        await chaos_bench.ended(job_id)
    assert chaos_bench.watch.snapshots > 5
    await _clean_end(chaos_bench, job_id, items)


@pytest.mark.long
@pytest.mark.timeout(600)
async def test_many_random_kills_lose_and_double_nothing(
    chaos_bench: ChaosBench, worker_pool: WorkerPool
) -> None:
    items = 100_000
    job_id = await chaos_bench.send(items, inline=False, stages=2)
    async with chaos_bench.watching():
        await _kill_at_random(chaos_bench, worker_pool, job_id, items, kills=25)
        await chaos_bench.ended(job_id, timeout=300)
    await _clean_end(chaos_bench, job_id, items)


async def _until_the_poison_is_found(
    chaos_bench: ChaosBench, worker_pool: WorkerPool, *job_ids: UUID
) -> int:
    """Start a worker whenever the last one died of its work; answers how many died."""
    hand = worker_pool.start()

    async def dead_or_done() -> str | None:
        open_jobs = "SELECT count(*) FROM jobs WHERE id = ANY ($1) AND finished_at IS NULL"
        if await chaos_bench.value(open_jobs, job_ids) == 0:
            return "done"
        return "dead" if hand.dead else None

    for deaths in range(12):
        if await until(dead_or_done, "an end, one way or the other") == "done":
            return deaths
        hand = worker_pool.start()
    raise AssertionError("the poison was not found")


async def test_a_poison_item_is_found_while_its_neighbours_finish(
    chaos_bench: ChaosBench, worker_pool: WorkerPool
) -> None:
    """The worker has several slots, so that whole slices die with the poison."""
    job_id = await chaos_bench.send(500, inline=False, crashRow=77, workMs=0.5)
    neighbour = await chaos_bench.send(400, inline=False, workMs=0.5)
    deaths = await _until_the_poison_is_found(chaos_bench, worker_pool, job_id, neighbour)
    job, other = await chaos_bench.ended(job_id, neighbour)
    assert (job["done"], job["error"], other["done"]) == (499, 1, 400)
    (poison,) = await chaos_bench.items(job_id, "status = 'ERROR'")
    assert poison["row_no"] == 77
    assert '"WORKER_CRASHED"' in poison["error"]
    assert deaths <= 6
    await chaos_bench.is_clean(reclaim_seconds=RECOVERY_SECONDS)


async def test_the_poison_of_a_tiny_job_is_no_poison_to_others(
    chaos_bench: ChaosBench, worker_pool: WorkerPool
) -> None:
    jobs = [await chaos_bench.send(1, crashRow=1 if n == 20 else None, workMs=1) for n in range(40)]
    await _until_the_poison_is_found(chaos_bench, worker_pool, *jobs)
    ended = await chaos_bench.ended(*jobs)
    assert [job["id"] for job in ended if job["error"]] == [jobs[20]]
    await chaos_bench.is_clean(reclaim_seconds=RECOVERY_SECONDS)


async def test_a_poison_in_a_child_process_costs_no_worker(
    chaos_bench: ChaosBench, worker_pool: WorkerPool
) -> None:
    job_id = await chaos_bench.send(60, cpuMs=0.01, crashRow=7)
    hand = worker_pool.start()
    (job,) = await chaos_bench.ended(job_id)
    assert (job["done"], job["error"], hand.dead) == (59, 1, False)
    await chaos_bench.is_clean()
