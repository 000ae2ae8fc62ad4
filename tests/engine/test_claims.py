"""What a claim takes: sizes, neighbours, suspects, groups, barriers, and waiting."""

from __future__ import annotations

import asyncio
import math
from collections.abc import Awaitable, Callable, Sequence
from dataclasses import replace
from typing import Any

import pytest
from tests.checker.benches import Tried
from tests.checker.polling import until
from tests.checker.scripted import Scripted, done

from penstock.engine.claim import choose_rows
from penstock.engine.context import StopSign
from penstock.engine.run import run_items
from penstock.engine.settle import settle
from penstock.engine.worker.loop import Worker
from penstock.model.errors import ItemError
from penstock.model.outcomes import Outcome, Retry
from penstock.model.pipeline import Item, Stage, each
from penstock.model.ports import Context
from penstock.settings import Settings
from penstock.store.database import Connection
from penstock.store.jobs import claims, slices
from penstock.store.jobs.claims import Candidate, Picked


@pytest.fixture
def script(scripted: dict[str, Scripted]) -> Scripted:
    return scripted["scripted"]


def candidates(*crashes: int, fresh: bool = True) -> list[Candidate]:
    return [Candidate(n, c, fresh) for n, c in enumerate(crashes, 1)]


@pytest.mark.parametrize(
    ("crashes", "size", "rows", "floor"),
    [
        ((), 8, [], 0),
        ((0, 0, 0), 2, [1, 2], 3),
        ((0, 0, 0), 8, [1, 2, 3], 4),
        ((1, 1, 1, 1), 16, [1, 2], 3),
        ((1, 1, 1, 1), 3, [1], 2),
        ((2, 2, 2), 16, [1], 2),
        ((0, 0, 1, 0), 16, [1, 2], 3),
        ((1, 2, 1), 64, [1], 2),
    ],
)
def test_suspects_go_in_small_company(
    crashes: tuple[int, ...], size: int, rows: list[int], floor: int
) -> None:
    assert choose_rows(candidates(*crashes), size) == (rows, floor)


def test_only_fresh_rows_raise_the_floor() -> None:
    assert choose_rows(candidates(0, 0, fresh=False), 8) == ([1, 2], 0)


async def test_many_tiny_jobs_share_one_claim(tried: Tried) -> None:
    jobs = [await tried.send({"rows": 2}) for _ in range(30)]
    async with tried.by_hand() as worker:
        claimed = await worker._claim()
        assert claimed is not None
        assert len(claimed.leases) == 30
        assert len(claimed.items) == 60
        assert (await tried.run(worker, claimed)).held
        assert await worker._claim() is None
    assert {(await tried.job(job_id))["state"] for job_id in jobs} == {"done"}
    await tried.is_clean()


async def test_a_stage_that_waits_for_many_answers_gets_as_many_items(
    tried: Tried, script: Scripted, monkeypatch: pytest.MonkeyPatch
) -> None:
    job_id = await tried.send({"rows": 40})
    async with tried.runtime.db.transaction() as conn:
        # Slow items: a turn is too short for two.
        await conn.execute("UPDATE job_stages SET avg_ms = 100000 WHERE job_id = $1", job_id)
    async with tried.by_hand() as worker:
        claimed = await worker._claim()
        assert claimed is not None
        assert len(claimed.items) == 1
        stage = claimed.work.stage
    monkeypatch.setattr(type(script), "items_at_once", {stage: 8})
    async with tried.by_hand() as worker:
        claimed = await worker._claim()
        assert claimed is not None
        assert len(claimed.items) == 8


async def test_a_claim_holds_only_one_org_and_stage(tried: Tried, principal: Any) -> None:
    other = await principal("globex")
    await tried.send({"rows": 3})
    await tried.send({"rows": 3, "stages": 2})
    await tried.send({"rows": 3}, who=other)
    async with tried.by_hand() as worker:
        claimed = await worker._claim()
        assert claimed is not None
        assert len({job.org_id for job in claimed.jobs}) == 1
        assert len(claimed.items) in (3, 6)
        await tried.run(worker, claimed)
        while await worker.run_once():
            pass
    await tried.is_clean()


class TestBytes:
    @pytest.fixture
    def settings(self, settings: Settings) -> Settings:
        return settings.model_copy(update={"claim_max_bytes": 20_000})

    @pytest.mark.parametrize("groups", [0, 16])
    async def test_a_claim_stays_inside_its_bound_of_bytes(self, tried: Tried, groups: int) -> None:
        await tried.send({"rows": 64, "inline": False, "payload": 2000, "groups": groups})
        async with tried.by_hand() as worker:
            assert await worker.run_once()  # the ingest
            claimed = await worker._claim()
            assert claimed is not None
            assert sum(len(item.input or "") for item in claimed.items) <= 20_000
            if groups:
                await worker._work(claimed, StopSign())
            else:
                await tried.run(worker, claimed)
            while await worker.run_once():
                pass
        await tried.is_clean()


async def test_time_is_up_and_the_rest_is_released_without_an_attempt(
    tried: Tried, script: Scripted
) -> None:
    stop = StopSign()

    def work(item: Item, stage: int, ctx: Context) -> Outcome:
        if item.row_no == 3:
            stop.set("lease ran out")
        return done(item, stage, ctx)

    script.work = work
    job_id = await tried.send({"rows": 10})
    async with tried.by_hand() as worker:
        claimed = await worker._claim()
        assert claimed is not None
        worked = await run_items(tried.runtime, claimed, stop, 60)
        await settle(tried.runtime, claimed, worked, worker.id, 1)
        items = await tried.items(job_id)
        assert [i["status"] for i in items] == ["DONE"] * 3 + ["PENDING"] * 7
        assert {(i["attempts"], i["crashes"]) for i in items[3:]} == {(0, 0)}
        script.work = done
        while await worker.run_once():
            pass
    assert (await tried.job(job_id))["done"] == 10
    await tried.is_clean()


async def test_groups_keep_their_order_through_retries(tried: Tried, script: Scripted) -> None:
    def work(item: Item, stage: int, ctx: Context) -> Outcome:
        if item.row_no % 5 == 0 and item.attempts == 0:
            return Retry(ItemError("API_TIMEOUT", "again"))
        return done(item, stage, ctx)

    script.work = work
    job_id = await tried.send({"rows": 60, "groups": 4})
    await tried.finish(job_id)
    ends: dict[str, list[int]] = {}
    async with tried.runtime.db.acquire() as conn:
        for row in await conn.fetch("""
            SELECT group_key, row_no FROM history_items WHERE to_status = 'DONE' ORDER BY n"""):
            ends.setdefault(row["group_key"], []).append(row["row_no"])
    # Within one settle the order of writing is the database's own; turns must be in order.
    turns = [row for row, _ in script.began]
    for rows in ends.values():
        mine = [row for row in turns if row in set(rows)]
        assert mine == sorted(mine), mine
    await tried.is_clean()


async def test_a_barrier_waits_for_every_item(tried: Tried, script: Scripted) -> None:
    def work(item: Item, stage: int, ctx: Context) -> Outcome:
        if stage == 0 and item.row_no == 7 and item.attempts < 2:
            return Retry(ItemError("API_TIMEOUT", "again"))
        return done(item, stage, ctx)

    script.work = work
    await tried.finish(await tried.send({"rows": 200, "stages": 2, "barrier": 1, "inline": False}))
    first_of_last = script.began.index(next(b for b in script.began if b[1] == 1))
    assert all(stage == 0 for _, stage in script.began[:first_of_last])
    assert len(script.began) == 200 * 2 + 2
    await tried.is_clean()


async def test_a_claim_that_finds_nothing_does_not_hide_what_a_settle_just_returned(
    tried: Tried, script: Scripted, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The claim looks while the settle is about to commit, and rests the stage after it."""
    gate, reached = asyncio.Event(), asyncio.Event()
    charge = slices.charge

    async def slow_charge(conn: Connection, *args: Any) -> None:
        await charge(conn, *args)
        reached.set()
        await gate.wait()

    script.work = lambda item, stage, ctx: (
        Retry(ItemError("API_TIMEOUT", "again")) if item.attempts == 0 else done(item, stage, ctx)
    )
    job_id = await tried.send({"rows": 1})
    async with tried.by_hand() as worker, tried.by_hand() as other:
        claimed = await worker._claim()
        assert claimed is not None
        async with tried.runtime.db.acquire() as conn:
            # As a stage is that has only items which others hold or which are not due yet.
            await conn.execute("UPDATE job_stages SET ready_at = now() WHERE kind = 'items'")
            await conn.execute("UPDATE jobs SET ready_at = now()")
        monkeypatch.setattr(slices, "charge", slow_charge)
        settling = asyncio.create_task(tried.run(worker, claimed))
        await reached.wait()
        looking = asyncio.create_task(other._claim())

        async def waits_for_the_lock() -> bool:
            async with tried.runtime.db.acquire() as conn:
                return bool(await conn.fetchval(
                    "SELECT count(*) > 0 FROM pg_locks WHERE NOT granted AND pid IN ("
                    "SELECT pid FROM pg_stat_activity WHERE query LIKE '%job_stages%'"
                    " OR query LIKE '%FROM jobs%')"))  # fmt: skip

        await until(waits_for_the_lock, "the claim to wait for the settle", timeout=60)
        gate.set()
        await settling
        found = await looking
        if found is not None:
            await tried.run(other, found)
    (job,) = await tried.finish(job_id)
    assert job["done"] == 1
    await tried.is_clean()


async def test_a_claim_of_all_that_is_due_lets_the_job_rest_until_the_next_is(
    tried: Tried, script: Scripted
) -> None:
    """Without a claim that finds nothing in between."""
    script.work = lambda item, stage, ctx: (
        Retry(ItemError("API_TIMEOUT", "later"), 600_000 if item.row_no > 2 else 0)
        if item.attempts == 0
        else done(item, stage, ctx)
    )
    job_id = await tried.send({"rows": 6})

    async def ready_in() -> float:
        async with tried.runtime.db.acquire() as conn:
            row = await conn.fetchrow(
                "SELECT extract(epoch FROM j.ready_at - now())::float,"
                " extract(epoch FROM s.ready_at - now())::float"
                " FROM jobs j JOIN job_stages s ON s.job_id = j.id AND s.kind = 'items'"
                " WHERE j.id = $1", job_id,
            )  # fmt: skip
        assert row is not None
        assert row[0] == row[1]
        return float(row[0])

    async with tried.by_hand() as worker:
        first = await worker._claim()
        assert first is not None
        assert len(first.items) == 6
        assert await ready_in() == math.inf
        await tried.run(worker, first)
        async with tried.runtime.db.acquire() as conn:
            await conn.execute("UPDATE job_items SET due_at = now() WHERE row_no <= 2")
            await conn.execute("UPDATE job_stages SET ready_at = now() WHERE kind = 'items'")
            await conn.execute("UPDATE jobs SET ready_at = now()")
        second = await worker._claim()
        assert second is not None
        assert len(second.items) == 2
        # Four items are left, due in ten minutes.
        assert 500 < await ready_in() < 700
        await tried.run(worker, second)
    assert (await tried.job(job_id))["done"] == 2


async def test_a_claim_of_a_part_leaves_the_job_ready(tried: Tried) -> None:
    settings = tried.runtime.settings.model_copy(update={"claim_max": 2})
    tried.runtime = replace(tried.runtime, settings=settings)
    job_id = await tried.send({"rows": 6})
    async with tried.by_hand() as worker:
        claimed = await worker._claim()
        assert claimed is not None
        assert len(claimed.items) == 2
        async with tried.runtime.db.acquire() as conn:
            assert await conn.fetchval("SELECT ready_at <= now() FROM jobs WHERE id = $1", job_id)
        await tried.run(worker, claimed)
    await tried.finish(job_id)


async def test_rows_that_came_while_a_claim_looked_keep_the_job_ready(
    tried: Tried, monkeypatch: pytest.MonkeyPatch
) -> None:
    pick = claims.pick_items

    async def before_the_others_came(*args: Any) -> list[Picked]:
        return [one._replace(candidates=one.candidates[:2]) for one in await pick(*args)]

    job_id = await tried.send({"rows": 6})
    monkeypatch.setattr(claims, "pick_items", before_the_others_came)
    async with tried.by_hand() as worker:
        claimed = await worker._claim()
        assert claimed is not None
        assert claimed.leases[0].exhausts
        monkeypatch.undo()
        # Not settled yet, which would make it ready anyway.
        following = await worker._claim()
        assert following is not None
        assert [item.row_no for item in following.items] == [3, 4, 5, 6]
        await tried.run(worker, claimed)
        await tried.run(worker, following)
    (job,) = await tried.finish(job_id)
    assert job["done"] == 6
    await tried.is_clean()


async def test_items_of_a_stage_that_waits_are_not_run_in_smaller_pieces(
    tried: Tried, script: Scripted, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A piece is settled when its slowest item has its answer. With slow items pieces used to be
    one item each, and a claim of several items waited for one answer after the other."""
    monkeypatch.setattr(type(script), "items_at_once", {"s0": 8})
    monkeypatch.setattr(type(script), "stages", _stages_at_once(8))
    running = most = 0

    async def work(item: Item, stage: int, ctx: Context) -> Outcome:
        nonlocal running, most
        running += 1
        most = max(most, running)
        await asyncio.sleep(0.05)
        running -= 1
        return done(item, stage, ctx)

    script.work = work
    job_id = await tried.send({"rows": 16})
    async with tried.runtime.db.transaction() as conn:
        await conn.execute("UPDATE job_stages SET avg_ms = 5000 WHERE job_id = $1", job_id)
    async with tried.by_hand() as worker:
        while await worker.run_once():
            pass
    assert most == 8
    assert (await tried.job(job_id))["done"] == 16
    await tried.is_clean()


async def test_jobs_of_one_claim_wait_for_their_answers_at_the_same_time(
    tried: Tried, script: Scripted, monkeypatch: pytest.MonkeyPatch
) -> None:
    running = most = 0

    async def work(item: Item, stage: int, ctx: Context) -> Outcome:
        nonlocal running, most
        running += 1
        most = max(most, running)
        await asyncio.sleep(0.05)
        running -= 1
        return done(item, stage, ctx)

    script.work = work

    async def import_shops(*tags: str) -> int:
        nonlocal most
        most = 0
        jobs = [await tried.send({"rows": 1, "tag": tag}) for tag in tags]
        async with tried.by_hand() as worker:
            claimed = await worker._claim()
            assert claimed is not None
            assert len(claimed.leases) == len(tags)
            assert (await tried.run(worker, claimed)).held
        assert {(await tried.job(job_id))["state"] for job_id in jobs} == {"done"}
        return most

    assert await import_shops(*"abcdef") == 1
    monkeypatch.setattr(type(script), "items_at_once", {"s0": 4})
    monkeypatch.setattr(type(script), "waiting_stages", frozenset(("s0",)))
    assert await import_shops(*"ghijkl") == 4
    await tried.is_clean()


@pytest.mark.slow
async def test_slices_that_wait_for_answers_take_a_sixteenth_of_a_slot(
    tried: Tried, script: Scripted, principal: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    slots = tried.runtime.settings.worker_slots
    release, running = asyncio.Event(), 0

    async def work(item: Item, stage: int, ctx: Context) -> Outcome:
        nonlocal running
        running += 1
        await release.wait()
        return done(item, stage, ctx)

    async def fill(stages: frozenset[str], orgs: Sequence[str], expected: int) -> int:
        """How many slices one worker runs at once, with a job of each org."""
        nonlocal running
        running = 0
        release.clear()
        monkeypatch.setattr(type(script), "waiting_stages", stages)
        jobs = [await tried.send({"rows": 1}, who=await principal(name)) for name in orgs]
        worker = Worker(tried.runtime, sweeps=False, announces=False)
        task = asyncio.create_task(worker.run())
        await until(_holds(lambda: running >= expected), "the slots to be full")
        # None is taken beyond.
        await asyncio.sleep(0.5)
        most = running
        release.set()
        await until(_holds(lambda: running == len(orgs)), "all to run")
        worker.stop()
        await task
        await worker._running.drain(5, asyncio.Event())
        assert {(await tried.job(job_id))["state"] for job_id in jobs} == {"done"}
        return most

    script.work = work
    orgs = [f"org{number}" for number in range(17 * slots)]
    assert await fill(frozenset(), orgs, slots) == slots
    assert await fill(frozenset(("s0",)), orgs, 16 * slots) == 16 * slots
    await tried.is_clean()


def _holds(condition: Callable[[], bool]) -> Callable[[], Awaitable[bool]]:
    async def holds() -> bool:
        return condition()

    return holds


def _stages_at_once(at_once: int) -> Callable[..., tuple[Stage, ...]]:
    """Stages that work on several items at the same time."""

    def stages(script: Scripted, config: Any) -> tuple[Stage, ...]:
        return tuple(
            Stage(f"s{n}", run=each(script._at(n), at_once), policy=script.policy)
            for n in range(config.stages)
        )

    return stages
