"""F2: workers that sleep beyond their lease and wake up while, or after, others did their work."""

from __future__ import annotations

from typing import Any
from uuid import UUID

import pytest
from tests.chaos.crew import Crew
from tests.chaos.ordeal import Ordeal
from tests.checker.polling import until

_PLACES = ["after_claim", "after_work", "before_commit"]


async def _frozen(ordeal: Ordeal, job_id: UUID) -> list[dict[str, Any]]:
    return [dict(row) for row in await ordeal.items(job_id)]


async def _has_spoken(ordeal: Ordeal, worker: str) -> None:
    """The worker is back: its heart beats, and what it had to write it has tried to write."""
    woken = await ordeal.value("SELECT clock_timestamp()")

    async def beats() -> bool:
        later = "SELECT count(*) FROM workers WHERE id = $1 AND heartbeat_at > $2"
        return bool(await ordeal.value(later, worker, woken))

    await until(beats, "the zombie's heart to beat")


@pytest.mark.parametrize("place", _PLACES)
async def test_a_zombie_wakes_up_after_its_successor_finished(
    ordeal: Ordeal, crew: Crew, place: str
) -> None:
    job_id = await ordeal.send(100, workMs=0.2)
    zombie = crew.start(f"{place}:stop")
    await zombie.freezes()
    crew.start()
    await ordeal.ended(job_id)
    before = await _frozen(ordeal, job_id)
    zombie.wake()
    await _has_spoken(ordeal, zombie.said().split()[0])
    zombie.end()
    assert await _frozen(ordeal, job_id) == before
    (job,) = await ordeal.ended(job_id)
    assert (job["done"], job["total"]) == (100, 100)
    await ordeal.is_clean()


@pytest.mark.parametrize("place", _PLACES)
async def test_a_zombie_wakes_up_while_its_successor_works(
    ordeal: Ordeal, crew: Crew, place: str
) -> None:
    job_id = await ordeal.send(100, workMs=10)
    zombie = crew.start(f"{place}:stop")
    await zombie.freezes()
    crew.start()
    taken_back = "SELECT count(*) FROM history_items WHERE crashes > from_crashes AND job_id = $1"

    async def successor_works() -> bool:
        running = await ordeal.value("SELECT processing FROM jobs WHERE id = $1", job_id)
        return bool(await ordeal.value(taken_back, job_id)) and running > 0

    await until(successor_works, "the successor to take over")
    zombie.wake()
    (job,) = await ordeal.ended(job_id)
    zombie.end()
    assert (job["done"], job["total"]) == (100, 100)
    await ordeal.is_clean()


async def test_a_sleeping_claimer_does_not_hold_up_the_others_for_long(
    ordeal: Ordeal, crew: Crew
) -> None:
    """Stopped at any moment, also in the middle of a transaction; several times."""
    job_id = await ordeal.send(6000, inline=False, workMs=0.2)
    sleeper = crew.start()
    crew.start()
    for share in (1, 2, 3):
        await ordeal.reaches(job_id, "done", 1000 * share)
        sleeper.stop()
        await ordeal.reaches(job_id, "done", 1000 * share + 700)
        sleeper.wake()
    (job,) = await ordeal.ended(job_id)
    assert job["done"] == 6000
    sleeper.end()
    await ordeal.is_clean()


@pytest.mark.long
@pytest.mark.timeout(600)
async def test_many_zombies(ordeal: Ordeal, crew: Crew) -> None:
    items = 30_000
    job_id = await ordeal.send(items, inline=False, workMs=0.5)
    hands = [crew.start() for _ in range(3)]
    async with ordeal.watching():
        for n in range(20):
            await ordeal.reaches(job_id, "done", items * (n + 1) // 22, timeout=60)
            hands[n % 3].stop()
            hands[(n + 1) % 3].wake()
        for hand in hands:
            hand.wake()
        (job,) = await ordeal.ended(job_id, timeout=200)
    assert job["done"] == items
    await ordeal.is_clean()
