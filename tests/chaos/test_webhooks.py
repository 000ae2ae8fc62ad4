"""F1, F12: processes die while events become deliveries, and while these are sent."""

from __future__ import annotations

import random
import signal
from collections.abc import AsyncIterator
from uuid import UUID

import pytest
from tests.chaos.chaos_bench import ChaosBench
from tests.chaos.worker_pool import WorkerPool
from tests.checker.deliveries import delivery_violations
from tests.checker.polling import until
from tests.engine.receiving import Receiver, all_due, deliveries, receiving, subscribe

from penstock.settings import Settings


@pytest.fixture
def settings(settings: Settings) -> Settings:
    return settings.model_copy(update={"webhook_allow": "127.0.0.0/8"})


@pytest.fixture
async def receiver() -> AsyncIterator[Receiver]:
    async with receiving() as made:
        yield made


async def all_delivered(chaos_bench: ChaosBench, endpoint_id: UUID, count: int) -> None:
    async def done() -> bool:
        states = [row["state"] for row in await deliveries(chaos_bench.runtime, endpoint_id)]
        return states.count("delivered") == count

    await until(done, f"{count} deliveries", timeout=60)


async def test_a_worker_killed_in_the_middle_of_a_delivery(
    chaos_bench: ChaosBench, worker_pool: WorkerPool, receiver: Receiver
) -> None:
    """The receiver got the request; when it is sent again it has the same id."""
    made = await subscribe(chaos_bench.runtime, chaos_bench.who, receiver.url)
    receiver.lets_go.clear()
    victim = worker_pool.start()
    job_id = await chaos_bench.send(3)

    async def arrived() -> bool:
        return bool(receiver.got)

    await until(arrived, "the request to arrive", timeout=60)
    victim.kill()
    receiver.lets_go.set()
    worker_pool.start()
    await all_delivered(chaos_bench, made.id, 1)
    [job] = await chaos_bench.ended(job_id)
    assert job["state"] == "done"
    assert len(receiver.got) == 2
    assert {got.verified(made.secret)["jobId"] for got in receiver.got} == {str(job_id)}
    assert len({got.id for got in receiver.got}) == 1
    # A crash counts as no attempt.
    [delivery] = await deliveries(chaos_bench.runtime, made.id)
    assert delivery["tries"] == 1


@pytest.mark.parametrize("place", ["follow_before_commit", "follow_after_commit", "after_work",
                                   "before_commit", "after_commit"])  # fmt: skip
async def test_each_event_becomes_one_delivery_whoever_dies(
    chaos_bench: ChaosBench, worker_pool: WorkerPool, receiver: Receiver, place: str
) -> None:
    made = await subscribe(
        chaos_bench.runtime, chaos_bench.who, receiver.url, "job.queued", "job.completed"
    )
    jobs = [await chaos_bench.send(1) for _ in range(5)]
    count = 1 if place.startswith("outbox") else 2
    victim = worker_pool.start(f"{place}:kill:{count}")
    assert await victim.dies(timeout=60) == -signal.SIGKILL
    worker_pool.start()
    await all_delivered(chaos_bench, made.id, 10)
    await chaos_bench.ended(*jobs)
    told = {got.id: got.verified(made.secret) for got in receiver.got}
    assert sorted((one["jobId"], one["event"]) for one in told.values()) == sorted(
        (str(job_id), event) for job_id in jobs for event in ("job.queued", "job.completed")
    )


async def test_kills_and_a_bad_receiver_at_once(
    chaos_bench: ChaosBench, worker_pool: WorkerPool, receiver: Receiver
) -> None:
    """Workers die at every turn and the receiver is down half of the time: each event still comes
    to a 2xx under one id."""
    chance = random.Random(15)
    made = await subscribe(
        chaos_bench.runtime, chaos_bench.who, receiver.url, "job.queued", "job.completed"
    )
    # No longer than this: one that is refused at each of its five tries is given up.
    receiver.plan = [chance.choice(["500 Oops", "204 Fine", "302 Found"]) for _ in range(16)]
    jobs = []
    for turn in range(5):
        jobs += [await chaos_bench.send(1) for _ in range(4)]
        place = chance.choice(["follow_before_commit", "follow_after_commit", "before_commit"])
        victim = worker_pool.start(f"{place}:kill:{1 + turn % 2}")
        await all_due(chaos_bench.runtime)
        assert await victim.dies(timeout=60) == -signal.SIGKILL
    worker_pool.start()
    await chaos_bench.ended(*jobs)

    async def delivered() -> bool:
        await all_due(chaos_bench.runtime)
        states = [row["state"] for row in await deliveries(chaos_bench.runtime, made.id)]
        return states.count("delivered") == 2 * len(jobs)

    await until(delivered, "all deliveries", timeout=60)
    async with chaos_bench.runtime.db.acquire() as conn:
        assert await delivery_violations(conn, made.id, receiver.got) == []
