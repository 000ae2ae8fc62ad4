"""Where too much waits already, reading more of it comes last; but it does come."""

from __future__ import annotations

from dataclasses import replace

from tests.checker.benches import Tried
from tests.fixtures import MakePrincipal

from penstock.engine.claim import Claim, claim
from penstock.engine.context import StopSign
from penstock.engine.ingest import Ingest
from penstock.engine.worker.loop import Worker
from penstock.store.jobs.claims import Served


async def claim_holding(tried: Tried, worker: Worker, served: Served | None = None) -> Claim:
    limits = replace(worker._limits, holds_ingest=True)
    claimed = await claim(tried.runtime.db, worker.id, served or Served(), limits)
    assert claimed is not None
    return claimed


async def test_stored_items_go_before_any_ingest(tried: Tried, principal: MakePrincipal) -> None:
    other = await principal("globex")
    await tried.send({"rows": 5, "inline": False}, priority=100)
    await tried.send({"rows": 5, "inline": False}, who=other)
    ready = await tried.send({"rows": 5}, priority=0)
    async with tried.by_hand() as worker:
        first = await claim_holding(tried, worker)
        assert (first.work.kind, first.work.job_id) == ("items", ready)
        await tried.run(worker, first)
        # Nothing else is left, so it is read all the same: the queue must drain.
        second = await claim_holding(tried, worker)
        assert second.work.kind == "ingest"


async def test_of_a_job_half_read_its_items_go_first(tried: Tried) -> None:
    half = await tried.send({"rows": 40, "inline": False, "batch": 10})
    async with tried.by_hand() as worker:
        ingest = Ingest(tried.runtime, await claim_holding(tried, worker), StopSign(), worker.id)
        await ingest.run(lambda _: True)
        first = await claim_holding(tried, worker)
        assert (first.work.kind, first.work.job_id) == ("items", half)


async def test_who_serves_one_job_only_reads_it_at_once(tried: Tried) -> None:
    await tried.send({"rows": 5})
    own = await tried.send({"rows": 5, "inline": False})
    async with tried.by_hand() as worker:
        assert (await claim_holding(tried, worker, Served(job_id=own))).work.kind == "ingest"
