"""How jobs end: with their items, by failing, by a cancel; pauses and summaries."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any
from uuid import UUID

import asyncpg
import orjson
import pytest
from tests.checker.benches import Tried
from tests.checker.scenarios import claim
from tests.checker.scripted import Scripted

from penstock.engine import ending
from penstock.engine.context import StopSign
from penstock.model.errors import BadInput, ItemError, Unavailable
from penstock.model.outcomes import Fail
from penstock.model.pipeline import Job
from penstock.store.jobs import jobs as store


@pytest.fixture
def script(scripted: dict[str, Scripted]) -> Scripted:
    return scripted["scripted"]


@pytest.fixture
def whole(scripted: dict[str, Scripted]) -> Scripted:
    return scripted["whole"]


async def cancel(tried: Tried, job_id: UUID) -> str | None:
    async with tried.runtime.db.transaction() as conn:
        return await ending.cancel(conn, job_id)


async def told(tried: Tried, job_id: UUID, event: str) -> list[dict[str, Any]]:
    return [orjson.loads(e["data"]) for e in await tried.events(job_id) if e["event"] == event]


def raising(error: Exception, at: int = 0, times: int = 10**6) -> Any:
    """A `before_rows` that fails at a row, so often."""
    left = [times]

    def before_rows(start: int) -> None:
        if start >= at and left[0]:
            left[0] -= 1
            raise error

    return before_rows


async def test_bad_input_fails_the_job_and_skips_its_items(tried: Tried, script: Scripted) -> None:
    script.before_rows = raising(BadInput("UNSUPPORTED_TYPE", "not a table"), at=100)
    job_id = await tried.send({"rows": 200, "inline": False, "batch": 50})
    (job,) = await tried.finish(job_id)
    assert (job["state"], job["total"], job["skipped"]) == ("failed", 100, 100)
    assert orjson.loads(job["last_error"])["code"] == "UNSUPPORTED_TYPE"
    items = await tried.items(job_id)
    errors = [orjson.loads(i["error"]) for i in items]
    assert {error["code"] for error in errors} == {"JOB_FAILED"}
    assert {error["details"]["cause"] for error in errors} == {"UNSUPPORTED_TYPE"}
    (failed,) = await told(tried, job_id, "job.failed")
    assert failed["lastError"]["code"] == "UNSUPPORTED_TYPE"
    assert not await told(tried, job_id, "job.retrying")
    await tried.is_clean()


async def test_a_transient_error_is_tried_three_times_more(tried: Tried, script: Scripted) -> None:
    script.before_rows = raising(Unavailable("BLOB_UNAVAILABLE", "storage is away"), at=50)
    job_id = await tried.send({"rows": 100, "inline": False, "batch": 50})
    (job,) = await tried.finish(job_id)
    assert job["state"] == "failed"
    retries = await told(tried, job_id, "job.retrying")
    assert [r["attempt"] for r in retries] == [1, 2, 3]
    assert [1000 * 2**n <= r["inMs"] <= 1200 * 2**n for n, r in enumerate(retries)] == [True] * 3
    assert retries[0]["error"]["code"] == "BLOB_UNAVAILABLE"
    assert len(await told(tried, job_id, "job.failed")) == 1
    await tried.is_clean()


async def test_an_ingest_that_recovers_goes_on_from_its_cursor(
    tried: Tried, script: Scripted
) -> None:
    script.before_rows = raising(Unavailable("BLOB_UNAVAILABLE", "away"), at=100, times=2)
    job_id = await tried.send({"rows": 300, "inline": False, "batch": 50})
    (job,) = await tried.finish(job_id)
    assert (job["state"], job["done"], job["attempts"]) == ("done", 300, 0)
    await tried.is_clean()


async def test_a_server_in_trouble_is_not_counted_against_the_job(
    tried: Tried, script: Scripted
) -> None:
    script.before_rows = raising(asyncpg.AdminShutdownError("terminating"), at=50, times=6)
    job_id = await tried.send({"rows": 100, "inline": False, "batch": 50})
    (job,) = await tried.finish(job_id)
    assert (job["state"], job["done"]) == ("done", 100)
    assert not await told(tried, job_id, "job.retrying")
    await tried.is_clean()


async def test_workers_that_die_over_an_ingest_fail_the_job(tried: Tried, script: Scripted) -> None:
    job_id = await tried.send({"rows": 100, "inline": False})
    for _ in range(3):
        async with tried.by_hand() as worker:
            assert (await claim(worker)).work.kind == "ingest"
            await tried.expire()
    (job,) = await tried.finish(job_id)
    assert (job["state"], orjson.loads(job["last_error"])["code"]) == ("failed", "WORKER_CRASHED")
    await tried.is_clean()


async def test_workers_that_die_over_an_ingest_that_moves_do_not(
    tried: Tried, script: Scripted
) -> None:
    """Each one stored some rows before it died."""
    job_id = await tried.send({"rows": 200, "inline": False, "batch": 20})
    for at in (20, 40, 60, 80, 100):
        script.before_rows = raising(KeyboardInterrupt(), at=at, times=1)  # type: ignore[arg-type]
        async with tried.by_hand() as worker:
            while (claimed := await claim(worker)).work.kind != "ingest":
                await tried.run(worker, claimed)
            with pytest.raises(KeyboardInterrupt):
                await worker._work(claimed, StopSign())
            await tried.expire()
    script.before_rows = lambda start: None
    (job,) = await tried.finish(job_id)
    assert (job["state"], job["done"]) == ("done", 200)
    await tried.is_clean()


async def test_a_batch_whose_commit_was_ambiguous_is_stored_once(
    tried: Tried, script: Scripted, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The commit went through, its answer did not come: the same batch is tried again."""
    from penstock.engine import ingest as engine_ingest

    sound = engine_ingest.Ingest._store_once
    lost: list[int] = []

    async def store_once(self: Any, *args: Any) -> float:
        waited = await sound(self, *args)
        if len(lost) < 3:
            lost.append(1)
            raise asyncpg.ConnectionDoesNotExistError("connection was closed")
        return waited

    monkeypatch.setattr(engine_ingest.Ingest, "_store_once", store_once)
    job_id = await tried.send({"rows": 100, "inline": False, "batch": 20})
    (job,) = await tried.finish(job_id)
    assert (job["state"], job["done"], len(lost)) == ("done", 100, 3)
    assert not await told(tried, job_id, "job.retrying")
    await tried.is_clean()


async def test_a_job_without_rows_is_done(tried: Tried) -> None:
    ids = [await tried.send({"rows": 0}), await tried.send({"rows": 0, "inline": False})]
    ended = await tried.finish(*ids)
    assert [(j["state"], j["total"], j["percent"]) for j in ended] == [("done", 0, 100)] * 2
    await tried.is_clean()


async def test_a_standing_job_never_ends(tried: Tried) -> None:
    job_id = await tried.send({"rows": 3}, pipeline="standing")
    await tried.work()
    job = await tried.job(job_id)
    assert (job["state"], job["done"], job["finished_at"]) == ("running", 3, None)
    await tried.is_clean()
    await cancel(tried, job_id)
    assert (await tried.job(job_id))["state"] == "cancelled"
    await tried.is_clean()


async def test_stages_start_when_the_whole_input_was_learnt(tried: Tried, whole: Scripted) -> None:
    seen: list[Mapping[str, Any]] = []
    begun_before: list[int] = []

    def after_rows() -> Mapping[str, Any]:
        begun_before.append(len(whole.began))
        return {"decimal": ","}

    whole.after_rows = after_rows

    def work(item: Any, stage: int, ctx: Any) -> Any:
        seen.append(item.job.context)
        return Fail(ItemError("VALIDATION_ERROR", "no"))

    whole.work = work
    whole.summary = lambda job: {"failed": job.counters["error"]}
    job_id = await tried.send({"rows": 150, "inline": False, "batch": 50}, pipeline="whole")
    (job,) = await tried.finish(job_id)
    assert begun_before == [0]
    assert {context["decimal"] for context in seen} == {","}
    assert orjson.loads(job["summary"]) == {"failed": 150}
    await tried.is_clean()


async def test_few_rows_are_learnt_from_as_well(tried: Tried, whole: Scripted) -> None:
    whole.after_rows = lambda: {"decimal": ","}
    (job,) = await tried.finish(await tried.send({"rows": 3}, pipeline="whole"))
    assert orjson.loads(job["context"]) == {"decimal": ","}
    await tried.is_clean()


async def test_a_summary_that_fails_is_tried_again(tried: Tried, whole: Scripted) -> None:
    tries = []

    def summary(job: Job) -> Mapping[str, Any]:
        tries.append(job.id)
        if len(tries) < 3:
            raise RuntimeError("no summary yet")
        return {"tries": len(tries)}

    whole.summary = summary
    job_id = await tried.send({"rows": 3}, pipeline="whole")
    (job,) = await tried.finish(job_id)
    assert orjson.loads(job["summary"]) == {"tries": 3}
    assert len(await told(tried, job_id, "job.retrying")) == 2
    await tried.is_clean()


async def test_a_summary_that_never_comes_fails_the_job(tried: Tried, whole: Scripted) -> None:
    whole.summary = lambda job: {"a": 1 / 0}
    job_id = await tried.send({"rows": 3}, pipeline="whole")
    (job,) = await tried.finish(job_id)
    assert (job["state"], job["done"], job["skipped"]) == ("failed", 3, 0)
    await tried.is_clean()


async def test_cancel_skips_what_is_open_and_keeps_what_is_done(tried: Tried) -> None:
    job_id = await tried.send({"rows": 64 + 30, "stages": 1})
    async with tried.by_hand() as worker:
        await tried.run(worker, await claim(worker))
        held = await claim(worker)
        assert await cancel(tried, job_id) is not None
        assert not (await tried.run(worker, held)).held
        assert await worker._claim() is None
    job = await tried.job(job_id)
    assert (job["state"], job["done"], job["skipped"]) == ("cancelled", 64, 30)
    skipped = await tried.items(job_id, "status = 'SKIPPED'")
    assert {orjson.loads(i["error"])["code"] for i in skipped} == {"CANCELLED"}
    (end,) = await told(tried, job_id, "job.cancelled")
    assert (end["done"], end["skipped"]) == (64, 30)
    assert await cancel(tried, job_id) is None
    await tried.is_clean()


class TestLongEnding:
    """More open items than the cancel's own transaction skips."""

    @pytest.fixture(autouse=True)
    def _few_at_once(self, monkeypatch: pytest.MonkeyPatch) -> None:
        monkeypatch.setattr(ending, "MAX_SKIPPED_AT_ONCE", 3)
        monkeypatch.setattr("penstock.engine.finish._CHUNK", 5)

    async def test_a_worker_skips_the_rest(self, tried: Tried) -> None:
        job_id = await tried.send({"rows": 40})
        assert await cancel(tried, job_id) is not None
        assert (await tried.job(job_id))["state"] == "cancelling"
        (job,) = await tried.finish(job_id)
        assert (job["state"], job["skipped"]) == ("cancelled", 40)
        await tried.is_clean()

    async def test_a_second_cancel_takes_nothing_away(self, tried: Tried) -> None:
        job_id = await tried.send({"rows": 40})
        await cancel(tried, job_id)
        async with tried.by_hand() as worker:
            claimed = await claim(worker)
            assert claimed.work.kind == "finish"
            assert await cancel(tried, job_id) is None
            await worker._work(claimed, StopSign())
        (job,) = await tried.finish(job_id)
        assert job["state"] == "cancelled"
        await tried.is_clean()

    async def test_it_ends_however_many_workers_die_over_it(self, tried: Tried) -> None:
        job_id = await tried.send({"rows": 40})
        await cancel(tried, job_id)
        for _ in range(5):
            async with tried.by_hand() as worker:
                assert (await claim(worker)).work.kind == "finish"
                await tried.expire()
        (job,) = await tried.finish(job_id)
        assert (job["state"], job["skipped"]) == ("cancelled", 40)
        await tried.is_clean()

    async def test_it_ends_however_often_it_fails(
        self, tried: Tried, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        sound = store.skip_open_items
        failed: list[int] = []

        async def skip_open_items(*args: Any) -> int:
            if len(failed) < 6:
                failed.append(1)
                raise RuntimeError("a bug that goes away")
            return await sound(*args)

        job_id = await tried.send({"rows": 40})
        await cancel(tried, job_id)
        monkeypatch.setattr(store, "skip_open_items", skip_open_items)
        (job,) = await tried.finish(job_id)
        assert (job["state"], job["skipped"]) == ("cancelled", 40)
        await tried.is_clean()


async def test_a_pause_lets_the_running_settle_and_nothing_start(tried: Tried) -> None:
    job_id = await tried.send({"rows": 94})
    async with tried.by_hand() as worker:
        held = await claim(worker)
        async with tried.runtime.db.transaction() as conn:
            assert await store.pause(conn, job_id) is not None
            assert await store.pause(conn, job_id) is None
        assert await worker._claim() is None
        assert (await tried.run(worker, held)).held
        assert await worker._claim() is None
        assert (await tried.job(job_id))["done"] == 64
        await tried.is_clean(drained=False)
        async with tried.runtime.db.transaction() as conn:
            assert await store.resume(conn, job_id) is not None
    (job,) = await tried.finish(job_id)
    assert (job["done"], job["paused"]) == (94, False)
    kinds = [e["event"] for e in await tried.events(job_id)]
    assert kinds.index("job.paused") < kinds.index("job.resumed")
    await tried.is_clean()


async def test_a_paused_job_still_completes(tried: Tried) -> None:
    job_id = await tried.send({"rows": 3})
    async with tried.by_hand() as worker:
        held = await claim(worker)
        async with tried.runtime.db.transaction() as conn:
            await store.pause(conn, job_id)
        await tried.run(worker, held)
    assert (await tried.job(job_id))["state"] == "done"
    await tried.is_clean()


async def test_progress_never_falls_while_the_job_grows(
    tried: Tried, scripted: dict[str, Scripted]
) -> None:
    from penstock.model.outcomes import Child, Done

    spawning = scripted["spawning"]
    spawning.work = lambda item, stage, ctx: Done(
        {}, spawn=[Child(f"{item.row_no}.{n}", {}) for n in range(20)] if item.key is None else ()
    )
    job_id = await tried.send({"rows": 90, "inline": False, "batch": 30}, pipeline="spawning")
    (job,) = await tried.finish(job_id)
    assert (job["total"], job["percent"]) == (90 * 21, 100)
    await tried.is_clean()
