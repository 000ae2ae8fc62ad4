"""Showing a job and a page of its items over HTTP, against bare routes with the same queries."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence

from benchmarks.entry import Entry, Line, Scale, reported, share_of
from benchmarks.installation import Http, bare_api, serving
from benchmarks.lab import Bench, Lab
from benchmarks.measure import percentile, timed
from penstock.store.accounts import accounts

ABOUT = """\
`GET /api/jobs/{id}` and a page of 100 items, `GET /api/jobs/{id}/items`, by 16 connections at once,
one API process. The baselines are FastAPI routes that make the same queries and answer as it comes:
no key, no org, no row-level security, no shape."""

_CLIENTS = 16
_ITEMS = 100


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
    lines: list[Line] = []
    async with lab.bench() as bench:
        job_id = await bench.submit("noop", {"items": _ITEMS})
        key = await key_of(bench)
        async with serving(bench) as api, bare_api(bench) as bare_url:
            for name, path, count in (
                ("show a job", f"/jobs/{job_id}", scale.of(5000, 500)),
                (f"{_ITEMS} items", f"/jobs/{job_id}/items?pageSize={_ITEMS}", scale.of(2000, 200)),
            ):
                ours: list[float] = []
                bare: list[float] = []
                p95: list[float] = []
                for _ in range(scale.repetitions):
                    rate, slow = await requests_per_second(api.url, f"/api{path}", key, count)
                    ours.append(rate)
                    p95.append(slow)
                    bare.append((await requests_per_second(bare_url, path, "", count))[0])
                lines += [
                    share_of(name, "/s", ours, bare, 0.5, "a bare route"),
                    reported(f"{name}: p95 of 16 at once", "ms", p95),
                ]
    return lines


ENTRY = Entry("api", run, "The API", ABOUT)
