"""Workers that die: whose fault it was is found, and nobody else pays for it."""

from __future__ import annotations

from uuid import UUID

import pytest
from tests.checker.benches import Tried
from tests.checker.scenarios import claim

pytestmark = pytest.mark.slow


async def die_over(tried: Tried, poison: tuple[UUID, int], turns: int = 400) -> int:
    """Workers that settle, and die whenever the poison is in their claim; how many died."""
    deaths = 0
    for _ in range(turns):
        async with tried.by_hand() as worker:
            claimed = await worker._claim()
            if claimed is None:
                return deaths
            if any((item.job_id, item.row_no) == poison for item in claimed.items):
                deaths += 1
                await tried.expire()
            else:
                await tried.run(worker, claimed)
    raise AssertionError(f"still at it after {turns} turns and {deaths} deaths")


async def test_a_poison_item_is_set_aside_and_its_neighbours_finish(tried: Tried) -> None:
    job_id = await tried.send({"rows": 64})
    deaths = await die_over(tried, (job_id, 17))
    job = await tried.job(job_id)
    assert (job["state"], job["done"], job["error"]) == ("done", 63, 1)
    (poison,) = await tried.items(job_id, "status = 'ERROR'")
    assert (poison["row_no"], poison["solo_crashes"]) == (17, 3)
    assert deaths <= 5
    await tried.is_clean()


async def test_one_job_of_many_in_a_claim_is_to_blame(tried: Tried) -> None:
    """Tiny jobs share claims: the poison of one must not end the others."""
    jobs = [await tried.send({"rows": 1}) for _ in range(40)]
    await die_over(tried, (jobs[7], 1))
    ended = [(await tried.job(job_id)) for job_id in jobs]
    assert [job["id"] for job in ended if job["error"]] == [jobs[7]]
    assert sum(job["done"] for job in ended) == 39
    await tried.is_clean()


async def test_a_lone_item_is_given_up_in_the_end(tried: Tried) -> None:
    job_id = await tried.send({"rows": 1})
    assert 3 <= await die_over(tried, (job_id, 1)) <= 5
    assert (await tried.job(job_id))["error"] == 1
    await tried.is_clean()


async def test_groups_find_their_poison_too(tried: Tried) -> None:
    job_id = await tried.send({"rows": 24, "groups": 3})
    await die_over(tried, (job_id, 5))
    job = await tried.job(job_id)
    assert (job["done"], job["error"]) == (23, 1)
    await tried.is_clean()


async def test_a_success_forgives_earlier_crashes(tried: Tried) -> None:
    job_id = await tried.send({"rows": 1, "stages": 2})
    for _ in range(2):
        async with tried.by_hand() as worker:
            await claim(worker)
            await tried.expire()
    async with tried.by_hand() as worker:
        await tried.run(worker, await claim(worker))
    (item,) = await tried.items(job_id)
    assert (item["stage"], item["crashes"], item["solo_crashes"]) == (1, 0, 0)
    await tried.finish(job_id)
    await tried.is_clean()
