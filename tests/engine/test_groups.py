"""Groups: paced without holding a slot, ignored where a stage says so, and apart by org."""

from __future__ import annotations

import pytest
from tests.checker.benches import Tried
from tests.checker.scripted import Scripted
from tests.fixtures import Bench, MakePrincipal

from penstock.model.pipeline import Stage, each
from penstock.store.database import from_json


@pytest.fixture
def script(scripted: dict[str, Scripted]) -> Scripted:
    return scripted["scripted"]


async def free_at(tried: Tried) -> dict[str, float]:
    """Seconds until each group is free."""
    async with tried.runtime.db.acquire() as conn:
        rows = await conn.fetch(
            "SELECT group_key, extract(epoch FROM free_at - now())::float AS wait FROM group_times"
        )
    return {row["group_key"]: row["wait"] for row in rows}


async def let_pass(tried: Tried) -> None:
    """The paces of all groups are over."""
    async with tried.runtime.db.acquire() as conn:
        await conn.execute("UPDATE group_times SET free_at = now()")
    await tried.hurry()


async def test_a_paced_group_takes_one_item_at_a_time(tried: Tried, script: Scripted) -> None:
    job_id = await tried.send({"rows": 6, "groups": 2, "pace_ms": 3_600_000})
    async with tried.by_hand() as worker:
        while await worker.run_once():
            pass
        assert sorted(row for row, _ in script.began) == [1, 2], "the head of each group"
        waits = await free_at(tried)
        assert set(waits) == {"g0", "g1"}
        assert all(3500 < wait <= 3600 for wait in waits.values())
        async with tried.runtime.db.acquire() as conn:
            held = await conn.fetchval("SELECT count(*) FROM slices")
            ready = await conn.fetchval(
                "SELECT extract(epoch FROM ready_at - now())::float FROM jobs WHERE id = $1", job_id
            )
        assert held == 0, "a group that waits for its pace holds no slot"
        assert 3500 < ready <= 3600, "nor is the job looked at again before"
        for done in (4, 6):
            await let_pass(tried)
            while await worker.run_once():
                pass
            assert len(script.began) == done
    assert [row for row, _ in script.began if row % 2] == [1, 3, 5]
    assert (await tried.job(job_id))["done"] == 6
    await tried.is_clean()


async def test_a_pace_holds_over_jobs_of_an_org(tried: Tried, script: Scripted) -> None:
    first = await tried.send({"rows": 1, "groups": 1, "pace_ms": 3_600_000})
    await tried.finish(first)
    second = await tried.send({"rows": 1, "groups": 1, "pace_ms": 3_600_000})
    async with tried.by_hand() as worker:
        while await worker.run_once():
            pass
        assert (await tried.job(second))["done"] == 0
        await let_pass(tried)
        while await worker.run_once():
            pass
    assert (await tried.job(second))["done"] == 1


async def test_a_stage_may_ignore_groups(tried: Tried, script: Scripted) -> None:
    """All items of one group in one claim, although an earlier one of them is waiting."""
    job_id = await tried.send({"rows": 40, "groups": 1, "grouped": False})
    async with tried.by_hand() as worker:
        claimed = await worker._claim()
        assert claimed is not None
        assert [lease.group for lease in claimed.leases] == [None]
        assert len(claimed.items) > 1
        await tried.run(worker, claimed)
    await tried.finish(job_id)
    await tried.is_clean()


async def test_groups_of_two_orgs_are_apart(tried: Tried, principal: MakePrincipal) -> None:
    """The same name in two orgs: both are claimed side by side."""
    other = Tried(tried.runtime, await principal(org="other"))
    await tried.send({"rows": 1, "groups": 1})
    await other.send({"rows": 1, "groups": 1})
    async with tried.by_hand() as worker:
        claims = [await worker._claim(), await worker._claim()]
        assert all(claims)
        groups = [lease.group for one in claims if one for lease in one.leases]
        assert groups == ["g0", "g0"]


def test_a_pace_needs_groups() -> None:
    async def work(item: object, ctx: object) -> object: ...

    with pytest.raises(ValueError, match="pace"):
        Stage("s", run=each(work), pace_ms=10, grouped=False)  # type: ignore[arg-type]


async def test_counters_of_groups_are_kept_where_a_pipeline_asks(bench: Bench) -> None:
    job_id = await bench.submit(
        "noop", {"items": 7, "groups": 3, "countsGroups": True, "summarizes": True, "failEvery": 7}
    )
    await bench.work()
    summary = from_json((await bench.job(job_id))["summary"])
    assert summary["groups"] == {
        "group 0": {"done": 2}, "group 1": {"done": 2}, "group 2": {"done": 2},
    }  # fmt: skip
