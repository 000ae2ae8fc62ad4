"""A small job of one org, alone and beside another org's 200,000 items."""

from __future__ import annotations

import asyncio
import time
from collections.abc import Sequence
from dataclasses import replace
from uuid import UUID

from benchmarks.entry import Entry, Line, Scale, reported
from benchmarks.lab import Bench, Lab
from benchmarks.measure import Figures, percentile
from penstock.model.ticket import Ticket
from penstock.store.accounts import accounts
from penstock.store.accounts.accounts import Principal
from penstock.store.database import Connection

ABOUT = """\
Two worker processes; a job of 50 items, submitted again and again, first alone, then while another
org of the same plan has 200,000 items under way: items that take no time, and items that take a
millisecond each, one after the other. *Extra*: the time of the light job beside the heavy one, less
the median of the same alone. One slice: the median time for which the heavy org's slices were held,
looked at every 10 ms. The goal is that the light job waits at most one slice longer."""

_LIGHT = 50
_PAUSE_S = 0.1
_LOOK_S = 0.01
_SLICES = """
SELECT id, extract(epoch FROM now() - claimed_at) * 1000 AS age FROM slices WHERE org_id = $1
"""


async def second_org(bench: Bench) -> Bench:
    """The same engine, seen by another org."""
    async with bench.db.transaction() as conn:
        org = await accounts.ensure_org(conn, "light")
        user = await accounts.ensure_user(conn, org.id, "light@localhost", "member")
    who = Principal(user.id, org.id, "light@localhost", "member", "light", "standard")
    return replace(bench, who=who)


async def one_light_job(light: Bench, work_ms: float) -> float:
    """Milliseconds from submit to done."""
    began = time.monotonic()
    job_id = await light.submit("noop", {"items": _LIGHT, "workMs": work_ms})
    await light.runtime.broker.send(Ticket("any"))
    while await light.state(job_id) != "done":
        await asyncio.sleep(0.002)
    return (time.monotonic() - began) * 1000


async def light_jobs(light: Bench, work_ms: float, count: int, heavy: UUID | None) -> list[float]:
    """As many as asked, or as the heavy job gives time for."""
    found: list[float] = []
    while len(found) < count:
        took = await one_light_job(light, work_ms)
        if heavy is not None and await light.state(heavy) == "done":
            break
        found.append(took)
        await asyncio.sleep(_PAUSE_S)
    return found


async def watch_slices(conn: Connection, org_id: int, ages: dict[UUID, float]) -> None:
    while True:
        for row in await conn.fetch(_SLICES, org_id):
            ages[row["id"]] = float(row["age"])
        await asyncio.sleep(_LOOK_S)


async def beside(lab: Lab, work_ms: float, scale: Scale) -> list[Line]:
    count = scale.of(15, 5)
    ages: dict[UUID, float] = {}
    async with lab.bench() as bench:
        light = await second_org(bench)
        async with bench.workers(2):
            await light_jobs(light, work_ms, 2, None)
            alone = await light_jobs(light, work_ms, count, None)
            heavy = await bench.submit(
                "noop", {"items": scale.of(200_000, 50_000), "workMs": work_ms}
            )
            await bench.runtime.broker.send(Ticket("any"))
            while not await bench.done(heavy):
                await asyncio.sleep(_LOOK_S)
            conn = await bench.connect()
            watching = asyncio.create_task(watch_slices(conn, bench.who.org_id, ages))
            try:
                together = await light_jobs(light, work_ms, count, heavy)
            finally:
                watching.cancel()
                await asyncio.gather(watching, return_exceptions=True)
                await conn.close()
    name = f"items of {work_ms:g} ms"
    if not together:
        raise RuntimeError(f"{name}: the heavy job was done before a light one")
    base, one_slice = Figures(alone).median, percentile(ages.values(), 0.5)
    extra = [took - base for took in together]
    return [
        reported(f"{name}: alone", "ms", alone),
        reported(f"{name}: beside the heavy org", "ms", together),
        reported(f"{name}: one slice of the heavy org", "ms", [one_slice]),
        _judged(f"{name}: extra, median of {len(extra)}", Figures(extra).median, one_slice),
        _judged(f"{name}: extra, the worst", max(extra), one_slice),
    ]


def _judged(name: str, extra: float, one_slice: float) -> Line:
    return Line(
        name, "ms", Figures([extra]), Figures([one_slice]), "≤ one slice", extra <= one_slice,
        against="one slice",
    )  # fmt: skip


async def run(lab: Lab, scale: Scale) -> Sequence[Line]:
    return [*await beside(lab, 0, scale), *await beside(lab, 1, scale)]


ENTRY = Entry("light_beside_heavy", run, "A light org beside a heavy one", ABOUT)
