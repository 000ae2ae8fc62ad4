"""Several workers on one job in one process: claim, settle, claim again. Run as a process.

``job_first`` locks the job's row before the items instead of after them, to compare.
"""

from __future__ import annotations

import asyncio
import json
import sys
from collections.abc import AsyncIterator, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from typing import Any
from uuid import UUID

import uvloop

from benchmarks.lab import Bench, limits_of, running
from benchmarks.measure import percentile, timed
from benchmarks.payload import BENCH_PIPELINES, make_result
from penstock.engine.claim import Claim, claim
from penstock.engine.run import ClaimOutcomes
from penstock.engine.runtime import Runtime
from penstock.engine.settle import settle
from penstock.model.outcomes import Done
from penstock.settings import Settings
from penstock.store import queries
from penstock.store.database import Connection, from_json
from penstock.store.jobs import slices
from penstock.store.jobs.claims import Served
from penstock.wiring import open_runtime

SLICE = 500
PROCESSES, TASKS = 2, 4


@dataclass
class Latencies:
    claims: list[float] = field(default_factory=list)
    settles: list[float] = field(default_factory=list)


@dataclass(frozen=True)
class OneJob:
    rate: float
    claim_p50: float
    claim_p99: float
    settle_p50: float
    settle_p99: float


async def eight_workers(bench: Bench, items: int, *, job_first: bool) -> OneJob:
    """Items per second and latencies in milliseconds."""
    await bench.items(items)
    await bench.execute("UPDATE jobs SET paused = false WHERE pending > 0")
    await bench.lab.checkpoint()
    found: list[dict[str, Any]] = []
    async with _processes(bench, job_first, found) as start:
        await start()
    claims = [one for part in found for one in part["claims"]]
    settles = [one for part in found for one in part["settles"]]
    seconds = max(part["seconds"] for part in found)
    return OneJob(
        items / seconds, percentile(claims, 0.5), percentile(claims, 0.99),
        percentile(settles, 0.5), percentile(settles, 0.99),
    )  # fmt: skip


@asynccontextmanager
async def _processes(
    bench: Bench, job_first: bool, found: list[dict[str, Any]]
) -> AsyncIterator[Any]:
    spec = json.dumps({
        "dsn": bench.lab.dsn, "job_first": job_first,
        "settings": bench.runtime.settings.model_dump(mode="json", exclude={"database_url"}),
    })  # fmt: skip
    async with running("benchmarks.one_job", spec, PROCESSES) as processes:

        async def go() -> None:
            for process in processes:
                assert process.stdin is not None
                process.stdin.write(b"go\n")
            for process in processes:
                assert process.stdout is not None
                found.append(json.loads(await process.stdout.read()))

        yield go


def lock_job_first() -> None:
    take, lock = slices.take, queries.load("settle").lock_jobs

    async def take_and_lock(conn: Connection, slice_ids: Sequence[UUID]) -> set[UUID]:
        jobs = await conn.fetch("SELECT job_id FROM slices WHERE id = ANY ($1)", list(slice_ids))
        held = await take(conn, slice_ids)
        await conn.fetch(lock, [row["job_id"] for row in jobs])
        return held

    slices.take = take_and_lock


async def _loop(runtime: Runtime, worker: str, found: Latencies) -> None:
    limits = limits_of(runtime, SLICE)
    while True:
        async with timed() as clock:
            claimed: Claim | None = await claim(runtime.db, worker, Served(), limits)
        if claimed is None:
            return
        found.claims.append(clock.seconds * 1000)
        results = [Done(make_result(from_json(row.input))) for row in claimed.items]
        async with timed() as clock:
            await settle(runtime, claimed, ClaimOutcomes([*results]), worker, 30)
        found.settles.append(clock.seconds * 1000)


async def _work(dsn: str, settings: Settings) -> None:
    async with open_runtime(
        settings, dsn, name="bench", listens=False, pipelines=BENCH_PIPELINES
    ) as runtime:
        found = Latencies()
        print("ready", flush=True)
        await asyncio.to_thread(sys.stdin.readline)
        async with timed() as clock:
            await asyncio.gather(*(_loop(runtime, f"task {n}", found) for n in range(TASKS)))
        print(json.dumps({
            "claims": found.claims, "settles": found.settles, "seconds": clock.seconds,
        }))  # fmt: skip


def main() -> None:
    spec = json.loads(sys.argv[1])
    if spec["job_first"]:
        lock_job_first()
    uvloop.run(_work(spec["dsn"], Settings(**spec["settings"])))


if __name__ == "__main__":
    main()
