"""Showing a job over HTTP, against a bare route with the same query."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence

from benchmarks.entry import Entry, Line, Scale, reported, share_of
from benchmarks.installation import Http, bare_api, serving
from benchmarks.lab import Bench, Lab
from benchmarks.measure import percentile, timed
from penstock.store import accounts

ABOUT = """\
`GET /api/jobs/{id}` by 16 connections at once, one API process. The baseline is a FastAPI route
that makes the same query and answers it as it comes: no key, no org, no row-level security, no
shape."""

_CLIENTS = 16


async def requests_per_second(url: str, path: str, key: str, count: int) -> tuple[float, float]:
    """… and the 95th percentile of a request in milliseconds."""
    times: list[float] = []
    numbers = iter(range(count))

    async def client() -> None:
        http = Http(url)
        try:
            for _ in numbers:
                async with timed() as clock:
                    status, body = await http.get(path, key)
                if status != 200:
                    raise RuntimeError(f"{status}: {body[:300]!r}")
                times.append(clock.seconds * 1000)
        finally:
            await http.close()

    async with timed() as clock:
        await asyncio.gather(*(client() for _ in range(_CLIENTS)))
    return count / clock.seconds, percentile(times, 0.95)


async def key_of(bench: Bench) -> str:
    async with bench.db.transaction() as conn:
        return await accounts.create_key(conn, bench.who.org_id, bench.who.user_id)


async def run(lab: Lab, scale: Scale) -> Sequence[Line]:
    count = scale.of(5000, 500)
    ours: list[float] = []
    bare: list[float] = []
    p95: list[float] = []
    async with lab.bench() as bench:
        job_id = await bench.submit("noop", {"items": 10})
        key = await key_of(bench)
        async with serving(bench) as api, bare_api(bench) as bare_url:
            for _ in range(scale.repetitions):
                rate, slow = await requests_per_second(api.url, f"/api/jobs/{job_id}", key, count)
                ours.append(rate)
                p95.append(slow)
                bare.append((await requests_per_second(bare_url, f"/jobs/{job_id}", "", count))[0])
    return [
        share_of("show a job", "/s", ours, bare, 0.5, "a bare route"),
        reported("show a job: p95 of 16 at once", "ms", p95),
    ]


ENTRY = Entry("api", run, "The API", ABOUT)
