"""A million pending items, and a million done: claims of 100, and pages of 100."""

from __future__ import annotations

from collections.abc import Sequence
from uuid import UUID

from benchmarks.entry import Entry, Line, Scale, at_most, within
from benchmarks.lab import Bench, Lab, limits_of
from benchmarks.measure import percentile, timed
from benchmarks.pages import Walk
from penstock.engine.claim import claim
from penstock.engine.run import ClaimOutcomes
from penstock.engine.settle import settle
from penstock.model.outcomes import Done
from penstock.store.jobs.claims import Served

ABOUT = """\
Claims take slices of 100 from a backlog of a million; then all of it is finished, in pieces of
10,000 as work would, and they take from a new job beside it. Pages hold 100 items: the Pending tab
(what waits and runs, longest untouched first) and the grid in row order, at five places from the
first page to the last, by cursors as the API gives them out. Each is measured over HTTP, from a
real API process, and as the bare query, both under the API's role with row-level security. Nothing
is vacuumed or analysed by hand."""

_SLICE = 100
_PIECE = 10_000
_FILL = """
INSERT INTO job_items (job_id, row_no, org_id, user_id, job_type, input)
SELECT $1, g, $2, $3, 'noop', jsonb_build_object('row', g, 'payload', repeat('x', 360))
FROM generate_series($4::integer, $5::integer) AS g
"""
_COUNT = """
UPDATE jobs SET total = $2, pending = $2 - done - error WHERE id = $1
"""
_READY = """
UPDATE job_stages s SET pending = j.pending, open = j.pending, ready_at = now()
FROM jobs j WHERE j.id = s.job_id AND s.job_id = $1 AND s.position = 0
"""
_FINISH = """
UPDATE job_items SET status = 'DONE', result = input, updated_at = now()
WHERE job_id = $1 AND status = 'PENDING' AND row_no BETWEEN $2 AND $3
"""
_FINISHED = """
UPDATE jobs SET done = total, pending = 0, state = 'done', finished_at = now(),
    ready_at = 'infinity' WHERE id = $1
"""


async def backlog(bench: Bench, items: int) -> UUID:
    """A job with so many pending items, written straight into the tables: it is quicker."""
    job_id = await bench.submit("noop", {"items": 1, "payloadBytes": 360})
    who = bench.who
    conn = await bench.connect()
    try:
        for first in range(2, items + 1, _PIECE):
            last = min(first + _PIECE - 1, items)
            await conn.execute(_FILL, job_id, who.org_id, who.user_id, first, last)
        await conn.execute(_COUNT, job_id, items)
        await conn.execute(_READY, job_id)
    finally:
        await conn.close()
    return job_id


async def finish_all(bench: Bench, job_id: UUID, items: int) -> None:
    """Every item gets its result, as work would have given it."""
    conn = await bench.connect()
    try:
        for first in range(1, items + 1, _PIECE):
            await conn.execute(_FINISH, job_id, first, first + _PIECE - 1)
        await conn.execute(_FINISHED, job_id)
    finally:
        await conn.close()


async def claims(bench: Bench, count: int) -> list[float]:
    """Milliseconds of each of ``count`` claims; what was claimed is settled in between."""
    limits = limits_of(bench.runtime, _SLICE)
    found = []
    for _ in range(count):
        async with timed() as clock:
            claimed = await claim(bench.db, "bench", Served(), limits)
        if claimed is None:
            raise RuntimeError("nothing was there to claim")
        found.append(clock.seconds * 1000)
        done = ClaimOutcomes([Done({"sku": "x"}) for _ in claimed.items])
        await settle(bench.runtime, claimed, done, "bench", 30)
    return found


async def run(lab: Lab, scale: Scale) -> Sequence[Line]:
    items, count = scale.of(1_000_000, 30_000), scale.of(200, 30)
    taken = (scale.repetitions * count + 10) * _SLICE
    lines: list[Line] = []
    async with lab.bench() as bench:
        job_id = await backlog(bench, items)
        lines += await Walk(bench, job_id, 1, items, f"{items:,} pending").lines(
            ("Pending tab", "grid"), scale
        )
        await claims(bench, 10)
        before = [await claims(bench, count) for _ in range(scale.repetitions)]
        await finish_all(bench, job_id, items)
        new_job = await backlog(bench, 2 * taken)
        lines += await Walk(bench, new_job, 1, 2 * taken, f"after {items:,} done").lines(
            ("Pending tab",), scale
        )
        lines += await Walk(bench, job_id, 1, items, f"{items:,} done").lines(("grid",), scale)
        await claims(bench, 10)
        after = [await claims(bench, count) for _ in range(scale.repetitions)]
    for name, found in ((f"{items:,} pending", before), (f"after {items:,} done", after)):
        p99 = [percentile(one, 0.99) for one in found]
        lines.append(at_most(f"claim p99, {name}", "ms", p99, 20))
    now, then = ([percentile(one, 0.5) for one in found] for found in (after, before))
    return [*lines, within("claim p50, after against before", "ms", now, then, 1.5)]


ENTRY = Entry("million", run, "A million items", ABOUT)
