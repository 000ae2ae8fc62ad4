"""Jobs of one item: submitted by eight clients beside two workers, and a backlog of them."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence

from benchmarks.entry import Entry, Line, Scale, at_least, reported
from benchmarks.lab import Bench, Lab
from benchmarks.measure import timed
from penstock.model.ticket import Ticket

_CLIENTS = 8
_BATCH = 100
_OPEN = "SELECT 1 FROM jobs WHERE state IN ('queued', 'running') AND NOT paused LIMIT 1"


async def submit_all(bench: Bench, count: int) -> None:
    numbers = iter(range(count))

    async def client() -> None:
        for _ in numbers:
            await bench.submit("payload", {"items": 1})

    await asyncio.gather(*(client() for _ in range(_CLIENTS)))


async def in_batches(bench: Bench, count: int) -> float:
    """Jobs per second, submitted as the batch request of the API does it."""
    async with timed() as clock:
        for first in range(0, count, _BATCH):
            some = min(_BATCH, count - first)
            await asyncio.gather(*(bench.submit("payload", {"items": 1}) for _ in range(some)))
    return count / clock.seconds


async def until_idle(bench: Bench) -> None:
    async with bench.db.acquire() as conn:
        while await conn.fetchval(_OPEN) is not None:
            await asyncio.sleep(0.01)


async def live(bench: Bench, count: int) -> float:
    """Jobs per second from the first submit to the last one done, beside two workers."""
    async with bench.workers(2), timed() as clock:
        await submit_all(bench, count)
        await until_idle(bench)
    return count / clock.seconds


async def backlog(bench: Bench, count: int, processes: int) -> float:
    """Jobs per second, all of them there before the workers may begin."""
    await submit_all(bench, count)
    await bench.execute("UPDATE jobs SET paused = true WHERE state = 'queued'")
    async with bench.workers(processes):
        await bench.lab.checkpoint()
        async with timed() as clock:
            await bench.execute("UPDATE jobs SET paused = false WHERE paused")
            await bench.runtime.broker.send(Ticket("any"))
            await until_idle(bench)
    return count / clock.seconds


async def run(lab: Lab, scale: Scale) -> Sequence[Line]:
    count = scale.of(3000, 300)
    submitted: list[float] = []
    worked: list[float] = []
    batched: list[float] = []
    for _ in range(scale.repetitions):
        async with lab.bench() as bench:
            submitted.append(await live(bench, count))
            worked.append(await backlog(bench, count, 2))
        async with lab.bench() as bench:
            batched.append(await in_batches(bench, count))
    return [
        at_least("tiny jobs: submit to done", "jobs/s", submitted, 4200),
        reported("tiny jobs: a backlog done", "jobs/s", worked),
        reported("tiny jobs: submitted in batches of 100", "jobs/s", batched),
    ]


ENTRY = Entry(
    "tiny_jobs", run, "Jobs of one item", "Submitted by eight clients beside two workers; and a"
    " backlog of them, worked off by two.",
)  # fmt: skip
