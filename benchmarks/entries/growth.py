"""Time per item of jobs of 10,000, 100,000 and a million items: it should not grow."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import pairwise

from benchmarks.entry import Entry, Line, Scale, reported, within
from benchmarks.lab import Lab
from benchmarks.measure import timed

ABOUT = """\
One job of the fixed payload (400 bytes in, 600 bytes of result). First it is read in by one
process, then worked off by two worker processes; nothing is vacuumed or analysed by hand in
between. The baseline is the job a tenth of the size: an item may cost at most 15 % more in ten
times as many. (In small jobs it costs more, since each pays for its start.)"""


async def once(lab: Lab, items: int) -> tuple[float, float]:
    """Microseconds per item of the ingest, and of the work."""
    async with lab.bench() as bench:
        job_id = await bench.submit("payload", {"items": items})
        await lab.checkpoint()
        async with timed() as ingest:
            await bench.ingest(job_id)
        await bench.execute("UPDATE jobs SET paused = true WHERE id = $1", job_id)
        async with bench.workers(2), timed() as work:
            await bench.resume(job_id)
            await bench.until_done(job_id)
    return ingest.seconds / items * 1e6, work.seconds / items * 1e6


async def run(lab: Lab, scale: Scale) -> Sequence[Line]:
    sizes = (2_000, 10_000, 20_000) if scale.quick else (10_000, 100_000, 1_000_000)
    found: dict[str, dict[int, list[float]]] = {
        name: {size: [] for size in sizes} for name in ("ingest", "work")
    }
    for _ in range(scale.of(2, 1)):
        for size in sizes:
            for name, value in zip(found, await once(lab, size), strict=True):
                found[name][size].append(value)
    lines = []
    for name, by_size in found.items():
        lines.append(reported(f"{name}, {sizes[0]:,} items", "µs/item", by_size[sizes[0]]))
        lines += [
            within(f"{name}, {size:,} items", "µs/item", by_size[size], by_size[smaller], 1.15)
            for smaller, size in pairwise(sizes)
        ]
    return lines


ENTRY = Entry("growth", run, "Growth", ABOUT)
