"""Work inside a request keeps its time; work that is told to stop starts nothing more."""

from __future__ import annotations

import asyncio
import time
from uuid import UUID

import pytest
from tests.checker.benches import Tried
from tests.checker.polling import until
from tests.checker.scripted import Scripted, done

from penstock.app.kickoff import kickoff
from penstock.engine import ending
from penstock.engine.run import child_piece
from penstock.engine.worker import slots
from penstock.model.outcomes import Outcome
from penstock.model.pipeline import Item
from penstock.model.ports import Context

pytestmark = pytest.mark.slow

# What a claim, a settle and a busy machine may take on top. All that is there takes longer.
SLACK_S = 12.0


@pytest.fixture
def script(scripted: dict[str, Scripted]) -> Scripted:
    return scripted["scripted"]


async def timed(tried: Tried, job_id: UUID, duration_ms: int) -> tuple[int, float]:
    """Slices worked, and the seconds that took."""
    began = time.monotonic()
    slices = await kickoff(tried.runtime, job_id, duration_ms)
    return slices, time.monotonic() - began


async def test_nothing_starts_after_its_time(tried: Tried, script: Scripted) -> None:
    """Fifty milliseconds each, one after the other: it ends with the item that runs."""
    starts: list[float] = []

    async def work(item: Item, stage: int, ctx: Context) -> Outcome:
        starts.append(time.monotonic())
        await asyncio.sleep(0.05)
        return done(item, stage, ctx)

    script.work = work
    job_id = await tried.send({"rows": 300})
    began = time.monotonic()
    slices, took = await timed(tried, job_id, 1000)
    assert slices >= 1
    assert max(starts) <= began + 1 + SLACK_S
    assert took <= 1.05 + SLACK_S
    job = await tried.job(job_id)
    assert 1 <= job["done"] == len(starts) < 300
    # What did not start went back as it came.
    assert {i["attempts"] for i in await tried.items(job_id, "status = 'PENDING'")} == {0}
    await tried.is_clean(drained=False)


async def test_a_millisecond_is_over_before_anything_starts(tried: Tried, script: Scripted) -> None:
    job_id = await tried.send({"rows": 64})
    slices, took = await timed(tried, job_id, 1)
    assert (slices, script.began) == (0, [])
    assert took <= SLACK_S
    assert (await tried.job(job_id))["pending"] == 64
    await tried.is_clean(drained=False)


async def test_heavy_work_goes_in_pieces_that_fit_the_time(tried: Tried) -> None:
    # A child process has to start first.
    await kickoff(tried.runtime, await tried.submit("noop", {"items": 1, "cpuMs": 1}), 5000)
    job_id = await tried.submit("noop", {"items": 300, "cpuMs": 50})
    for _ in range(2):
        _, took = await timed(tried, job_id, 400)
        assert took <= 0.45 + SLACK_S
    assert 0 < (await tried.job(job_id))["done"] < 300


@pytest.mark.parametrize(
    ("item_ms", "left_ms", "size"),
    [(None, 9000, 1), (0.01, 9000, 256), (50, 9000, 4), (50, 120, 2), (50, 10, 1), (0, 9000, 256)],
)
def test_a_piece_fits_the_time(item_ms: float | None, left_ms: float, size: int) -> None:
    assert child_piece(item_ms, left_ms) == size


async def test_an_ingest_stops_after_the_batch_at_hand(tried: Tried, script: Scripted) -> None:
    script.before_rows = lambda start: time.sleep(0.05)
    job_id = await tried.send({"rows": 5000, "inline": False, "batch": 20})
    _, took = await timed(tried, job_id, 500)
    assert took <= 0.6 + SLACK_S
    stored = (await tried.job(job_id))["total"]
    assert 0 < stored < 5000
    script.before_rows = lambda start: None
    # Even the shortest time stores a batch, so that asking again and again comes to an end.
    await kickoff(tried.runtime, job_id, 1)
    await tried.finish(job_id)
    await tried.is_clean()


async def test_a_cancel_stops_what_runs_after_the_item_at_hand(
    tried: Tried, script: Scripted
) -> None:
    """Within a second or so: the heartbeat finds the lease gone and raises the stop sign."""
    starts: list[float] = []

    async def work(item: Item, stage: int, ctx: Context) -> Outcome:
        starts.append(time.monotonic())
        await asyncio.sleep(0.05)
        return done(item, stage, ctx)

    script.work = work
    job_id = await tried.send({"rows": 100})
    async with tried.worker() as worker:
        running = asyncio.create_task(worker.run())

        async def begun() -> bool:
            return len(starts) > 2

        await until(begun, "the work to begin")
        async with tried.runtime.db.transaction() as conn:
            assert await ending.cancel(conn, job_id) is not None
        cancelled = time.monotonic()

        async def idle() -> bool:
            return not worker._running

        await until(idle, "the worker to notice", timeout=60)
        last = starts[-1]
        worker.stop()
        await running
    assert last - cancelled <= 1 + SLACK_S
    assert len(starts) < 100
    job = await tried.job(job_id)
    assert (job["state"], job["done"] + job["skipped"]) == ("cancelled", 100)
    await tried.is_clean()


async def test_work_that_heeds_nothing_is_cut_off_after_a_grace(
    tried: Tried, script: Scripted, monkeypatch: pytest.MonkeyPatch
) -> None:
    """In a request as in a worker: whoever asked for it must get an answer."""
    monkeypatch.setattr(slots, "_GRACE_SECONDS", 0.3)
    begun = asyncio.Event()

    async def work(item: Item, stage: int, ctx: Context) -> Outcome:
        begun.set()
        await asyncio.sleep(3600)
        raise AssertionError

    script.work = work
    job_id = await tried.send({"rows": 3})
    asked = asyncio.create_task(kickoff(tried.runtime, job_id, 60_000))
    await begun.wait()
    async with tried.runtime.db.transaction() as conn:
        await ending.cancel(conn, job_id)
    await asyncio.wait_for(asked, 30)
    assert (await tried.job(job_id))["state"] == "cancelled"
    await tried.is_clean()
