"""Eight workers on one job; the baseline locks the job's row first instead of last."""

from __future__ import annotations

from collections.abc import Sequence

from benchmarks.entry import Entry, Line, Scale
from benchmarks.lab import Lab
from benchmarks.measure import Figures
from benchmarks.one_job import OneJob, eight_workers


async def run(lab: Lab, scale: Scale) -> Sequence[Line]:
    items = scale.of(40_000, 5_000)
    last: list[OneJob] = []
    first: list[OneJob] = []
    for _ in range(scale.repetitions):
        for found, job_first in ((last, False), (first, True)):
            async with lab.bench() as bench:
                found.append(await eight_workers(bench, items, job_first=job_first))
    figures = {"rate": "items/s", "settle_p99": "ms", "claim_p99": "ms"}
    return [
        Line(
            f"one job, 8 workers: {name.replace('_', ' ')}",
            unit,
            Figures([getattr(one, name) for one in last]),
            Figures([getattr(one, name) for one in first]),
        )
        for name, unit in figures.items()
    ]


ENTRY = Entry(
    "one_job_8_workers", run, "Eight workers on one job", "They meet at the job's row. The baseline"
    " locks it before the items instead of after them.",
)  # fmt: skip
