"""F1, F13: workers that are killed, wherever they are; and an item that kills them."""

from __future__ import annotations

import random
import signal
from uuid import UUID

import pytest
from tests.chaos.crew import Crew
from tests.chaos.ordeal import Ordeal
from tests.checker.polling import until

_ITEMS = 300
# Leases are of three seconds; the rest is for a machine that is busy.
RECOVERY_SECONDS = 20


async def _clean_end(ordeal: Ordeal, job_id: UUID, items: int) -> None:
    (job,) = await ordeal.ended(job_id)
    assert (job["state"], job["done"], job["total"]) == ("done", items, items)
    await ordeal.is_clean(reclaim_seconds=RECOVERY_SECONDS)


@pytest.mark.parametrize("elsewhere", [False, True], ids=["here", "elsewhere"])
@pytest.mark.parametrize("place", ["after_claim", "after_work", "before_commit", "after_commit"])
async def test_a_worker_is_killed_at_its_work(
    ordeal: Ordeal, crew: Crew, place: str, elsewhere: bool
) -> None:
    job_id = await ordeal.send(_ITEMS, inline=False, stages=2, workMs=0.2)
    # The first claim is the ingest's.
    count = 3 if place == "after_claim" else 2
    victim = crew.start(f"{place}:kill:{count}", elsewhere=elsewhere)
    assert await victim.dies() == -signal.SIGKILL
    crew.start()
    await _clean_end(ordeal, job_id, _ITEMS)


@pytest.mark.parametrize("elsewhere", [False, True], ids=["here", "elsewhere"])
async def test_a_worker_is_killed_in_the_middle_of_a_heartbeat(
    ordeal: Ordeal, crew: Crew, elsewhere: bool
) -> None:
    """Its leases are just extended, and are still its successor's within their time."""
    job_id = await ordeal.send(_ITEMS, inline=False, workMs=10, concurrency=2)
    victim = crew.start("in_heartbeat:kill", elsewhere=elsewhere)
    assert await victim.dies() == -signal.SIGKILL
    crew.start()
    await _clean_end(ordeal, job_id, _ITEMS)


async def test_a_worker_is_killed_between_batches_of_the_ingest(ordeal: Ordeal, crew: Crew) -> None:
    job_id = await ordeal.send(3000, inline=False)
    for _ in range(2):
        victim = crew.start("between_batches:kill:2", ingest_max_rows=64)
        assert await victim.dies() == -signal.SIGKILL
    crew.start()
    await _clean_end(ordeal, job_id, 3000)


async def test_a_worker_is_killed_over_the_summary(ordeal: Ordeal, crew: Crew) -> None:
    job_id = await ordeal.send(50, summarizes=True, learns=True)
    victim = crew.start("in_finish:kill")
    assert await victim.dies() == -signal.SIGKILL
    crew.start()
    await _clean_end(ordeal, job_id, 50)
    assert (await ordeal.job(job_id))["summary"] is not None


async def test_a_parent_that_runs_twice_has_its_children_once(ordeal: Ordeal, crew: Crew) -> None:
    job_id = await ordeal.send(40, childrenPer=5)
    for place in ("after_work", "before_commit", "after_commit"):
        assert await crew.start(f"{place}:kill").dies() == -signal.SIGKILL
    crew.start()
    (job,) = await ordeal.ended(job_id)
    assert (job["done"], job["total"]) == (240, 240)
    twice = "SELECT count(*) - count(DISTINCT key) FROM job_items WHERE key IS NOT NULL"
    assert await ordeal.value(twice) == 0
    await ordeal.is_clean(reclaim_seconds=RECOVERY_SECONDS)


async def _kill_at_random(ordeal: Ordeal, crew: Crew, job_id: UUID, items: int, kills: int) -> None:
    """Two workers; again and again one of them dies and another one comes."""
    chance = random.Random(7)
    for _ in range(2):
        await crew.start(elsewhere=chance.random() < 0.5).is_up()
    for n in range(kills):
        await ordeal.reaches(job_id, "done", items * (n + 1) // (kills + 2), timeout=60)
        chance.choice(list(crew.living())).kill()
        crew.start(elsewhere=chance.random() < 0.5)


async def test_random_kills_lose_and_double_nothing(ordeal: Ordeal, crew: Crew) -> None:
    items = 20_000
    job_id = await ordeal.send(items, inline=False)
    async with ordeal.watching():
        await _kill_at_random(ordeal, crew, job_id, items, kills=4)
        await ordeal.ended(job_id)
    assert ordeal.watch.snapshots > 5
    await _clean_end(ordeal, job_id, items)


@pytest.mark.long
@pytest.mark.timeout(600)
async def test_many_random_kills_lose_and_double_nothing(ordeal: Ordeal, crew: Crew) -> None:
    items = 100_000
    job_id = await ordeal.send(items, inline=False, stages=2)
    async with ordeal.watching():
        await _kill_at_random(ordeal, crew, job_id, items, kills=25)
        await ordeal.ended(job_id, timeout=300)
    await _clean_end(ordeal, job_id, items)


async def _until_the_poison_is_found(ordeal: Ordeal, crew: Crew, *job_ids: UUID) -> int:
    """Someone starts a worker whenever the last one died of its work; answers how many died."""
    hand = crew.start()

    async def dead_or_done() -> str | None:
        open_jobs = "SELECT count(*) FROM jobs WHERE id = ANY ($1) AND finished_at IS NULL"
        if await ordeal.value(open_jobs, job_ids) == 0:
            return "done"
        return "dead" if hand.dead else None

    for deaths in range(12):
        if await until(dead_or_done, "an end, one way or the other") == "done":
            return deaths
        hand = crew.start()
    raise AssertionError("the poison was not found")


async def test_a_poison_item_is_found_while_its_neighbours_finish(
    ordeal: Ordeal, crew: Crew
) -> None:
    """The worker has several slots, so that whole slices die with the poison."""
    job_id = await ordeal.send(500, inline=False, crashRow=77, workMs=0.5)
    neighbour = await ordeal.send(400, inline=False, workMs=0.5)
    deaths = await _until_the_poison_is_found(ordeal, crew, job_id, neighbour)
    job, other = await ordeal.ended(job_id, neighbour)
    assert (job["done"], job["error"], other["done"]) == (499, 1, 400)
    (poison,) = await ordeal.items(job_id, "status = 'ERROR'")
    assert poison["row_no"] == 77
    assert '"WORKER_CRASHED"' in poison["error"]
    assert deaths <= 6
    await ordeal.is_clean(reclaim_seconds=RECOVERY_SECONDS)


async def test_the_poison_of_a_tiny_job_is_no_poison_to_others(ordeal: Ordeal, crew: Crew) -> None:
    jobs = [await ordeal.send(1, crashRow=1 if n == 20 else None, workMs=1) for n in range(40)]
    await _until_the_poison_is_found(ordeal, crew, *jobs)
    ended = await ordeal.ended(*jobs)
    assert [job["id"] for job in ended if job["error"]] == [jobs[20]]
    await ordeal.is_clean(reclaim_seconds=RECOVERY_SECONDS)


async def test_a_poison_in_a_child_process_costs_no_worker(ordeal: Ordeal, crew: Crew) -> None:
    job_id = await ordeal.send(60, cpuMs=0.01, crashRow=7)
    hand = crew.start()
    (job,) = await ordeal.ended(job_id)
    assert (job["done"], job["error"], hand.dead) == (59, 1, False)
    await ordeal.is_clean()
