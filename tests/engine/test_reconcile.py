"""Jobs beyond their limit fail; jobs whose rows were damaged by hand come to their end."""

from __future__ import annotations

from typing import Any
from uuid import UUID

import pytest
from tests.checker.benches import Tried
from tests.checker.scenarios import claim

from penstock.engine.services.reconcile import Reconciler, ReconcilerConfig, ReconcileResult
from penstock.store.jobs import events, jobs

pytestmark = pytest.mark.slow

_EAGER = ReconcilerConfig(every_ms=50, job_limit_ms=60_000, stuck_ms=0)


async def damage(tried: Tried, statement: str, *args: Any) -> None:
    async with tried.runtime.db.acquire() as conn:
        await conn.execute(statement, *args)


async def reconcile(tried: Tried) -> ReconcileResult:
    return await Reconciler(tried.runtime, _EAGER).run_once()


async def last_event(tried: Tried, job_id: UUID, event: str) -> bool:
    async with tried.runtime.db.acquire() as conn:
        return any(row.event == event for row in await events.events_of(conn, job_id, 0, 1000))


# The limit


async def grow_old(tried: Tried, job_id: UUID, *, slices: bool = True, job: bool = True) -> None:
    """As if two minutes had passed."""
    if slices:
        await damage(
            tried, "UPDATE slices SET claimed_at = claimed_at - interval '2 min' WHERE job_id = $1",
            job_id,
        )  # fmt: skip
    if job:
        await damage(
            tried, "UPDATE jobs SET updated_at = updated_at - interval '2 min',"
            " served_at = served_at - interval '2 min' WHERE id = $1", job_id,
        )  # fmt: skip


async def test_a_job_held_for_its_whole_limit_fails(tried: Tried) -> None:
    job_id = await tried.send({"rows": 3})
    async with tried.by_hand() as worker:
        claimed = await claim(worker)
        await grow_old(tried, job_id)
        assert (await reconcile(tried)).overdue == (job_id,)
        job = await tried.job(job_id)
        assert job["state"] == "failed"
        assert "JOB_TIMEOUT" in job["last_error"]
        assert job["skipped"] == 3
        assert not (await tried.run(worker, claimed)).held
    assert await reconcile(tried) == ReconcileResult()


async def test_one_that_settles_is_not_beyond_it(tried: Tried) -> None:
    job_id = await tried.send({"rows": 3})
    async with tried.by_hand() as worker:
        await claim(worker)
        await grow_old(tried, job_id, job=False)
        assert await reconcile(tried) == ReconcileResult()


async def test_waiting_pauses_and_standing_do_not_count(tried: Tried) -> None:
    waiting = await tried.send({"rows": 1})
    await grow_old(tried, waiting)
    standing = await tried.send({"rows": 1}, "standing")
    async with tried.by_hand() as worker:
        await claim(worker)
        await claim(worker)
    await grow_old(tried, standing)
    await grow_old(tried, waiting)
    async with tried.runtime.db.transaction() as conn:
        await jobs.pause(conn, waiting)
        await conn.execute("UPDATE jobs SET updated_at = updated_at - interval '2 min'")
    assert await reconcile(tried) == ReconcileResult()
    async with tried.runtime.db.transaction() as conn:
        await jobs.resume(conn, waiting)
    assert await reconcile(tried) == ReconcileResult()


# Lost tickets

_RESTS = "UPDATE job_stages SET ready_at = 'infinity' WHERE job_id = $1"
_JOB_RESTS = "UPDATE jobs SET ready_at = 'infinity' WHERE id = $1"


@pytest.mark.parametrize(
    "statements",
    [
        [_RESTS, _JOB_RESTS],
        [_JOB_RESTS],
        ["UPDATE jobs SET ready_at = now() + interval '1 day' WHERE id = $1"],
        [_RESTS, _JOB_RESTS, "UPDATE job_stages SET pending = 0, open = 0 WHERE job_id = $1"],
        [_RESTS, _JOB_RESTS, "UPDATE job_stages SET floor = 1000 WHERE job_id = $1"],
        [_RESTS, _JOB_RESTS, "UPDATE jobs SET pending = 0, done = 5 WHERE id = $1"],
        [_RESTS, _JOB_RESTS, "UPDATE jobs SET total = 7, pending = 7 WHERE id = $1"],
    ],
)
@pytest.mark.parametrize(
    "config", [{"rows": 5}, {"rows": 5, "groups": 2}, {"rows": 5, "stages": 2, "barrier": 1}]
)
async def test_a_lost_ticket_is_found(
    tried: Tried, statements: list[str], config: dict[str, Any]
) -> None:
    job_id = await tried.send(config)
    for statement in statements:
        await damage(tried, statement, job_id)
    assert (await reconcile(tried)).mended == (job_id,)
    assert await last_event(tried, job_id, "job.warning")
    assert await reconcile(tried) == ReconcileResult()
    await tried.finish(job_id)
    assert (await tried.job(job_id))["done"] == 5


async def test_items_that_nobody_holds_wait_again(tried: Tried) -> None:
    job_id = await tried.send({"rows": 5})
    async with tried.by_hand() as worker:
        await claim(worker)
    await damage(tried, "DELETE FROM slices WHERE job_id = $1", job_id)
    assert (await reconcile(tried)).mended == (job_id,)
    await tried.finish(job_id)
    assert (await tried.job(job_id))["done"] == 5


@pytest.mark.parametrize("pipeline", ["scripted", "whole"])
async def test_a_job_with_nothing_left_ends(tried: Tried, pipeline: str) -> None:
    """Its last settle was undone by hand: all items are terminal, the job is not."""
    job_id = await tried.send({"rows": 2}, pipeline)
    await tried.finish(job_id)
    await damage(
        tried, "UPDATE jobs SET state = 'running', finished_at = NULL, paused = true,"
        " ready_at = 'infinity' WHERE id = $1", job_id,
    )  # fmt: skip
    await damage(tried, _RESTS, job_id)
    assert (await reconcile(tried)).mended == (job_id,)
    await tried.finish(job_id)
    assert (await tried.job(job_id))["state"] == "done"


async def test_a_lost_ingest_goes_on(tried: Tried) -> None:
    job_id = await tried.send({"rows": 200, "inline": False, "batch": 50})
    for statement in (_RESTS, _JOB_RESTS):
        await damage(tried, statement, job_id)
    assert (await reconcile(tried)).mended == (job_id,)
    await tried.finish(job_id)
    assert (await tried.job(job_id))["done"] == 200


async def test_an_ending_that_was_lost_comes_to_its_end(tried: Tried) -> None:
    job_id = await tried.send({"rows": 5})
    await damage(
        tried, "UPDATE jobs SET state = 'cancelling', ending = 'cancelled', ready_at = 'infinity'"
        " WHERE id = $1", job_id,
    )  # fmt: skip
    await damage(tried, _RESTS, job_id)
    assert (await reconcile(tried)).mended == (job_id,)
    await tried.finish(job_id)
    assert (await tried.job(job_id))["state"] == "cancelled"


async def test_what_rests_for_a_reason_is_left_alone(tried: Tried) -> None:
    """Standing jobs without work, barriers that wait, claims under way, jobs for later."""
    standing = await tried.send({"rows": 1}, "standing")
    async with tried.by_hand() as worker:
        await tried.run(worker, await claim(worker))
        await tried.send({"rows": 6, "stages": 2, "barrier": 1})
        await claim(worker)
    assert (await tried.job(standing))["done"] == 1
    assert await reconcile(tried) == ReconcileResult()
