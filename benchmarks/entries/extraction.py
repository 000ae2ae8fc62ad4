"""A supplier's file from the request to the end of its job, beside the script one would write."""

from __future__ import annotations

import asyncio
import os
from collections.abc import Callable, Sequence
from dataclasses import replace
from pathlib import Path
from uuid import UUID

import psutil

from benchmarks.entries.ingest import keep_file, submit_file
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
from benchmarks.measure import percentile, timed
from benchmarks.peer_lab import NotMeasured
from benchmarks.resident import MEGABYTE, Peak, watched
from benchmarks.supplier_file import make_supplier_csv, make_supplier_xlsx
from benchmarks.supplier_script import run_script
from penstock.app.exports import ExportFilter, export_pieces
from penstock.app.preview import prepare_preview, preview
from penstock.engine.context import StopSign, stage_context
from penstock.engine.result_cache import key_of, look_up
from penstock.engine.submit import Order
from penstock.formats.writing.text_formats import CsvWriter
from penstock.formats.writing.xlsx import XlsxWriter
from penstock.store.jobs import claims, jobs

ABOUT = """\
A messy German price list of 15 columns (decimal commas, signs of money, HTML, double articles,
wrong check digits, prices on request). Two worker processes, from the request to the end of the
job: rows stored, columns understood, cells normalised with where each value came from, duplicates
found, compared with the catalog, products written with before-images, summary made. Beside it, in
the same run and on the same server, a script of pandas, pydantic and `executemany` that is told
what Penstock finds out, keeps no rows and begins again after a crash
(`benchmarks/peers/supplier_script.py`): with psycopg2, as most scripts are written, and with
asyncpg, the fastest there is. Memory is the most that any one process holds, children
included; PostgreSQL's own are not counted."""
_PROCESSES = 2
_DRIVERS = ("psycopg2", "asyncpg")
_GOAL_ROWS = {"csv": 10_000, "xlsx": 8_000}
# No bound on the file but the memory that is measured.
BOUNDS = {"max_file_bytes": 2**33, "max_inflated_bytes": 2**34, "max_cells": 10**8}
MAKE: dict[str, Callable[[Path, int], Path]] = {
    "csv": make_supplier_csv,
    "xlsx": make_supplier_xlsx,
}


async def one_job(lab: Lab, path: Path, intent: str, patience: float = 600) -> tuple[float, Peak]:
    """Seconds and memory of one job of a fresh installation."""
    async with lab.bench(**BOUNDS) as bench:
        seconds, peak, _ = await worked(bench, path, intent, patience)
        return seconds, peak


async def worked(
    bench: Bench, path: Path, intent: str, patience: float = 600
) -> tuple[float, Peak, UUID]:
    async with bench.workers(_PROCESSES) as workers:
        await bench.lab.checkpoint()
        async with watched([worker.pid for worker in workers]) as peak, timed() as clock:
            job_id = await submit_file(bench, path, {"intent": intent})
            await bench.until_done(job_id, patience)
    return clock.seconds, peak, job_id


async def of_kind(lab: Lab, scale: Scale, kind: str, rows: int) -> list[Line]:
    path = await asyncio.to_thread(MAKE[kind], lab.folder / f"supplier-{rows}.{kind}", rows)
    merged: list[float] = []
    checked: list[float] = []
    peaks: list[float] = []
    script: dict[str, list[float]] = {driver: [] for driver in _DRIVERS}
    script_mb: list[float] = []
    why = ""
    for _ in range(scale.of(scale.repetitions, 1)):
        seconds, peak = await one_job(lab, path, "merge")
        merged.append(rows / seconds)
        peaks.append(peak.one)
        checked.append(rows / (await one_job(lab, path, "check"))[0])
        try:
            for driver, rates in script.items():
                found = await run_script(lab, path, driver)
                rates.append(rows / found["seconds"])
            script_mb.append(found["peak_mb"])
        except NotMeasured as error:
            why = str(error)
    name = f"{kind.upper()}, {rows:,} rows"
    speed = at_least(f"{name}, merge: rows per second", "rows/s", merged, _GOAL_ROWS[kind])
    memory = at_most(f"{name}: memory of the largest process", "MB", peaks, 200)
    if why:
        return [speed, memory, not_measured(f"{name}: the script", why)]
    beside = [
        share_of(f"{name}, {intent}, {driver}", "rows/s", ours, rates, 2, f"script, {driver}")
        for driver, rates in script.items()
        for intent, ours in (("merge", merged), ("check", checked))
    ]
    return [*beside, speed, memory, reported(f"{name}: memory of the script", "MB", script_mb)]


async def run(lab: Lab, scale: Scale) -> Sequence[Line]:
    rows = scale.of(100_000, 5_000)
    lines = [line for kind in MAKE for line in await of_kind(lab, scale, kind, rows)]
    return [*lines, *await exports(lab, scale, rows), *await previews(lab, scale, rows)]


async def exports(lab: Lab, scale: Scale, rows: int) -> list[Line]:
    """Of a job that is done; and the same file once more, which is not normalised again."""
    found: dict[str, list[float]] = {"csv": [], "xlsx": [], "memory": []}
    path = lab.folder / f"supplier-{rows}.csv"
    async with lab.bench() as bench:
        first, _, job_id = await worked(bench, path, "check")
        again, _, _ = await worked(bench, path, "check")
        waits = await lookups(bench, job_id, scale.of(50, 10))
        async with bench.db.acquire() as conn:
            job = await jobs.get_job(conn, job_id)
        assert job is not None
        for kind in (CsvWriter, XlsxWriter):
            for _ in range(scale.of(scale.repetitions, 1)):
                before = psutil.Process().memory_info().rss / MEGABYTE
                async with watched([os.getpid()]) as peak, timed() as clock:
                    async for _piece in export_pieces(
                        bench.runtime, bench.db.acquire, job, ExportFilter(), kind
                    ):
                        pass
                found[kind.extension].append(rows / clock.seconds)
                found["memory"].append(max(0.0, peak.one - before))
    return [
        at_least(f"export of {rows:,} rows as CSV", "rows/s", found["csv"], 100_000),
        at_least(f"export of {rows:,} rows as XLSX", "rows/s", found["xlsx"], 30_000),
        at_most("memory that an export takes", "MB", found["memory"], 50),
        at_least("check of the same file again: times as fast", "×", [first / again], 10),
        at_most("lookup of cached results, in memory: p95", "ms", [waits[0]], 10),
        at_most("lookup of cached results, in the database: p95", "ms", [waits[1]], 10),
    ]


async def lookups(bench: Bench, job_id: UUID, count: int) -> tuple[float, float]:
    """How long it takes to know that results can be used again."""
    runtime, pipeline = bench.runtime, bench.runtime.pipeline("extraction")
    async with bench.db.acquire() as conn:
        [row] = await claims.load_jobs(conn, [job_id])
    job = replace(runtime.job(row), header=None, context={})
    ctx = stage_context(runtime, StopSign(), 600, runtime.log)
    waits: tuple[list[float], list[float]] = ([], [])
    for number in range(2 * count):
        if number % 2:
            key = key_of(pipeline, job)
            assert key is not None
            runtime.lookup_cache.forget(key)
        async with timed() as clock:
            found = await look_up(runtime, pipeline, job, ctx)
        if found is None:
            raise RuntimeError("nothing was found of a file that was worked through")
        if number:
            waits[number % 2].append(clock.seconds * 1000)
    return percentile(waits[0], 0.95), percentile(waits[1], 0.95)


async def previews(lab: Lab, scale: Scale, rows: int) -> list[Line]:
    large = make_supplier_csv(lab.folder / "preview.csv", scale.of(420_000, 20_000))
    megabytes = large.stat().st_size / MEGABYTE
    seconds: dict[str, list[float]] = {"csv": [], "xlsx": []}
    async with lab.bench(**BOUNDS) as bench:
        for kind, path in (("csv", large), ("xlsx", lab.folder / f"supplier-{rows}.xlsx")):
            file_id = await keep_file(bench, path)
            for _ in range(scale.of(scale.repetitions, 1)):
                async with timed() as clock, bench.db.acquire() as conn:
                    order = Order("extraction", {}, file_id=file_id)
                    job = await prepare_preview(bench.runtime, conn, bench.who, order)
                    await preview(bench.runtime, job)
                seconds[kind].append(clock.seconds)
    return [
        at_most(f"preview of a CSV of {megabytes:.0f} MB", "s", seconds["csv"], 2),
        at_most(f"preview of an XLSX of {rows:,} rows", "s", seconds["xlsx"], 4),
    ]


ENTRY = Entry("extraction", run, "A supplier's file to products", ABOUT)
