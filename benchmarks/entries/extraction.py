"""A supplier's file from the request to the end of its job, beside the script one would write."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any
from uuid import UUID

from benchmarks.entries.ingest import submit_file
from benchmarks.entry import (
    Entry,
    Line,
    Scale,
    at_least,
    at_most,
    not_measured,
    reported,
    share_of,
)
from benchmarks.lab import Bench, Lab
from benchmarks.measure import timed
from benchmarks.peer_lab import NotMeasured
from benchmarks.resident import Peak, watched
from benchmarks.supplier_file import make_supplier_csv, make_supplier_xlsx
from benchmarks.supplier_script import run_script

ABOUT = """\
A messy German price list of 15 columns (decimal commas, signs of money, HTML, double articles,
wrong check digits, prices on request). Two worker processes, from the request to the end of the
job: rows stored, columns understood, cells normalised with where each value came from, duplicates
found, compared with the catalog, products written with before-images, summary made. Beside it, in
the same run and on the same server, a script of pandas, pydantic and asyncpg's `executemany` that
is told what Penstock finds out, keeps no rows and begins anew after a crash
(`benchmarks/peers/supplier_script.py`). Memory is the most that any one process holds, children
included; PostgreSQL's own are not counted."""
_PROCESSES = 2
_GOAL_ROWS = {"csv": 10_000, "xlsx": 8_000}
_MAKE: dict[str, Callable[[Path, int], Path]] = {
    "csv": make_supplier_csv,
    "xlsx": make_supplier_xlsx,
}


async def one_job(lab: Lab, path: Path, intent: str, **settings: Any) -> tuple[float, Peak, Any]:
    """Seconds, memory and summary of one job of a fresh installation."""
    async with lab.bench(**settings) as bench, bench.workers(_PROCESSES) as workers:
        await lab.checkpoint()
        async with watched([worker.pid for worker in workers]) as peak, timed() as clock:
            job_id = await submit_file(bench, path, {"intent": intent})
            await bench.until_done(job_id)
        return clock.seconds, peak, await _summary(bench, job_id)


async def _summary(bench: Bench, job_id: UUID) -> Any:
    async with bench.db.acquire() as conn:
        return await conn.fetchrow("SELECT total, done, error FROM jobs WHERE id = $1", job_id)


async def of_kind(lab: Lab, scale: Scale, kind: str, rows: int) -> list[Line]:
    path = await asyncio.to_thread(_MAKE[kind], lab.folder / f"supplier-{rows}.{kind}", rows)
    merged: list[float] = []
    checked: list[float] = []
    peaks: list[float] = []
    script: list[float] = []
    script_mb: list[float] = []
    why = ""
    for _ in range(scale.of(scale.repetitions, 1)):
        seconds, peak, _ = await one_job(lab, path, "merge")
        merged.append(rows / seconds)
        peaks.append(peak.one)
        checked.append(rows / (await one_job(lab, path, "check"))[0])
        try:
            found = await run_script(lab, path)
            script.append(rows / found["seconds"])
            script_mb.append(found["peak_mb"])
        except NotMeasured as error:
            why = str(error)
    name = f"{kind.upper()}, {rows:,} rows"
    if not script:
        return [at_least(f"{name}, merge", "rows/s", merged, _GOAL_ROWS[kind]),
                not_measured(f"{name}: the script", why)]  # fmt: skip
    return [
        share_of(f"{name}, merge", "rows/s", merged, script, 2, "script"),
        share_of(f"{name}, check", "rows/s", checked, script, 2, "script"),
        at_least(f"{name}, merge: rows per second", "rows/s", merged, _GOAL_ROWS[kind]),
        at_most(f"{name}: memory of the largest process", "MB", peaks, 200),
        reported(f"{name}: memory of the script", "MB", script_mb),
    ]


async def run(lab: Lab, scale: Scale) -> Sequence[Line]:
    rows = scale.of(100_000, 5_000)
    return [line for kind in _MAKE for line in await of_kind(lab, scale, kind, rows)]


ENTRY = Entry("extraction", run, "A supplier's file to products", ABOUT)
