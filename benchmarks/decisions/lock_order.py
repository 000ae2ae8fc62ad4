"""Eight workers on one job: the job's row locked after the items, or before them."""

from __future__ import annotations

import argparse
import asyncio

from benchmarks.lab import open_lab
from benchmarks.measure import Figures, Table, show
from benchmarks.one_job import OneJob, eight_workers


async def main(items: int, repetitions: int) -> None:
    found: dict[str, list[OneJob]] = {"job locked last (now)": [], "job locked first": []}
    async with open_lab() as lab:
        for _ in range(repetitions):
            for name, values in found.items():
                async with lab.bench() as bench:
                    values.append(await eight_workers(bench, items, job_first="first" in name))
    columns = (
        "how", "items/s", "spread", "settle p50 ms", "settle p99 ms", "claim p50 ms",
        "claim p99 ms",
    )  # fmt: skip
    table = Table(f"One job of {items:,} items, 8 workers, slices of 500", columns)
    for name, values in found.items():
        rate = Figures([one.rate for one in values])
        latencies = ("settle_p50", "settle_p99", "claim_p50", "claim_p99")
        medians = [Figures([getattr(one, key) for one in values]).median for key in latencies]
        table.add(name, rate.median, rate.spread, *medians)
    show([table])


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--items", type=int, default=60_000)
    parser.add_argument("--repetitions", type=int, default=5)
    asked = parser.parse_args()
    asyncio.run(main(asked.items, asked.repetitions))
