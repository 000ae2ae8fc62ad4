"""Claims of 100 items: from a backlog of a million, and from a small one after a million done."""

from __future__ import annotations

from collections.abc import Sequence
from uuid import UUID

from benchmarks.entry import Entry, Line, Scale, at_most
from benchmarks.lab import Bench, Lab, limits_of
from benchmarks.measure import Figures, percentile, timed
from penstock.engine.claim import claim
from penstock.engine.run import Worked
from penstock.engine.settle import settle
from penstock.model.outcomes import Done
from penstock.store.claims import Served

_SLICE = 100
_FILL = """
INSERT INTO job_items (job_id, row_no, org_id, user_id, job_type, input)
SELECT $1, g, $2, $3, 'payload', jsonb_build_object('sku', 'SKU-' || g, 'text', repeat('x', 360))
FROM generate_series($4::integer, $5::integer) AS g
"""
_COUNT = """
UPDATE jobs SET total = $2, pending = $2 - done - error WHERE id = $1
"""
_READY = """
UPDATE job_stages s SET pending = j.pending, open = j.pending, ready_at = now()
FROM jobs j WHERE j.id = s.job_id AND s.job_id = $1 AND s.position = 0
"""


async def backlog(bench: Bench, items: int) -> UUID:
    """A job with so many pending items, written straight into the tables: it is quicker."""
    job_id = await bench.submit("payload", {"items": 1})
    who = bench.who
    await bench.execute(_FILL, job_id, who.org_id, who.user_id, 2, items)
    await bench.execute(_COUNT, job_id, items)
    await bench.execute(_READY, job_id)
    await bench.execute("VACUUM ANALYZE job_items")
    return job_id


async def finish_all(bench: Bench, job_id: UUID) -> None:
    """Every item gets its result, as work would have given it."""
    await bench.execute(
        "UPDATE job_items SET status = 'DONE', result = input"
        " WHERE job_id = $1 AND status = 'PENDING'",
        job_id,
    )
    await bench.execute(
        "UPDATE jobs SET done = total, pending = 0, state = 'done', finished_at = now(),"
        " ready_at = 'infinity' WHERE id = $1", job_id,
    )  # fmt: skip


async def claims(bench: Bench, count: int) -> list[float]:
    """Milliseconds of each of ``count`` claims; what was claimed is settled in between."""
    limits = limits_of(bench.parts, _SLICE)
    found = []
    for _ in range(count):
        async with timed() as clock:
            claimed = await claim(bench.db, "bench", Served(), limits)
        if claimed is None:
            raise RuntimeError("nothing was there to claim")
        found.append(clock.seconds * 1000)
        done = Worked([Done({"sku": "x"}) for _ in claimed.items])
        await settle(bench.parts, claimed, done, "bench", 30)
    return found


async def run(lab: Lab, scale: Scale) -> Sequence[Line]:
    items, count = scale.of(1_000_000, 100_000), scale.of(200, 60)
    before: list[list[float]] = []
    after: list[list[float]] = []
    async with lab.bench() as bench:
        job_id = await backlog(bench, items)
        await lab.checkpoint()
        await claims(bench, 10)
        before += [await claims(bench, count) for _ in range(scale.repetitions)]
        await finish_all(bench, job_id)
        await backlog(bench, (scale.repetitions + 1) * count * _SLICE)
        await lab.checkpoint()
        await claims(bench, 10)
        after += [await claims(bench, count) for _ in range(scale.repetitions)]
    lines = []
    for name, found in ((f"{items:,} pending", before), (f"after {items:,} done", after)):
        p99 = [percentile(one, 0.99) for one in found]
        lines.append(at_most(f"claim p99, {name}", "ms", p99, 20))
    now, then = (Figures([percentile(one, 0.5) for one in found]) for found in (after, before))
    line = Line("claim p50, after against before", "ms", now, then, "within 1.5 ×")
    within = 1 / 1.5 <= (line.ratio or 0) <= 1.5
    return [*lines, Line(line.name, line.unit, line.ours, line.baseline, line.goal, within)]


ENTRY = Entry("claim_latency", run)
