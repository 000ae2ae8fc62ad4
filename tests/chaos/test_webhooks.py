"""F1, F12: processes die while events become deliveries, and while these are sent."""

from __future__ import annotations

import random
import signal
from collections.abc import AsyncIterator
from uuid import UUID

import pytest
from tests.chaos.crew import Crew
from tests.chaos.ordeal import Ordeal
from tests.checker.polling import until
from tests.checker.told import untold
from tests.engine.receiving import Receiver, all_due, deliveries, receiving, subscribe

from penstock.settings import Settings


@pytest.fixture
def settings(settings: Settings) -> Settings:
    return settings.model_copy(update={"webhook_allow": "127.0.0.0/8"})


@pytest.fixture
async def receiver() -> AsyncIterator[Receiver]:
    async with receiving() as made:
        yield made


async def all_delivered(ordeal: Ordeal, endpoint_id: UUID, count: int) -> None:
    async def done() -> bool:
        states = [row["state"] for row in await deliveries(ordeal.runtime, endpoint_id)]
        return states.count("delivered") == count

    await until(done, f"{count} deliveries", timeout=60)


async def test_a_worker_killed_in_the_middle_of_a_delivery(
    ordeal: Ordeal, crew: Crew, receiver: Receiver
) -> None:
    """The receiver has the request; whoever sends it again says that it is the same."""
    made = await subscribe(ordeal.runtime, ordeal.who, receiver.url)
    receiver.lets_go.clear()
    victim = crew.start()
    job_id = await ordeal.send(3)

    async def arrived() -> bool:
        return bool(receiver.got)

    await until(arrived, "the request to arrive", timeout=60)
    victim.kill()
    receiver.lets_go.set()
    crew.start()
    await all_delivered(ordeal, made.id, 1)
    [job] = await ordeal.ended(job_id)
    assert job["state"] == "done"
    assert len(receiver.got) == 2
    assert {got.verified(made.secret)["jobId"] for got in receiver.got} == {str(job_id)}
    assert len({got.id for got in receiver.got}) == 1
    # A crash is no try.
    [delivery] = await deliveries(ordeal.runtime, made.id)
    assert delivery["tries"] == 1


@pytest.mark.parametrize("place", ["follow_before_commit", "follow_after_commit", "after_work",
                                   "before_commit", "after_commit"])  # fmt: skip
async def test_each_event_becomes_one_delivery_whoever_dies(
    ordeal: Ordeal, crew: Crew, receiver: Receiver, place: str
) -> None:
    made = await subscribe(ordeal.runtime, ordeal.who, receiver.url, "job.queued", "job.completed")
    jobs = [await ordeal.send(1) for _ in range(5)]
    count = 1 if place.startswith("outbox") else 2
    victim = crew.start(f"{place}:kill:{count}")
    assert await victim.dies(timeout=60) == -signal.SIGKILL
    crew.start()
    await all_delivered(ordeal, made.id, 10)
    await ordeal.ended(*jobs)
    told = {got.id: got.verified(made.secret) for got in receiver.got}
    assert sorted((one["jobId"], one["event"]) for one in told.values()) == sorted(
        (str(job_id), event) for job_id in jobs for event in ("job.queued", "job.completed")
    )


async def test_kills_and_a_bad_receiver_at_once(
    ordeal: Ordeal, crew: Crew, receiver: Receiver
) -> None:
    """Workers die at every turn and the receiver is down half of the time: each event still comes
    to a 2xx under one id."""
    chance = random.Random(15)
    made = await subscribe(ordeal.runtime, ordeal.who, receiver.url, "job.queued", "job.completed")
    # No longer than this: one that is refused at each of its five tries is given up.
    receiver.plan = [chance.choice(["500 Oops", "204 Fine", "302 Found"]) for _ in range(16)]
    jobs = []
    for turn in range(5):
        jobs += [await ordeal.send(1) for _ in range(4)]
        place = chance.choice(["follow_before_commit", "follow_after_commit", "before_commit"])
        victim = crew.start(f"{place}:kill:{1 + turn % 2}")
        await all_due(ordeal.runtime)
        assert await victim.dies(timeout=60) == -signal.SIGKILL
    crew.start()
    await ordeal.ended(*jobs)

    async def delivered() -> bool:
        await all_due(ordeal.runtime)
        states = [row["state"] for row in await deliveries(ordeal.runtime, made.id)]
        return states.count("delivered") == 2 * len(jobs)

    await until(delivered, "all deliveries", timeout=60)
    async with ordeal.runtime.db.acquire() as conn:
        assert await untold(conn, made.id, receiver.got) == []
