"""A worker that stops gives back what it cannot finish; work that hangs does not keep its slot."""

from __future__ import annotations

import asyncio
import time
from collections.abc import AsyncGenerator, AsyncIterator, Mapping
from dataclasses import replace
from typing import Any

import orjson
import pytest
from tests.checker.benches import Tried
from tests.checker.polling import until
from tests.checker.scripted import Scripted

from penstock.engine.services.reconcile import Reconciler, ReconcilerConfig
from penstock.engine.worker import slots as module
from penstock.engine.worker.loop import Worker
from penstock.model.outcomes import Done, Outcome
from penstock.model.pipeline import Item, Job, RowBatch
from penstock.model.ports import Context

pytestmark = pytest.mark.slow


class Hang:
    """Work that begins and does not come back, unless it is cancelled."""

    def __init__(self) -> None:
        self.began = 0
        self.cancelled = 0

    async def __call__(self, *_: Any) -> Any:
        self.began += 1
        try:
            await asyncio.Event().wait()
        except asyncio.CancelledError:
            self.cancelled += 1
            raise

    async def begins(self, times: int = 1) -> None:
        async def began() -> bool:
            return self.began >= times

        await until(began, "the work to begin")


@pytest.fixture
def hang() -> Hang:
    return Hang()


async def stopped(worker: Worker, running: asyncio.Task[None], *, signals: int = 1) -> float:
    """Tell it to stop; answers how long it took."""
    began = time.monotonic()
    for _ in range(signals):
        worker.stop()
    del _left_running[worker]
    await running
    await worker.__aexit__()
    return time.monotonic() - began


async def started(tried: Tried) -> tuple[Worker, asyncio.Task[None]]:
    worker = await Worker(tried.runtime).__aenter__()
    running = asyncio.create_task(worker.run())
    _left_running[worker] = running
    return worker, running


_left_running: dict[Worker, asyncio.Task[None]] = {}


@pytest.fixture(autouse=True)
async def none_is_left(tried: Tried) -> AsyncIterator[None]:
    """A test that failed in between must not leave a worker behind."""
    yield
    for worker, running in list(_left_running.items()):
        await stopped(worker, running, signals=2)


def be_patient(tried: Tried) -> None:
    """A worker that waited for all of this could be told from one that did not."""
    longer = tried.runtime.settings.model_copy(update={"shutdown_ms": 20_000})
    tried.runtime = replace(tried.runtime, settings=longer)


async def shutdown_event(tried: Tried) -> Any:
    async with tried.runtime.db.acquire() as conn:
        data = await conn.fetchval("SELECT data FROM events WHERE event = 'queue.shutdown'")
    return orjson.loads(data)


async def test_all_slots_busy(tried: Tried, scripted: dict[str, Scripted], hang: Hang) -> None:
    """Everything is given back within the time, and no attempt is counted."""
    scripted["scripted"].work = lambda item, stage, ctx: hang()
    jobs = [await tried.send({"rows": 3, "tag": str(n)}) for n in range(3)]
    grouped = await tried.send({"rows": 4, "groups": 2})
    worker, running = await started(tried)
    await hang.begins(2)
    took = await stopped(worker, running)
    assert took < tried.runtime.settings.shutdown_ms / 1000 + 20
    assert hang.cancelled == hang.began
    for job_id in (*jobs, grouped):
        for item in await tried.items(job_id):
            assert (item["status"], item["attempts"], item["crashes"]) == ("PENDING", 0, 0)
    told = await shutdown_event(tried)
    assert told["slicesReleased"] >= 1
    assert (told["slicesLeft"], told["itemsSettled"]) == (0, 0)
    scripted["scripted"].work = lambda item, stage, ctx: Done({})
    await tried.finish(*jobs, grouped)
    await tried.is_clean()


async def test_what_can_be_finished_is_finished(
    tried: Tried, scripted: dict[str, Scripted]
) -> None:
    began = asyncio.Event()

    async def work(item: Item, stage: int, ctx: Context) -> Outcome:
        began.set()
        await asyncio.sleep(0.3)
        return Done({})

    scripted["scripted"].work = work
    be_patient(tried)
    job_id = await tried.send({"rows": 5})
    worker, running = await started(tried)
    await began.wait()
    assert await stopped(worker, running) < 8
    job = await tried.job(job_id)
    assert (job["done"], job["pending"]) == (1, 4)
    told = await shutdown_event(tried)
    assert (told["slicesFinished"], told["slicesReleased"], told["itemsSettled"]) == (1, 0, 1)
    await tried.is_clean(drained=False)


async def test_told_twice_it_waits_for_nothing(
    tried: Tried, scripted: dict[str, Scripted], hang: Hang
) -> None:
    scripted["scripted"].work = lambda item, stage, ctx: hang()
    be_patient(tried)
    await tried.send({"rows": 1})
    worker, running = await started(tried)
    await hang.begins()
    assert await stopped(worker, running, signals=2) < 8
    assert (await shutdown_event(tried))["slicesReleased"] == 1
    await tried.is_clean(drained=False)


async def test_in_the_middle_of_an_ingest(
    tried: Tried, scripted: dict[str, Scripted], hang: Hang, monkeypatch: pytest.MonkeyPatch
) -> None:
    hung_rows(scripted["scripted"], hang, monkeypatch)
    job_id = await tried.send({"rows": 60, "inline": False})
    worker, running = await started(tried)
    await hang.begins()
    await stopped(worker, running, signals=2)
    job = await tried.job(job_id)
    assert (job["total"], job["attempts"], job["ingest_done"]) == (50, 0, False)
    monkeypatch.undo()
    (job,) = await tried.finish(job_id)
    assert job["done"] == 60
    await tried.is_clean()


async def test_work_in_a_child_process(tried: Tried) -> None:
    job_id = await tried.submit("noop", {"items": 4, "cpuMs": 60_000})
    worker, running = await started(tried)

    async def busy() -> bool:
        return bool(await tried.items(job_id, "status = 'PROCESSING'"))

    await until(busy, "the child to have work")
    assert await stopped(worker, running) < tried.runtime.settings.shutdown_ms / 1000 + 6
    for item in await tried.items(job_id):
        assert (item["status"], item["attempts"], item["crashes"]) == ("PENDING", 0, 0)


def hung_rows(pipeline: Scripted, hang: Hang, monkeypatch: pytest.MonkeyPatch) -> None:
    """An input that gives a first batch and then nothing more."""

    async def rows(
        job: Job, ctx: Context, cursor: Mapping[str, Any] | None
    ) -> AsyncGenerator[RowBatch, None]:
        whole = Scripted().rows(job, ctx, cursor)
        ctx.batch_rows = 50
        if cursor is None:
            yield await anext(whole)
        await hang()

    monkeypatch.setattr(pipeline, "rows", rows)


# Beyond the job's limit


async def grow_old(tried: Tried) -> None:
    async with tried.runtime.db.acquire() as conn:
        for table in ("jobs SET updated_at = updated_at", "slices SET claimed_at = claimed_at"):
            await conn.execute(f"UPDATE {table} - interval '1 hour'")


async def test_hung_work_loses_its_job_and_its_slot(
    tried: Tried, scripted: dict[str, Scripted], hang: Hang, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A hung ingest, a hung summary and a hung item: the job fails, the worker goes on."""
    monkeypatch.setattr(module, "_GRACE_SECONDS", 0.1)
    monkeypatch.setattr(module, "_LOOK_SECONDS", 0.05)
    hung_rows(scripted["scripted"], hang, monkeypatch)
    monkeypatch.setattr(scripted["whole"], "summarize", hang)
    scripted["spawning"].work = lambda item, stage, ctx: hang()
    jobs = [
        await tried.send({"rows": 60, "inline": False}),
        await tried.send({"rows": 1}, "whole"),
        await tried.send({"rows": 1}, "spawning"),
    ]
    worker, running = await started(tried)
    await hang.begins(3)

    async def at_rest() -> bool:
        return bool((await tried.job(jobs[0]))["done"] == 50)

    await until(at_rest, "the rows that came in to be settled")
    await grow_old(tried)
    config = ReconcilerConfig(every_ms=50, job_limit_ms=60_000, stuck_ms=60_000)
    assert set((await Reconciler(tried.runtime, config).run_once()).overdue) == set(jobs)

    async def freed() -> bool:
        return hang.cancelled == 3 and len(worker._running) == 0

    await until(freed, "the slots to be free")
    for job_id in jobs:
        assert "JOB_TIMEOUT" in (await tried.job(job_id))["last_error"]
    last = await tried.send({"rows": 2}, "standing")

    async def served() -> bool:
        return bool((await tried.job(last))["done"] == 2)

    await until(served, "the worker to go on")
    await stopped(worker, running)


async def test_without_a_database_it_leaves_all_the_same(
    tried: Tried, scripted: dict[str, Scripted], hang: Hang, monkeypatch: pytest.MonkeyPatch
) -> None:
    """What it holds is left to its lease, and nothing of it goes on trying."""
    scripted["scripted"].work = lambda item, stage, ctx: hang()
    await tried.send({"rows": 2})
    worker, running = await started(tried)
    await hang.begins()
    before = asyncio.all_tasks()

    monkeypatch.setattr(tried.runtime.db, "_pool", None)
    took = await stopped(worker, running)
    assert took < tried.runtime.settings.shutdown_ms / 1000 + 20
    assert not [task for task in before if "_work" in repr(task) and not task.done()]
    monkeypatch.undo()
    assert await tried.expire() == 1
