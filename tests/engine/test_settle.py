"""Settling: once, under the fence, whatever happens to the connection or the results."""

from __future__ import annotations

import asyncpg
import orjson
import pytest
from tests.checker.benches import Tried
from tests.checker.scenarios import claim
from tests.checker.scripted import Scripted, done

from penstock.engine.context import StopSign
from penstock.engine.run import run_items
from penstock.engine.settle import settle
from penstock.model.errors import ItemError
from penstock.model.outcomes import Child, Done, Fail, Outcome, Retry
from penstock.model.pipeline import Item
from penstock.model.ports import Context
from penstock.store.jobs import slices


@pytest.fixture
def script(scripted: dict[str, Scripted]) -> Scripted:
    return scripted["scripted"]


async def test_a_second_settle_writes_nothing(tried: Tried) -> None:
    job_id = await tried.send({"rows": 5})
    async with tried.by_hand() as worker:
        claimed = await claim(worker)
        assert (await tried.run(worker, claimed)).held
        before = [dict(item) for item in await tried.items(job_id)], dict(await tried.job(job_id))
        assert not (await tried.run(worker, claimed)).held
    after = [dict(item) for item in await tried.items(job_id)], dict(await tried.job(job_id))
    assert after == before
    await tried.is_clean()


async def test_a_commit_whose_answer_was_lost_is_not_written_twice(
    tried: Tried, monkeypatch: pytest.MonkeyPatch
) -> None:
    lost: list[str] = []

    def lose_the_answer(name: str) -> None:
        if name == "after_commit" and not lost:
            lost.append(name)
            raise asyncpg.ConnectionDoesNotExistError("connection was closed")

    monkeypatch.setattr(tried.runtime.failpoints, "reach", lose_the_answer)
    job_id = await tried.send({"rows": 5})
    await tried.work()
    assert lost
    assert (await tried.job(job_id))["done"] == 5
    await tried.is_clean()


@pytest.mark.slow
async def test_a_lost_connection_is_tried_again(
    tried: Tried, monkeypatch: pytest.MonkeyPatch
) -> None:
    lost: list[str] = []

    def lose_the_connection(name: str) -> None:
        if name == "before_commit" and len(lost) < 2:
            lost.append(name)
            raise asyncpg.ConnectionDoesNotExistError("connection was closed")

    monkeypatch.setattr(tried.runtime.failpoints, "reach", lose_the_connection)
    job_id = await tried.send({"rows": 5})
    await tried.work()
    assert len(lost) == 2
    items = await tried.items(job_id)
    assert {(i["status"], i["attempts"], i["crashes"]) for i in items} == {("DONE", 1, 0)}
    await tried.is_clean()


@pytest.mark.slow
@pytest.mark.parametrize(
    "trouble",
    [asyncpg.DiskFullError, asyncpg.OutOfMemoryError, asyncpg.QueryCanceledError,
     asyncpg.LockNotAvailableError],
)  # fmt: skip
async def test_a_troubled_server_is_not_blamed_on_the_items(
    tried: Tried, monkeypatch: pytest.MonkeyPatch, trouble: type[asyncpg.PostgresError]
) -> None:
    """F8: a full disk burns no attempt and is no crash of anyone."""
    met: list[str] = []

    def in_trouble(name: str) -> None:
        if name == "before_commit" and len(met) < 2:
            met.append(name)
            raise trouble("no space left on device")

    monkeypatch.setattr(tried.runtime.failpoints, "reach", in_trouble)
    job_id = await tried.send({"rows": 5})
    await tried.finish(job_id)
    async with tried.runtime.db.acquire() as conn:
        assert await conn.fetchval("SELECT max(crashes) FROM history_items") == 0
    assert (await tried.job(job_id))["done"] == 5
    await tried.is_clean()


async def test_a_late_settle_changes_nothing(tried: Tried) -> None:
    job_id = await tried.send({"rows": 5})
    async with tried.by_hand() as late, tried.by_hand() as successor:
        claimed = await claim(late)
        worked = await run_items(tried.runtime, claimed, StopSign(), 60)
        await tried.expire()
        assert not (await settle(tried.runtime, claimed, worked, late.id, 1)).held
        while await successor.run_once():
            pass
        assert not (await settle(tried.runtime, claimed, worked, late.id, 1)).held
    assert (await tried.job(job_id))["done"] == 5
    await tried.is_clean()


async def test_a_claim_of_many_jobs_settles_what_it_still_holds(tried: Tried) -> None:
    from penstock.engine import ending

    jobs = [await tried.send({"rows": 2}) for _ in range(3)]
    async with tried.by_hand() as worker:
        claimed = await claim(worker)
        assert len(claimed.leases) == 3
        async with tried.runtime.db.transaction() as conn:
            await ending.cancel(conn, jobs[1])
        assert (await tried.run(worker, claimed)).held
    states = [(await tried.job(job_id))["state"] for job_id in jobs]
    assert states == ["done", "cancelled", "done"]
    await tried.is_clean()


@pytest.mark.parametrize(
    ("child", "code"),
    [
        (Child("k" * 10_000, {}), "INTERNAL_ERROR"),
        (Child("k", object()), "INTERNAL_ERROR"),
        (Child("k", {}, group="g" * 10_000), "INTERNAL_ERROR"),
        (Child("k\0", {}), "INTERNAL_ERROR"),
    ],
    ids=["key", "input", "group", "nul"],
)
async def test_a_result_that_cannot_be_stored_is_found_and_set_aside(
    tried: Tried, scripted: dict[str, Scripted], child: Child, code: str
) -> None:
    """Its neighbours finish."""

    def work(item: Item, stage: int, ctx: Context) -> Outcome:
        return Done({}, spawn=[child]) if item.row_no == 3 else done(item, stage, ctx)

    scripted["spawning"].work = work
    job_id = await tried.send({"rows": 6}, pipeline="spawning")
    (job,) = await tried.finish(job_id)
    assert (job["total"], job["done"], job["error"]) == (6, 5, 1)
    (failed,) = await tried.items(job_id, "status = 'ERROR'")
    assert (failed["row_no"], orjson.loads(failed["error"])["code"]) == (3, code)
    await tried.is_clean()


async def test_a_broken_lease_writes_nothing(tried: Tried) -> None:
    job_id = await tried.send({"rows": 3})
    async with tried.by_hand() as worker:
        claimed = await claim(worker)
        async with tried.runtime.db.acquire() as conn:
            await conn.execute("UPDATE job_items SET generation = 2 WHERE row_no = 2")
        with pytest.raises(slices.LeaseBroken):
            await tried.run(worker, claimed)
    assert {i["status"] for i in await tried.items(job_id)} == {"PROCESSING"}


async def test_a_config_that_is_no_longer_valid_fails_its_items(
    tried: Tried, script: Scripted
) -> None:
    job_id = await tried.send({"rows": 2})
    async with tried.runtime.db.acquire() as conn:
        await conn.execute("""UPDATE jobs SET config = '{"rows": "many"}'""")
    (job,) = await tried.finish(job_id, turns=20)
    assert (job["error"], job["done"]) == (2, 0)
    async with tried.runtime.db.acquire() as conn:
        assert await conn.fetchval("SELECT max(crashes) FROM history_items") == 0


async def test_children_are_added_once(tried: Tried, scripted: dict[str, Scripted]) -> None:
    """The parent runs twice, its children are there once, with dense row numbers."""

    def work(item: Item, stage: int, ctx: Context) -> Outcome:
        children = [Child(f"{item.row_no % 3}.{n}", {"n": n}) for n in range(4)]
        if item.key is None and item.attempts == 0:
            return Retry(ItemError("API_TIMEOUT", "again"), spawn=children)
        return Done({}, spawn=children if item.key is None else ())

    scripted["spawning"].work = work
    job_id = await tried.send({"rows": 6}, pipeline="spawning")
    (job,) = await tried.finish(job_id)
    items = await tried.items(job_id)
    assert job["total"] == 6 + 3 * 4
    keys = [i["key"] for i in items if i["key"] is not None]
    assert len(keys) == len(set(keys)) == 12
    await tried.is_clean()


async def test_a_childs_stage_that_is_not_there_is_an_error_of_its_parent(
    tried: Tried, scripted: dict[str, Scripted]
) -> None:
    def work(item: Item, stage: int, ctx: Context) -> Outcome:
        if item.row_no == 1:
            return Done({}, spawn=[Child("a", {}, stage="nowhere")])
        return Fail(ItemError("VALIDATION_ERROR", "no")) if item.row_no == 2 else Done({})

    scripted["spawning"].work = work
    (job,) = await tried.finish(await tried.send({"rows": 3}, pipeline="spawning"))
    assert (job["total"], job["done"], job["error"]) == (3, 1, 2)
    await tried.is_clean()
