"""Jobs of one item: submitted by eight clients beside two workers, and a backlog of them."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence

from benchmarks.entry import Entry, Line, Scale
from benchmarks.lab import Bench, Lab
from benchmarks.measure import Figures, timed

_CLIENTS = 8
_OPEN = "SELECT 1 FROM jobs WHERE state IN ('queued', 'running') AND NOT paused LIMIT 1"


async def submit_all(bench: Bench, count: int, *, wake: bool) -> None:
    numbers = iter(range(count))

    async def client() -> None:
        for _ in numbers:
            await bench.submit("payload", {"items": 1})
            if wake:
                await bench.parts.broker.wake("any")

    await asyncio.gather(*(client() for _ in range(_CLIENTS)))


async def until_idle(bench: Bench) -> None:
    async with bench.db.acquire() as conn:
        while await conn.fetchval(_OPEN) is not None:
            await asyncio.sleep(0.01)


async def run(lab: Lab, scale: Scale) -> Sequence[Line]:
    count = scale.of(3000, 300)
    live: list[float] = []
    backlog: list[float] = []
    for _ in range(scale.repetitions):
        async with lab.bench() as bench:
            async with bench.workers(2), timed() as clock:
                await submit_all(bench, count, wake=True)
                await until_idle(bench)
            live.append(count / clock.seconds)
            await submit_all(bench, count, wake=False)
            await bench.execute("UPDATE jobs SET paused = true WHERE state = 'queued'")
            async with bench.workers(2):
                await lab.checkpoint()
                async with timed() as clock:
                    await bench.execute("UPDATE jobs SET paused = false WHERE paused")
                    await bench.parts.broker.wake("any")
                    await until_idle(bench)
            backlog.append(count / clock.seconds)
    return [
        Line("tiny jobs: submit to done", "jobs/s", Figures(live)),
        Line("tiny jobs: a backlog done", "jobs/s", Figures(backlog)),
    ]


ENTRY = Entry("tiny_jobs", run)
