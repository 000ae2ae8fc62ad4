"""Items through the whole engine, against the least a loop on PostgreSQL must do."""

from __future__ import annotations

from collections.abc import Sequence

from benchmarks.bare import bare_processes, fill
from benchmarks.entry import Entry, Line, Scale, share_of
from benchmarks.lab import Lab
from benchmarks.measure import timed


async def ours(lab: Lab, items: int, processes: int) -> float:
    async with lab.bench() as bench:
        job_id = await bench.items(items)
        async with bench.workers(processes):
            await lab.checkpoint()
            async with timed() as clock:
                await bench.resume(job_id)
                await bench.until_done(job_id)
    return items / clock.seconds


async def bare(lab: Lab, items: int, processes: int) -> float:
    async with lab.bench() as bench:
        await fill(bench, items)
        await lab.checkpoint()
        async with bare_processes(bench, processes) as work, timed() as clock:
            await work()
    return items / clock.seconds


async def run(lab: Lab, scale: Scale) -> Sequence[Line]:
    items = scale.of(100_000, 10_000)
    lines = []
    for processes in (1, 2):
        found: tuple[list[float], list[float]] = ([], [])
        for _ in range(scale.repetitions):
            found[0].append(await ours(lab, items, processes))
            found[1].append(await bare(lab, items, processes))
        name = f"noop: {processes} process{'es' * (processes > 1)}"
        lines.append(share_of(name, "items/s", *found, 0.6))
    return lines


ENTRY = Entry(
    "noop", run, "Items per second, against the limit", "All of the engine on: result, counters,"
    " events, fence, fairness. The baseline is the least a Python loop on PostgreSQL must do: claim"
    " 500 rows, read the input, write the result.",
)  # fmt: skip
