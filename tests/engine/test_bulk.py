"""Operations over many jobs: what they touch, and that they repeat and lose nothing."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Mapping
from typing import Any
from uuid import UUID

import pytest
from tests.checker.benches import Tried
from tests.checker.scripted import Scripted, done
from tests.fixtures import MakePrincipal

from penstock.app import bulk, bulk_operations
from penstock.app.bulk_operations import BulkConfig, BulkService, go_on
from penstock.app.job_control import get_job, state_of
from penstock.engine import ending, reprocess
from penstock.engine.failpoints import Failpoints
from penstock.model.bulk import BulkAction, JobFilter, percent
from penstock.model.errors import ItemError
from penstock.model.outcomes import Fail
from penstock.store.accounts.accounts import Principal
from penstock.store.database import from_json, to_json
from penstock.store.jobs import bulk as store
from penstock.store.jobs import jobs

pytestmark = pytest.mark.slow

Start = Callable[..., Awaitable[UUID]]


@pytest.fixture
def start(tried: Tried) -> Start:
    async def start(
        action: BulkAction,
        wanted: JobFilter | None = None,
        params: Mapping[str, Any] | None = None,
        who: Principal | None = None,
    ) -> UUID:
        who = who or tried.who
        async with tried.runtime.db.transaction() as conn:
            made, _ = await bulk.start(
                conn, who, action, wanted or JobFilter(), params or {}, reach=bulk.reach_of(who)
            )
        return made

    return start


async def shown(tried: Tried, operation_id: UUID) -> dict[str, Any]:
    async with tried.runtime.db.acquire() as conn:
        row = await store.get(conn, operation_id)
    assert row is not None
    return bulk.shape_of(row)


async def ran(tried: Tried, operation_id: UUID) -> dict[str, Any]:
    """By the service, turn after turn."""
    service = BulkService(tried.runtime, BulkConfig(turn_seconds=0))
    for _ in range(500):
        if not await service.run_once():
            return await shown(tried, operation_id)
    raise AssertionError("it does not come to an end")


async def audited(tried: Tried, target: str) -> list[str]:
    async with tried.runtime.db.acquire() as conn:
        rows = await conn.fetch("SELECT action FROM audit WHERE target = $1 ORDER BY id", target)
    return [row["action"] for row in rows]


async def states(tried: Tried, *job_ids: UUID) -> list[str]:
    async with tried.runtime.db.acquire() as conn:
        return [state_of(await get_job(conn, job_id)) for job_id in job_ids]


async def test_every_action(tried: Tried, start: Start) -> None:
    ids = [await tried.send({"rows": 2}) for _ in range(3)]
    paused = await ran(tried, await start(BulkAction.PAUSE))
    assert (paused["state"], paused["matched"], paused["changed"]) == ("done", 3, 3)
    assert (paused["percent"], paused["leftOut"], paused["failed"]) == (100, 0, 0)
    assert await states(tried, *ids) == ["paused"] * 3
    # Left out, not failed: they are paused already.
    again = await ran(tried, await start(BulkAction.PAUSE))
    assert (again["changed"], again["leftOut"], again["failed"]) == (0, 3, 0)
    await ran(tried, await start(BulkAction.RESUME, JobFilter(job_ids=tuple(ids[:2]))))
    assert await states(tried, *ids) == ["queued", "queued", "paused"]
    await ran(tried, await start(BulkAction.PRIORITY, params={"priority": 42}))
    assert [(await tried.job(job_id))["priority"] for job_id in ids] == [42] * 3
    operation = await start(BulkAction.CANCEL, JobFilter(states=("queued",)))
    await ran(tried, operation)
    assert await states(tried, *ids) == ["cancelled", "cancelled", "paused"]
    # Two were cancelled with 2 items each, one is only paused.
    reopened = await ran(tried, await start(BulkAction.REPROCESS, params={"scope": "job"}))
    assert (reopened["changed"], reopened["leftOut"], reopened["items"]) == (2, 1, 4)
    await ran(tried, await start(BulkAction.RESUME))
    ended = await tried.finish(*ids)
    assert [job["done"] for job in ended] == [2, 2, 2]
    assert await audited(tried, f"bulk:{operation}") == ["bulk.cancel"]
    assert await audited(tried, f"job:{ids[0]}") == [
        *("job.pause", "job.resume", "job.priority", "job.cancel", "job.reprocess")
    ]
    await tried.is_clean()


async def test_only_what_matches_and_was_there(
    tried: Tried, start: Start, principal: MakePrincipal
) -> None:
    named = await tried.submit("scripted", {"rows": 1}, name="Spring list")
    other = await tried.submit("noop", {"items": 1}, name="autumn")
    first = await tried.job(named)
    for wanted, matched in (
        (JobFilter(), {named, other}),
        (JobFilter(name="SPRING"), {named}),
        (JobFilter(name="100%_"), set()),
        (JobFilter(pipeline="noop"), {other}),
        (JobFilter(lane="standard"), {named, other}),
        (JobFilter(lane="basic"), set()),
        (JobFilter(states=("paused", "done")), set()),
        (JobFilter(user_id=tried.who.user_id), {named, other}),
        (JobFilter(user_id=tried.who.user_id + 1), set()),
        (JobFilter(created_after=first["created_at"]), {named, other}),
        (JobFilter(created_before=first["created_at"]), set()),
        (JobFilter(job_ids=(other,)), {other}),
    ):
        async with tried.runtime.db.acquire() as conn:
            counted = await bulk.count(conn, bulk.reach_of(tried.who), wanted)
            walked = await store.walk(
                conn, bulk.reach_of(tried.who), wanted, store.NO_JOB, await store.now(conn), 100
            )
        assert counted == bulk.JobCount(len(matched), False), wanted
        assert set(walked.ids) == matched, wanted
    operation = await start(BulkAction.PAUSE, JobFilter(states=("queued",)))
    late = await tried.send({"rows": 1})
    async with tried.runtime.db.transaction() as conn:
        # No longer as it was when it was counted.
        await ending.cancel(conn, other)
    made = await ran(tried, operation)
    assert (made["matched"], made["changed"], made["leftOut"]) == (2, 1, 1)
    assert await states(tried, named, other, late) == ["paused", "cancelled", "queued"]


async def test_nobody_touches_what_they_may_not(
    tried: Tried, start: Start, principal: MakePrincipal
) -> None:
    mine = await tried.send({"rows": 1})
    colleague = await principal(email="second@acme")
    stranger = await principal("globex")
    theirs = await tried.send({"rows": 1}, who=colleague)
    foreign = await tried.send({"rows": 1}, who=stranger)
    everything = JobFilter(job_ids=(mine, theirs, foreign))
    made = await ran(tried, await start(BulkAction.PAUSE, everything))
    assert (made["matched"], made["changed"]) == (1, 1)
    assert await states(tried, mine, theirs, foreign) == ["paused", "queued", "queued"]
    admin = await principal("house", role="admin")
    made = await ran(tried, await start(BulkAction.CANCEL, who=admin))
    assert made["changed"] == 3


async def test_large_counts_go_on_in_the_background(
    tried: Tried, start: Start, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(bulk, "WALK", 3)
    monkeypatch.setattr(bulk_operations, "WALK", 3)
    monkeypatch.setattr(bulk, "MOST_COUNTED", 4)
    for _ in range(8):
        await tried.send({"rows": 1})
    async with tried.runtime.db.acquire() as conn:
        assert await bulk.count(conn, bulk.reach_of(tried.who), JobFilter()) == (
            bulk.JobCount(4, True)
        )
    operation = await start(BulkAction.PAUSE)
    assert (await shown(tried, operation))["state"] == "counting"
    made = await ran(tried, operation)
    assert (made["state"], made["matched"], made["changed"]) == ("done", 8, 8)


async def test_an_abort_stops_before_the_next_job(tried: Tried, start: Start) -> None:
    ids = [await tried.send({"rows": 1}) for _ in range(5)]
    operation = await start(BulkAction.PAUSE)
    turn = bulk_operations._Turn(tried.runtime, operation)
    for _ in range(2):
        assert await turn.step()
    async with tried.runtime.db.transaction() as conn:
        assert await bulk.abort(conn, tried.who, operation, None)
    assert not await turn.step()
    made = await ran(tried, operation)
    assert made["state"] == "aborted"
    changed = (await states(tried, *ids)).count("paused")
    assert made["changed"] == changed == 2
    assert made["percent"] == 40
    assert await audited(tried, f"bulk:{operation}") == ["bulk.pause", "bulk.abort"]


async def test_a_job_that_resists_does_not_keep_the_others(
    tried: Tried, start: Start, monkeypatch: pytest.MonkeyPatch
) -> None:
    ids = [await tried.send({"rows": 1}) for _ in range(3)]
    sound = jobs.pause

    async def pause(conn: Any, job_id: UUID) -> str | None:
        if job_id == ids[1]:
            await conn.execute("SELECT 1 / 0")
        return await sound(conn, job_id)

    monkeypatch.setattr(jobs, "pause", pause)
    made = await ran(tried, await start(BulkAction.PAUSE))
    assert (made["state"], made["changed"], made["failed"]) == ("done", 2, 1)
    (error,) = made["errors"]
    assert (error["jobId"], error["code"]) == (str(ids[1]), "INTERNAL_ERROR")
    assert await states(tried, *ids) == ["paused", "queued", "paused"]


async def test_an_operation_that_cannot_go_on_says_so(
    tried: Tried, start: Start, monkeypatch: pytest.MonkeyPatch
) -> None:
    await tried.send({"rows": 1})
    operation = await start(BulkAction.PAUSE)

    async def walk(*_: Any) -> Any:
        raise RuntimeError("a bug")

    monkeypatch.setattr(store, "walk", walk)
    made = await ran(tried, operation)
    assert (made["state"], made["errors"][0]["message"]) == ("failed", "RuntimeError: a bug")


@pytest.mark.parametrize("point", ["bulk_before_commit", "bulk_after_commit"])
async def test_whoever_dies_between_steps_repeats_and_loses_nothing(
    tried: Tried, start: Start, scripted: dict[str, Scripted], point: str,
    monkeypatch: pytest.MonkeyPatch,
) -> None:  # fmt: skip
    """At every step there is, one after the other, in an operation that reopens a large job."""
    monkeypatch.setattr(reprocess, "MOST_AT_ONCE", 2)
    monkeypatch.setattr(reprocess, "CHUNK", 3)
    script = scripted["scripted"]
    script.work = lambda item, stage, ctx: Fail(ItemError("VALIDATION_ERROR", "never"))
    ids = [await tried.send({"rows": rows}) for rows in (2, 10, 1)]
    await tried.finish(*ids)
    script.work = done
    operation = await start(BulkAction.REPROCESS, params={"scope": "job"})
    deaths = 0

    class Died(BaseException):
        pass

    class Deadly(Failpoints):
        def __init__(self, at: int) -> None:
            self.left = at

        def reach(self, name: str) -> None:
            self.left -= name == point
            if self.left == 0:
                raise Died

    for step in range(1, 40):
        # At the first step, or at the second: a try that never gets through a step would not end.
        object.__setattr__(tried.runtime, "failpoints", Deadly(1 + step % 2))
        try:
            if await go_on(tried.runtime, operation, 60):
                break
        except Died:
            deaths += 1
    made = await shown(tried, operation)
    assert (made["state"], made["changed"], made["items"]) == ("done", 3, 13)
    assert deaths >= 5
    ended = await tried.finish(*ids)
    assert [job["done"] for job in ended] == [2, 10, 1]
    assert {job["generation"] for job in ended} == {2}
    async with tried.runtime.db.acquire() as conn:
        assert await conn.fetchval("SELECT max(generation) FROM job_items") == 2
        assert await conn.fetchval("SELECT count(*) FROM audit WHERE action = 'job.reprocess'") == 3
    await tried.is_clean()


async def test_filters_and_percents_say_what_they_mean(tried: Tried) -> None:
    job = await tried.job(await tried.send({"rows": 1}))
    whole = JobFilter(
        ("done",), "noop", "basic", 3, "acme", "x", job["created_at"], job["created_at"],
        (job["id"],),
    )  # fmt: skip
    assert JobFilter.of_json(from_json(to_json(whole.as_json()))) == whole
    assert JobFilter.of_json({}) == JobFilter()
    assert percent("counting", 0, 0) == 0
    assert percent("running", 4, 1, 50, 100) == 37.5
    assert percent("running", 1, 1) == 99.9
    # The passes of an edit follow each other: the progress never goes back.
    passes = [("write", 0), ("write", 100), ("products", 0), ("reopen", 0), ("reopen", 100)]
    shares = [percent("running", 1, 0, row, 100, name) for name, row in passes]
    assert shares == sorted(shares)
    assert shares[-1] == 99.9
    assert percent("done", 4, 3) == 100
