"""What more workers and cores give to the import of a file, and what its next version costs."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

import psutil

from benchmarks.entries.extraction import BOUNDS
from benchmarks.entries.ingest import submit_file
from benchmarks.entry import Entry, Line, Scale, reported, share_of
from benchmarks.lab import Bench, Lab
from benchmarks.measure import timed
from benchmarks.resident import family
from benchmarks.supplier_file import make_later_csv, make_supplier_csv

ABOUT = """\
The same file as in `extraction`, merged with one and with two workers. Processor time per row is
that of all processes. Reading the file and summing up are one process's work; all else is shared
by any number of workers. So the rows per second of more cores are estimated as rows ÷ (seconds of
reading and summing up + the rest of the processor time ÷ cores): an estimate, not a measurement.

A week later the supplier sends the list again: 90 % of its rows are as they were, 9 % have another
price, 1 % are new. The same file again is a check, submitted twice."""
_PATIENCE_S = 600.0
_LARGER = (4, 8)


@dataclass(frozen=True, slots=True)
class Course:
    """Seconds of one import: of all, of reading, of summing up, and of processors."""

    seconds: float
    reading: float
    ending: float
    server: float
    workers: float

    def estimate(self, rows: int, cores: int) -> float:
        """Rows per second on more cores."""
        alone = self.reading + self.ending
        shared = max(0.0, self.server + self.workers - alone)
        return rows / (alone + shared / cores)


async def course(bench: Bench, path: Path, workers: int, intent: str = "merge") -> Course:
    async with bench.workers(workers) as processes:
        await bench.lab.checkpoint()
        pids = [one.pid for one in processes]
        server, used = bench.lab.server_cpu(), _used(pids)
        read = ended = 0.0
        async with timed() as clock, asyncio.timeout(_PATIENCE_S):
            job_id = await submit_file(bench, path, {"intent": intent})
            while True:
                async with bench.db.acquire() as conn:
                    job = await conn.fetchrow(
                        "SELECT state, ingest_done, pending + processing AS open"
                        " FROM jobs WHERE id = $1",
                        job_id,
                    )
                assert job is not None
                if job["ingest_done"]:
                    read = read or clock.so_far
                    ended = ended or (0.0 if job["open"] else clock.so_far)
                if job["state"] not in ("queued", "running"):
                    break
                await asyncio.sleep(0.02)
        if job["state"] != "done":
            raise RuntimeError(f"job ended as {job['state']}")
        return Course(
            clock.seconds, read, clock.seconds - ended,
            bench.lab.server_cpu() - server, _used(pids) - used,
        )  # fmt: skip


def _used(pids: Sequence[int]) -> float:
    """Processor seconds of workers and the children they have now."""
    found = [one for pid in pids for one in family(psutil.Process(pid))]
    return float(sum(one.cpu_times().user + one.cpu_times().system for one in found))


async def run(lab: Lab, scale: Scale) -> Sequence[Line]:
    rows = scale.of(100_000, 5_000)
    path = await asyncio.to_thread(make_supplier_csv, lab.folder / "scaling.csv", rows)
    later = await asyncio.to_thread(make_later_csv, lab.folder / "later.csv", rows)
    one: list[Course] = []
    two: list[Course] = []
    again: list[float] = []
    checked: list[float] = []
    same: list[float] = []
    for _ in range(scale.of(scale.repetitions, 1)):
        async with lab.bench(**BOUNDS) as bench:
            one.append(await course(bench, path, 1))
        async with lab.bench(**BOUNDS) as bench:
            two.append(await course(bench, path, 2))
            again.append(rows / (await course(bench, later, 2)).seconds)
        async with lab.bench(**BOUNDS) as bench:
            checked.append(rows / (await course(bench, path, 2, "check")).seconds)
            same.append(rows / (await course(bench, path, 2, "check")).seconds)
    first = [rows / each.seconds for each in two]
    server = [1e6 * each.server / rows for each in two]
    workers = [1e6 * each.workers / rows for each in two]
    return [
        reported("rows per second, 1 worker", "rows/s", [rows / each.seconds for each in one]),
        reported("rows per second, 2 workers", "rows/s", first),
        reported("processor time per row: PostgreSQL", "µs", server),
        reported("processor time per row: workers and children", "µs", workers),
        reported("seconds of reading", "s", [each.reading for each in two]),
        reported("seconds of summing up", "s", [each.ending for each in two]),
        *(_estimate(two, rows, cores) for cores in _LARGER),
        share_of("the list a week later", "rows/s", again, first, 2, "first import"),
        share_of("the same file again", "rows/s", same, checked, 10, "first check"),
    ]


def _estimate(courses: Sequence[Course], rows: int, cores: int) -> Line:
    figures = [one.estimate(rows, cores) for one in courses]
    return reported(f"estimate for {cores} cores", "rows/s", figures)


ENTRY = Entry("extraction_scaling", run, "A supplier's file: more workers, and a week later", ABOUT)
