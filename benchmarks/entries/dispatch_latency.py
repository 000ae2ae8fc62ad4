"""A one-item job and an idle worker: until its handler begins, and until the job has ended."""

from __future__ import annotations

import asyncio
import os
import time
from collections.abc import Sequence
from dataclasses import dataclass, field

from benchmarks.entry import Entry, Line, Scale, at_most, reported
from benchmarks.lab import Bench, Lab
from benchmarks.measure import percentile
from benchmarks.peers.marks import ENVIRONMENT, Marks

ABOUT = """\
One worker process that has nothing else to do, one job of one item at a time. From the commit of
the job to the begin of its handler, and to the end of the job, with its result and events."""

# The worker is idle and listening again; and our looking does not take its processor.
_PAUSE_S = 0.02
_LOOK_S = 0.0005


@dataclass
class Waits:
    """Milliseconds to the begin of the handler, from the call of submit and from its commit; and
    from the commit to the job's end."""

    from_call: list[float] = field(default_factory=list)
    from_commit: list[float] = field(default_factory=list)
    to_end: list[float] = field(default_factory=list)


async def dispatch(bench: Bench, samples: int) -> Waits:
    path = bench.lab.folder / "marks"
    marks, waits = Marks.create(path, samples), Waits()
    os.environ[ENVIRONMENT] = str(path)
    async with bench.workers(1):
        await asyncio.sleep(1)
        for number in range(samples):
            called = time.monotonic()
            job_id = await bench.submit("payload", {"marks": number})
            committed = time.monotonic()
            # The database is asked only afterwards, as for the other queues: it has work to do.
            while not marks.all_begun(number, number + 1):
                await asyncio.sleep(_LOOK_S)
            begun = marks.time_of(number)
            while await bench.state(job_id) != "done":
                await asyncio.sleep(_LOOK_S)
            waits.from_call.append((begun - called) * 1000)
            waits.from_commit.append((begun - committed) * 1000)
            waits.to_end.append((time.monotonic() - committed) * 1000)
            await asyncio.sleep(_PAUSE_S)
    return waits


async def run(lab: Lab, scale: Scale) -> Sequence[Line]:
    found = []
    for _ in range(scale.repetitions):
        async with lab.bench() as bench:
            found.append(await dispatch(bench, scale.of(100, 20)))
    lines = []
    for share, most in ((50, 6), (95, 12)):
        begins = [percentile(one.from_commit, share / 100) for one in found]
        ends = [percentile(one.to_end, share / 100) for one in found]
        lines.append(at_most(f"p{share} until the handler begins", "ms", begins, most))
        lines.append(reported(f"p{share} until the job has ended", "ms", ends))
    return lines


ENTRY = Entry("dispatch_latency", run, "An idle worker", ABOUT)
