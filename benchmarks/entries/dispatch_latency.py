"""From the commit of a one-item job to its end, with an idle worker."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence

from benchmarks.entry import Entry, Line, Scale, at_most
from benchmarks.lab import Lab
from benchmarks.measure import percentile, timed

# The worker is idle and listening again; and our looking does not take its processor.
_PAUSE_S = 0.02
_LOOK_S = 0.0005


async def run(lab: Lab, scale: Scale) -> Sequence[Line]:
    count = scale.of(150, 40)
    p50, p95 = [], []
    for _ in range(scale.repetitions):
        async with lab.bench() as bench, bench.workers(1):
            await asyncio.sleep(1)
            found = []
            for _ in range(count):
                job_id = await bench.submit("payload", {"items": 1})
                async with timed() as clock:
                    await bench.parts.broker.wake("any")
                    while await bench.state(job_id) != "done":
                        await asyncio.sleep(_LOOK_S)
                found.append(clock.seconds * 1000)
                await asyncio.sleep(_PAUSE_S)
        p50.append(percentile(found, 0.5))
        p95.append(percentile(found, 0.95))
    return [at_most("dispatch p50", "ms", p50, 6), at_most("dispatch p95", "ms", p95, 12)]


ENTRY = Entry(
    "dispatch_latency", run, "An idle worker", "From the commit of a one-item job to its end,"
    " result and events included, with one worker process that has nothing else to do.",
)  # fmt: skip
