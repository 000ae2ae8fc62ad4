"""Dedicated workers share their own time; a paused lane starts nothing; an org's cap holds."""

from __future__ import annotations

import asyncio
from collections import Counter
from dataclasses import replace
from datetime import UTC, datetime, timedelta

import pytest
from tests.checker.benches import Tried
from tests.checker.scenarios import claim
from tests.fixtures import MakePrincipal

from penstock.app.job_control import get_job
from penstock.app.kickoff import kickoff
from penstock.engine.claim import Claim
from penstock.engine.worker.loop import Worker
from penstock.model.errors import BadInput
from penstock.model.fairness import lane_pattern, serves_one_org
from penstock.store.accounts import accounts
from penstock.store.accounts.accounts import Principal
from penstock.store.jobs.claims import Served
from penstock.store.workers import lanes

pytestmark = pytest.mark.slow


def _hand(tried: Tried, served: Served | None = None) -> Worker:
    return Worker(tried.runtime, served, sweeps=False, announces=False)


async def _settled(tried: Tried, worker: Worker, turns: int) -> Counter[int]:
    """Whose slices a worker takes, each worked and settled before the next."""
    orgs: Counter[int] = Counter()
    for _ in range(turns):
        claimed = await claim(worker)
        await tried.run(worker, claimed)
        orgs[claimed.turn.org_id] += 1
    return orgs


async def _send_much(tried: Tried, who: Principal, jobs: int) -> None:
    for _ in range(jobs):
        await tried.send({"rows": 60}, who=who)


async def test_dedicated_workers_leave_the_shares_of_the_others_alone(
    tried: Tried, principal: MakePrincipal
) -> None:
    """An enterprise org is served by its own worker all the time. Among the others, whose worker
    serves everyone, weights count as if that worker were not there."""
    rich = await principal("rich", plan="enterprise")
    four = await principal("four", plan="premium")
    one = await principal("one", plan="basic")
    own = _hand(tried, Served(lanes=[lane_pattern("enterprise")]))
    common = _hand(tried)
    for who in (rich, four, one):
        await _send_much(tried, who, 100)
    async with tried.runtime.db.transaction() as conn:
        # As after an hour of dedicated service.
        await conn.execute(
            "INSERT INTO org_time (org_id, pool, vt) VALUES ($1, $2, 1e9)", rich.org_id, own_pool()
        )
        await conn.execute("INSERT INTO virtual_clock (pool, v) VALUES ($1, 1e9)", own_pool())
        await conn.execute("UPDATE job_stages SET avg_ms = 70")
    assert set(await _settled(tried, own, 5)) == {rich.org_id}
    async with tried.runtime.db.acquire() as conn:
        assert await conn.fetchval("SELECT v FROM virtual_clock WHERE pool = ''") < 1e6
    held = Counter[int]()
    for _ in range(26):
        held[(await claim_more(common)).turn.org_id] += 1
    # Shares 8 : 4 : 1, to within one slice each.
    assert held[rich.org_id] == pytest.approx(16, abs=1)
    assert held[four.org_id] == pytest.approx(8, abs=1)
    assert held[one.org_id] == pytest.approx(2, abs=1)


def own_pool() -> str:
    return Served(lanes=[lane_pattern("enterprise")]).pool


async def claim_more(worker: Worker) -> Claim:
    """A claim by a worker that never runs out of slots or of its share of them."""
    worker._limits = worker._limits.__class__(
        **{name: getattr(worker._limits, name) for name in worker._limits.__slots__}
        | {"own_cap": 1000, "org_cap": 1000}
    )
    return await claim(worker)


async def test_a_worker_serves_what_it_was_told_and_nothing_else(
    tried: Tried, principal: MakePrincipal
) -> None:
    rich = await principal("rich", plan="enterprise")
    plain = await principal("plain", plan="standard")
    await tried.send({"rows": 5}, who=rich)
    await tried.send({"rows": 5}, who=plain)
    await tried.submit("noop", {"items": 5}, who=plain)
    for served, expected in (
        (Served(lanes=[lane_pattern("enterprise")]), {rich.org_id}),
        (Served(pipelines=["noop"]), {plain.org_id}),
        (Served(stages=["stage1"]), {plain.org_id}),
        (Served(lanes=["basic"]), set()),
    ):
        worker = _hand(tried, served)
        got = set()
        while (claimed := await worker._claim()) is not None:
            got.add(claimed.turn.org_id)
        assert got == expected
        await tried.expire()


async def test_nothing_of_a_paused_lane_is_claimed(tried: Tried, principal: MakePrincipal) -> None:
    rich = await principal("rich", plan="enterprise")
    in_lane = await tried.send({"rows": 5}, who=rich)
    beside = await tried.send({"rows": 5})
    async with tried.runtime.db.transaction() as conn:
        assert await lanes.pause(conn, "priority.rich", rich.user_id, "maintenance")
        assert not await lanes.pause(conn, "priority.rich", rich.user_id, "again")
    await tried.work()
    assert (await tried.job(beside))["state"] == "done"
    job = await tried.job(in_lane)
    assert (job["state"], job["pending"]) == ("queued", 5)
    async with tried.runtime.db.acquire() as conn:
        assert (await get_job(conn, in_lane)).lane_paused
    assert await kickoff(tried.runtime, in_lane, 500) == 0
    async with tried.runtime.db.transaction() as conn:
        shown = {one["lane"]: one for one in await lanes.list_lanes(conn)}
        assert shown["priority.rich"]["paused"]
        assert shown["priority.rich"]["jobs"] == 1
        assert await lanes.resume(conn, "priority.rich")
        assert not await lanes.resume(conn, "priority.rich")
    (job,) = await tried.finish(in_lane)
    assert job["done"] == 5
    await tried.is_clean()


async def test_a_job_cancelled_in_a_paused_lane_still_ends(
    tried: Tried, monkeypatch: pytest.MonkeyPatch
) -> None:
    from penstock.engine import ending

    monkeypatch.setattr(ending, "MAX_SKIPPED_AT_ONCE", 1)
    job_id = await tried.send({"rows": 5})
    async with tried.runtime.db.transaction() as conn:
        await lanes.pause(conn, "standard", tried.who.user_id, "")
        await ending.cancel(conn, job_id)
    await tried.work()
    job = await tried.job(job_id)
    assert (job["state"], job["skipped"]) == ("cancelled", 5)
    await tried.is_clean()


async def test_an_orgs_own_cap_holds(tried: Tried, principal: MakePrincipal) -> None:
    capped = await principal("capped")
    async with tried.runtime.db.transaction() as conn:
        await accounts.change_org(conn, capped.org_id, None, 2, None)
    for _ in range(4):
        await tried.send({"rows": 200, "inline": False}, who=capped)
    worker = _hand(tried)
    assert [await worker._claim() is not None for _ in range(4)] == [True, True, False, False]
    async with tried.runtime.db.transaction() as conn:
        after = await accounts.change_org(conn, capped.org_id, "basic", 0, True)
    assert (after.plan, after.weight, after.max_slices) == ("basic", 1, None)
    assert await worker._claim() is not None


def test_lane_patterns() -> None:
    assert lane_pattern("enterprise") == "priority.%"
    assert lane_pattern("priority.a_b%c") == r"priority.a\_b\%c"
    assert serves_one_org([lane_pattern("priority.acme")])
    assert not serves_one_org([lane_pattern("enterprise")])
    assert not serves_one_org(["standard"])
    assert not serves_one_org(None)


async def test_only_lanes_that_can_exist_are_paused(tried: Tried) -> None:
    async with tried.runtime.db.transaction() as conn:
        for name in ("nonsense", "priority.", "priority.a b", "Standard"):
            with pytest.raises(BadInput, match="no lane"):
                await lanes.pause(conn, name, tried.who.user_id, "")


async def test_work_that_cannot_be_claimed_does_not_hide_what_is_due_next(
    tried: Tried, principal: MakePrincipal
) -> None:
    """A worker without work waits for the next due time, not for its next look."""
    rich = await principal("rich", plan="enterprise")
    await tried.send({"rows": 5}, who=rich)
    async with tried.runtime.db.transaction() as conn:
        assert await lanes.pause(conn, "priority.rich", rich.user_id, "maintenance")
    soon = datetime.now(UTC) + timedelta(seconds=0.7)
    scheduled = await tried.send({"rows": 1}, due_at=soon)
    settings = tried.runtime.settings.model_copy(update={"poll_ms": 60_000})
    worker = Worker(replace(tried.runtime, settings=settings), sweeps=False, announces=False)
    async with asyncio.timeout(20), worker:
        running = asyncio.create_task(worker.run())
        while (await tried.job(scheduled))["state"] != "done":
            await asyncio.sleep(0.05)
        worker.stop()
        await running
    job = await tried.job(scheduled)
    assert soon <= job["finished_at"] < soon + timedelta(seconds=10)
