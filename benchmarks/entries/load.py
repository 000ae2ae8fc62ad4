"""A thousand jobs of a hundred orgs at once, over HTTP, on a real installation."""

from __future__ import annotations

import asyncio
import time
from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path

import orjson

from benchmarks.entry import Entry, Line, Scale, at_least, at_most, reported
from benchmarks.installation import Http, Installation, new_org, up
from benchmarks.lab import Lab
from benchmarks.measure import jain, percentile

ABOUT = """\
`penstock up` with two workers and a database of its own. 32 clients, each with one connection,
submit jobs of 50 items as fast as they can, the orgs in turn, all of the same plan; then they ask
for their jobs (`GET /api/jobs/{id}`) five times a second until all are done. An item waits for
20 ms, as for a provider, ten of a slice at a time. *Job time*: from the request to the job's end.

Jain's index over orgs, (Σx)² ÷ (n · Σx²), is 1 when all x are equal and 1/n when one org has all.
x is the service an org has received by half-time: its items done when half of all items were done,
by weight (here all alike). The same over the orgs' mean job times stands beside it."""

_CLIENTS = 32
_ITEMS = 50
_LOOK_S = 0.2
_PATIENCE_S = 300.0
_CONFIG = {"items": _ITEMS, "workMs": 20, "concurrency": 10}
_ENDS = """
SELECT id::text, org_id, extract(epoch FROM finished_at)::float8 AS at
FROM jobs WHERE state = 'done' AND pipeline = 'noop'
"""
# Items get their last time when they are settled.
_HALF_TIME = """
WITH finished AS (
    SELECT org_id, row_number() OVER (ORDER BY updated_at) AS place
    FROM job_items WHERE status = 'DONE'
)
SELECT org_id, count(*) FROM finished
WHERE place <= (SELECT count(*) / 2 FROM finished) GROUP BY org_id
"""


@dataclass
class Seen:
    """What the clients saw."""

    requests: list[float] = field(default_factory=list)
    submitted: dict[str, float] = field(default_factory=dict)
    began: float = field(default_factory=time.monotonic)
    submitted_s: float = 0.0
    done_s: float = 0.0


async def client(
    seen: Seen, url: str, orders: Sequence[str], all_submitted: asyncio.Barrier
) -> None:
    """Submit one job for each key, then look until they are done."""
    http = Http(url)
    mine: list[tuple[str, str]] = []

    async def asked(answer: tuple[int, bytes], began: float, expected: int) -> bytes:
        seen.requests.append((time.perf_counter() - began) * 1000)
        if answer[0] != expected:
            raise RuntimeError(f"{answer[0]}: {answer[1][:300]!r}")
        return answer[1]

    try:
        for key in orders:
            at, began = time.time(), time.perf_counter()
            order = {"pipeline": "noop", "config": _CONFIG}
            body = await asked(await http.post("/api/jobs", key, order), began, 202)
            job_id = orjson.loads(body)["jobId"]
            seen.submitted[job_id] = at
            mine.append((job_id, key))
        await all_submitted.wait()
        seen.submitted_s = time.monotonic() - seen.began
        while mine:
            job_id, key = mine[-1]
            began = time.perf_counter()
            body = await asked(await http.get(f"/api/jobs/{job_id}", key), began, 200)
            if orjson.loads(body)["state"] == "done":
                mine.pop()
            else:
                await asyncio.sleep(_LOOK_S)
    finally:
        await http.close()
    seen.done_s = time.monotonic() - seen.began


async def submit_and_wait(installation: Installation, keys: Sequence[str], jobs: int) -> Seen:
    orders = [keys[number % len(keys)] for number in range(jobs)]
    seen, barrier = Seen(), asyncio.Barrier(_CLIENTS)
    async with asyncio.timeout(_PATIENCE_S), asyncio.TaskGroup() as clients:
        for number in range(_CLIENTS):
            clients.create_task(client(seen, installation.url, orders[number::_CLIENTS], barrier))
    return seen


async def once(data_dir: Path, jobs: int, orgs: int) -> dict[str, float]:
    async with up(data_dir, workers=2) as installation, installation.database() as db:
        keys = [(await new_org(db, f"org-{number}"))[1] for number in range(orgs)]
        seen = await submit_and_wait(installation, keys, jobs)
        async with db.acquire() as conn:
            ends = await conn.fetch(_ENDS)
            half_time = [row["count"] for row in await conn.fetch(_HALF_TIME)]
    times = [row["at"] - seen.submitted[row["id"]] for row in ends]
    by_org: dict[int, list[float]] = {}
    for row, took in zip(ends, times, strict=True):
        by_org.setdefault(row["org_id"], []).append(took)
    means = [sum(found) / len(found) for found in by_org.values()]
    served = [*half_time, *[0] * (orgs - len(half_time))]
    return {
        "done": len(ends),
        "p50": percentile(times, 0.5),
        "p95": percentile(times, 0.95),
        "longest": max(times),
        "by half-time": jain(served),
        "job times": jain(means),
        "submitted": jobs / seen.submitted_s,
        "requests": len(seen.requests) / seen.done_s,
        "request p95": percentile(seen.requests, 0.95),
        "slowest": max(seen.requests),
    }


async def run(lab: Lab, scale: Scale) -> Sequence[Line]:
    jobs, orgs = scale.of(1000, 120), scale.of(100, 12)
    found = [
        await once(lab.folder / f"load-{number}", jobs, orgs)
        for number in range(scale.of(scale.repetitions, 1))
    ]
    values = {name: [one[name] for one in found] for name in found[0]}
    return [
        at_least(f"jobs done, of {jobs:,}", "jobs", values["done"], jobs),
        reported("job time p50", "s", values["p50"]),
        at_most("job time p95", "s", values["p95"], 60),
        reported("job time, the longest", "s", values["longest"]),
        at_least("Jain's index: items by half-time", "", values["by half-time"], 0.95),
        at_least("Jain's index: mean job times", "", values["job times"], 0.95),
        reported("jobs submitted", "/s", values["submitted"]),
        reported("requests", "/s", values["requests"]),
        reported("request p95", "ms", values["request p95"]),
        at_most("request, the slowest", "ms", values["slowest"], 1000),
    ]


ENTRY = Entry("load", run, "A thousand jobs at once", ABOUT)
