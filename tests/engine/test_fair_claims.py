"""No row is passed over, no org is starved, and nobody is throttled for being small."""

from __future__ import annotations

import time
from dataclasses import replace
from typing import Any

import orjson
import pytest
from tests.checker.benches import Tried
from tests.checker.scenarios import claim
from tests.checker.scripted import Scripted
from tests.fixtures import MakePrincipal

from penstock.app.kickoff import kickoff
from penstock.engine.context import StopSign, stage_context
from penstock.engine.ingest import Ingest
from penstock.engine.worker.loop import Worker
from penstock.model.errors import ItemError
from penstock.model.fairness import PLAN_WEIGHTS, score, start_tag
from penstock.model.outcomes import Done, Fail, Retry
from penstock.model.policy import NEVER, RetryPolicy
from penstock.store.jobs import claims
from penstock.store.jobs.claims import Served


async def test_rows_a_claim_has_no_room_for_are_found_later(
    tried: Tried, monkeypatch: pytest.MonkeyPatch
) -> None:
    """An ingest adds rows to the first job between the choice and the pick, so that less of its
    neighbour fits into the claim than was asked for."""
    growing = await tried.send({"rows": 40, "inline": False, "batch": 10})
    neighbour = await tried.send({"rows": 60})
    choose_work = claims.choose_work
    async with tried.by_hand() as worker:
        first = await claim(worker)
        ingest = Ingest(tried.runtime, first, StopSign(), worker.id)
        ctx = stage_context(tried.runtime, StopSign(), 60, tried.runtime.log)
        batches = tried.runtime.pipeline("scripted").rows(
            tried.runtime.job(first.jobs[0]), ctx, None
        )
        await ingest._store(await anext(batches))
        async with tried.runtime.db.acquire() as conn:
            await conn.execute("UPDATE jobs SET served_at = 'epoch' WHERE id = $1", growing)

        async def late(*args: Any, **more: Any) -> Any:
            found = await choose_work(*args, **more)
            async for batch in batches:
                await ingest._store(batch)
            return found

        monkeypatch.setattr(claims, "choose_work", late)
        shared = await claim(worker)
        assert len(shared.leases) == 2
        monkeypatch.setattr(claims, "choose_work", choose_work)
        await tried.run(worker, shared)
        await ingest._end({}, None)
    for job in await tried.finish(growing, neighbour):
        assert (job["state"], job["done"]) == ("done", job["total"])


async def test_small_jobs_overtake_large_ones_but_do_not_stop_them(tried: Tried) -> None:
    """Jobs of five rows arrive after one of eighty, which goes on once it has waited for longer
    than its rows count."""
    large = await tried.send({"rows": 80})
    small = [await tried.send({"rows": 5}) for _ in range(6)]
    served = []
    async with tried.by_hand() as worker, tried.runtime.db.acquire() as conn:
        bounds = replace(worker._limits.bounds, most=5)
        worker._limits = replace(worker._limits, bounds=bounds)
        for number in range(7):
            if number == 3:
                await conn.execute(
                    "UPDATE jobs SET served_at = served_at - interval '1 min' WHERE id = $1", large
                )
            claimed = await claim(worker)
            served.append(claimed.work.job_id)
            await tried.run(worker, claimed)
    assert served.index(large) == 3
    assert served.count(large) == 1
    assert sorted(one for one in served if one != large) == sorted(small)


async def test_many_tiny_jobs_in_one_claim_count_as_one(tried: Tried) -> None:
    for _ in range(150):
        await tried.send({"rows": 2})
    for _ in range(3):
        worker = Worker(tried.runtime, sweeps=False, announces=False)
        for _ in range(worker._slots - 1):
            if await worker._claim() is None:
                async with tried.runtime.db.acquire() as conn:
                    assert await conn.fetchval("SELECT sum(pending) FROM jobs") == 0


async def test_an_org_whose_groups_all_wait_holds_up_nobody(
    tried: Tried, scripted: dict[str, Scripted], principal: MakePrincipal
) -> None:
    later = Retry(ItemError("API_TIMEOUT", "later"), after_ms=3_600_000)
    scripted["scripted"].work = lambda item, stage, ctx: later if item.group else Done({})
    other = await principal("globex")
    for _ in range(40):
        await tried.send({"rows": 2, "groups": 1})
    async with tried.by_hand() as worker:
        while await worker.run_once():
            pass
        async with tried.runtime.db.acquire() as conn:
            # As after any service: a little ahead of who has had none for a while.
            await conn.execute(
                "UPDATE org_time SET vt = (SELECT v FROM virtual_clock) + 1 WHERE org_id = $1",
                other.org_id,
            )
            await conn.execute("UPDATE job_stages SET ready_at = now() WHERE kind = 'items'")
            await conn.execute("UPDATE jobs SET ready_at = now()")
        await tried.send({"rows": 5}, who=other)
        assert (await claim(worker)).turn.org_id == other.org_id


async def test_an_error_that_is_no_json_fails_its_own_item(
    tried: Tried, scripted: dict[str, Scripted]
) -> None:
    odd = Fail(ItemError("VALIDATION_ERROR", "odd", details={"allowed": {1, 2}}))
    scripted["scripted"].work = lambda item, stage, ctx: odd if item.row_no == 2 else Done({})
    (job,) = await tried.finish(await tried.send({"rows": 5}))
    assert (job["done"], job["error"]) == (4, 1)
    (failed,) = await tried.items(job["id"], "status = 'ERROR'")
    assert orjson.loads(failed["error"])["code"] == "INTERNAL_ERROR"


async def test_a_kickoff_keeps_its_time_in_an_ingest_too(tried: Tried) -> None:
    job_id = await tried.submit("noop", {"items": 1_000_000, "inline": False})
    began = time.monotonic()
    assert await kickoff(tried.runtime, job_id, 300) >= 1
    job = await tried.job(job_id)
    assert 0 < job["total"] < 1_000_000
    # A million rows take minutes.
    assert time.monotonic() - began < 30
    async with tried.runtime.db.acquire() as conn:
        assert await conn.fetchval("SELECT count(*) FROM slices") == 0


def test_a_stage_may_choose_its_own_retries_without_a_match() -> None:
    assert RetryPolicy(not_found=NEVER).bounded(3, 2).not_found.retries == 0
    assert RetryPolicy().bounded(3, 1).not_found.retries == 1


async def test_the_choice_between_orgs_is_the_models(
    tried: Tried, principal: MakePrincipal
) -> None:
    """The claim's SQL serves the org that `model.fairness` would."""
    times = {"a": 700.0, "b": 400.0, "c": 450.0, "d": 2000.0}
    plans = dict(zip(times, ("enterprise", "trial", "premium", "standard"), strict=True))
    async with tried.by_hand() as worker:
        for name, vt in times.items():
            who = await principal(name, plan=plans[name])
            for _ in range(12):
                await tried.send({"rows": 300, "inline": False}, who=who)
            async with tried.runtime.db.acquire() as conn:
                await conn.execute("UPDATE org_time SET vt = $2 WHERE org_id = $1", who.org_id, vt)
        for _ in range(12):
            async with tried.runtime.db.transaction() as conn:
                clock = await conn.fetchval("SELECT v FROM virtual_clock")
                rows = await conn.fetch(
                    "SELECT o.name, sum(s.expected_ms) AS held, min(s.vstart) AS start"
                    " FROM slices s JOIN orgs o ON o.id = s.org_id GROUP BY 1"
                )
                held: dict[str, float] = {row["name"]: row["held"] for row in rows}
                starts: dict[str, float] = {row["name"]: row["start"] for row in rows}
                chosen = await claims.choose_work(
                    conn, worker.id, Served(), ["scripted"], org_cap=99, own_cap=99
                )
                assert chosen is not None
                turn, _ = chosen
                served = await conn.fetchval("SELECT name FROM orgs WHERE id = $1", turn.org_id)
            scores = {
                name: score(
                    start_tag(vt, clock, starts.get(name)),
                    held.get(name, 0.0),
                    PLAN_WEIGHTS[plans[name]],
                )
                for name, vt in times.items()
            }
            assert scores[served] == pytest.approx(min(scores.values()))
            await claim(worker)
