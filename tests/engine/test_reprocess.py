"""Running ended items again: which, from where, and what becomes of their job."""

from __future__ import annotations

from typing import Any
from uuid import UUID

import orjson
import pytest
from tests.checker.benches import Tried
from tests.checker.scenarios import claim
from tests.checker.scripted import Scripted, done

from penstock.app import bulk
from penstock.app.bulk_operations import go_on
from penstock.engine import ending, reprocess
from penstock.engine.context import StopSign
from penstock.model.errors import BadInput, ItemError, PermanentError
from penstock.model.outcomes import Child, Done, Fail, NotFound, Outcome, Retry, Skip
from penstock.model.pipeline import Item
from penstock.model.ports import Context
from penstock.model.reprocess import Selection
from penstock.model.states import ItemStatus
from penstock.store.jobs import jobs as store

WRONG = ItemError("VALIDATION_ERROR", "never")


@pytest.fixture
def script(scripted: dict[str, Scripted]) -> Scripted:
    return scripted["scripted"]


async def again(tried: Tried, job_id: UUID, **selection: Any) -> bulk.Reprocessed:
    """Reprocess, and go on with what is large to its end."""
    async with tried.runtime.db.transaction() as conn:
        made = await bulk.reprocess_job(
            tried.runtime, conn, tried.who, job_id, Selection(**selection)
        )
    if made.operation_id is not None:
        assert await go_on(tried.runtime, made.operation_id, 60)
    return made


async def cancel(tried: Tried, job_id: UUID) -> None:
    async with tried.runtime.db.transaction() as conn:
        assert await ending.cancel(conn, job_id) is not None


async def told(tried: Tried, job_id: UUID, event: str) -> list[dict[str, Any]]:
    return [orjson.loads(e["data"]) for e in await tried.events(job_id) if e["event"] == event]


def failing(*rows: int, how: Outcome | None = None, stage: int = 0) -> Any:
    def work(item: Item, at: int, ctx: Context) -> Outcome:
        if item.row_no in rows and at == stage:
            return how or Fail(WRONG)
        return done(item, at, ctx)

    return work


async def test_what_failed_runs_again_and_nothing_else(tried: Tried, script: Scripted) -> None:
    script.work = failing(2, 5)
    job_id = await tried.send({"rows": 8})
    (job,) = await tried.finish(job_id)
    assert (job["done"], job["error"], job["percent"]) == (6, 2, 100)
    script.work = done
    script.began.clear()
    made = await again(tried, job_id)
    assert (made.items, made.left_out, made.operation_id) == (2, 0, None)
    job = await tried.job(job_id)
    assert (job["state"], job["pending"], job["error"], job["generation"]) == ("queued", 2, 0, 2)
    assert (job["finished_at"], job["started_at"], job["percent"]) == (None, None, 75)
    async with tried.runtime.db.acquire() as conn:
        stored = await store.get_job(conn, job_id)
    assert stored is not None
    assert stored.errors is None
    (job,) = await tried.finish(job_id)
    assert (job["state"], job["done"], job["percent"]) == ("done", 8, 100)
    assert script.began == [(2, 0), (5, 0)]
    assert {i["row_no"]: i["generation"] for i in await tried.items(job_id)} == {
        n: 2 if n in (2, 5) else 1 for n in range(1, 9)
    }
    kinds = [e["event"] for e in await tried.events(job_id) if e["event"] != "job.progress"]
    assert kinds == ["job.queued", "job.started", "job.completed"] * 2
    await tried.is_clean()


async def test_nothing_to_run_changes_nothing(tried: Tried) -> None:
    job_id = await tried.send({"rows": 3})
    (before,) = await tried.finish(job_id)
    made = await again(tried, job_id)
    assert (made.items, made.lane) == (0, None)
    assert await tried.job(job_id) == before
    await tried.is_clean()


async def test_it_goes_on_in_the_stage_in_which_it_ended(tried: Tried, script: Scripted) -> None:
    script.work = failing(1, 4, stage=1)
    job_id = await tried.send({"rows": 5, "stages": 3})
    await tried.finish(job_id)
    script.work = done
    script.began.clear()
    await again(tried, job_id)
    await tried.finish(job_id)
    assert sorted(script.began) == [(1, 1), (1, 2), (4, 1), (4, 2)]
    script.work = failing(2, stage=0)
    await again(tried, job_id, statuses=(ItemStatus.DONE,), rows=(2,), whole_job=False)
    script.began.clear()
    await tried.finish(job_id)
    assert script.began == [(2, 2)]
    await tried.is_clean()


async def test_from_the_start_nothing_is_kept(tried: Tried, script: Scripted) -> None:
    script.work = failing(3, stage=2, how=Fail(WRONG, result={"half": True}))
    job_id = await tried.send({"rows": 3, "stages": 3})
    await tried.finish(job_id)
    script.began.clear()
    await again(tried, job_id, from_start=True)
    (item,) = await tried.items(job_id, "row_no = 3")
    assert (item["stage"], item["normalized"], item["result"]) == (0, None, None)
    (job,) = await tried.finish(job_id)
    assert (script.began, job["error"]) == ([(3, 0), (3, 1), (3, 2)], 1)
    await tried.is_clean()


async def test_a_reopened_row_is_not_hidden_below_the_floor(tried: Tried, script: Scripted) -> None:
    """The first stage looks for fresh rows only above those it has seen."""
    script.work = failing(1)
    job_id = await tried.send({"rows": 300, "inline": False, "batch": 50})
    await tried.finish(job_id)
    script.work = done
    await again(tried, job_id)
    (job,) = await tried.finish(job_id)
    assert job["done"] == 300
    await tried.is_clean()


async def test_barriers_wait_for_what_is_reopened(tried: Tried, script: Scripted) -> None:
    script.work = failing(1, 2, stage=0)
    job_id = await tried.send({"rows": 4, "stages": 2, "barrier": 1})
    await tried.finish(job_id)
    script.work = failing(2, stage=1)
    await again(tried, job_id)
    script.began.clear()
    (job,) = await tried.finish(job_id)
    assert (script.began, job["error"]) == ([(1, 0), (2, 0), (1, 1), (2, 1)], 1)
    script.work = done
    await again(tried, job_id)
    (job,) = await tried.finish(job_id)
    assert job["done"] == 4
    await tried.is_clean()


@pytest.mark.parametrize(
    ("how", "runs"),
    [
        # What is never tried again by itself may be run again by people, as often as any error.
        (Fail(WRONG), 2),
        # Failed for good at once, though its error would have been given more tries.
        (Fail(ItemError("API_TIMEOUT", "no")), 2),
        (Retry(ItemError("API_TIMEOUT", "no")), 0),
        (NotFound(), 0),
    ],
)
async def test_without_a_reset_only_what_has_tries_left(
    tried: Tried, script: Scripted, how: Outcome, runs: int
) -> None:
    script.work = failing(1, 2, how=how)
    job_id = await tried.send({"rows": 3})
    await tried.finish(job_id)
    before = {i["row_no"]: i["attempts"] for i in await tried.items(job_id, "row_no < 3")}
    made = await again(tried, job_id, reset_attempts=False)
    assert (made.items, made.left_out) == (runs, 2 - runs)
    after = {i["row_no"]: i["attempts"] for i in await tried.items(job_id, "row_no < 3")}
    assert after == before
    made = await again(tried, job_id, reset_attempts=True)
    assert made.items == 2 - runs
    await tried.finish(job_id)
    # The checker knows no such thing as failing for good with tries left.
    assert runs or not await tried.violations()


async def test_statuses_codes_and_rows_choose(tried: Tried, script: Scripted) -> None:
    def work(item: Item, stage: int, ctx: Context) -> Outcome:
        match item.row_no % 5:
            case 0:
                return Fail(WRONG)
            case 1:
                return Fail(ItemError("OTHER", "never"))
            case 2:
                return NotFound()
            case 3:
                return Skip("no need")
            case _:
                return done(item, stage, ctx)

    script.work = work
    job_id = await tried.send({"rows": 20})
    await tried.finish(job_id)

    async def runs(**selection: Any) -> tuple[int, int]:
        made = await again(tried, job_id, **selection)
        await tried.finish(job_id)
        return made.items, made.left_out

    error, skipped = ItemStatus.ERROR, ItemStatus.SKIPPED
    assert await runs() == (12, 0)
    assert await runs(statuses=(error,)) == (8, 0)
    assert await runs(statuses=(error,), codes=("OTHER",)) == (4, 0)
    assert await runs(codes=("UNHEARD_OF",)) == (0, 0)
    assert await runs(statuses=(skipped,)) == (4, 0)
    assert await runs(statuses=(ItemStatus.DONE, skipped)) == (8, 0)
    # Rows: a good one, a done one, one that a stage skipped, and one that does not exist.
    assert await runs(whole_job=False, rows=(4, 5, 8, 21)) == (1, 3)
    await tried.is_clean()


async def test_few_among_many_are_all_found(
    tried: Tried, script: Scripted, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Of more rows with problems than one look takes in, those of one code are spread over all."""
    monkeypatch.setattr(reprocess, "CHUNK", 10)
    rare = ItemError("RARE", "now and then")

    def work(item: Item, stage: int, ctx: Context) -> Outcome:
        return Fail(rare if item.row_no % 9 == 0 else WRONG)

    script.work = work
    job_id = await tried.send({"rows": 60})
    await tried.finish(job_id)
    script.work = done
    made = await again(tried, job_id, codes=("RARE",))
    assert made.operation_id is not None
    assert await go_on(tried.runtime, made.operation_id, 30)
    (job,) = await tried.finish(job_id)
    assert (job["done"], job["error"]) == (6, 54)
    await tried.is_clean()


async def test_a_cancelled_job_goes_on(tried: Tried, script: Scripted) -> None:
    """With what the cancel skipped, and not with what a stage did."""
    script.work = failing(1, 2, how=Skip("no need"))
    job_id = await tried.send({"rows": 64 + 30})
    async with tried.by_hand() as worker:
        await tried.run(worker, await claim(worker))
        held = await claim(worker)
        await cancel(tried, job_id)
        made = await again(tried, job_id)
        assert made.items == 30
        # Its lease was of the generation before.
        assert not (await tried.run(worker, held)).held
    (job,) = await tried.finish(job_id)
    assert (job["state"], job["done"], job["skipped"], job["ending"]) == ("done", 92, 2, None)
    await tried.is_clean()


async def test_an_ingest_that_was_cut_off_goes_on(tried: Tried, script: Scripted) -> None:
    def before_rows(start: int) -> None:
        if start >= 100:
            raise BadInput("UNSUPPORTED_TYPE", "not a table")

    sound, script.before_rows = script.before_rows, before_rows
    job_id = await tried.send({"rows": 250, "inline": False, "batch": 50})
    (job,) = await tried.finish(job_id)
    assert (job["state"], job["total"], job["ingest_done"]) == ("failed", 100, False)
    with pytest.raises(PermanentError, match="scope `job`") as refused:
        await again(tried, job_id, whole_job=False, rows=(1,))
    assert refused.value.code == "INVALID_STATE"
    script.before_rows = sound
    made = await again(tried, job_id)
    assert made.items == 100
    async with tried.runtime.db.acquire() as conn:
        letter = await conn.fetchrow("SELECT state, new_job_id, closed_by FROM dead_letters")
        assert tuple(letter or ()) == ("reprocessed", job_id, tried.who.user_id)
        assert await conn.fetchval("SELECT sum(open) FROM dead_letter_groups") == 0
    (job,) = await tried.finish(job_id)
    assert (job["state"], job["done"], job["last_error"]) == ("done", 250, None)
    await tried.is_clean()


async def test_a_job_cancelled_before_it_began_begins(tried: Tried) -> None:
    job_id = await tried.send({"rows": 120, "inline": False})
    await cancel(tried, job_id)
    assert (await again(tried, job_id)).items == 0
    (job,) = await tried.finish(job_id)
    assert (job["state"], job["done"]) == ("done", 120)
    await tried.is_clean()


async def test_a_job_that_learns_still_waits_for_all_its_rows(
    tried: Tried, scripted: dict[str, Scripted]
) -> None:
    whole = scripted["whole"]
    sound = whole.before_rows

    def before_rows(start: int) -> None:
        if start >= 100:
            raise BadInput("UNSUPPORTED_TYPE", "not a table")

    whole.before_rows = before_rows
    job_id = await tried.send({"rows": 150, "inline": False, "batch": 50}, pipeline="whole")
    await tried.finish(job_id)
    whole.before_rows = sound
    began_before: list[int] = []

    def after_rows() -> dict[str, Any]:
        began_before.append(len(whole.began))
        return {}

    whole.after_rows = after_rows
    assert (await again(tried, job_id)).items == 100
    (job,) = await tried.finish(job_id)
    assert (job["done"], began_before) == (150, [0])
    await tried.is_clean()


async def test_a_job_is_summed_up_again(tried: Tried, scripted: dict[str, Scripted]) -> None:
    whole = scripted["whole"]
    whole.work = failing(2)
    whole.summary = lambda job: {"failed": job.counters["error"]}
    job_id = await tried.send({"rows": 3}, pipeline="whole")
    (job,) = await tried.finish(job_id)
    assert orjson.loads(job["summary"]) == {"failed": 1}
    whole.work = done
    await again(tried, job_id)
    assert (await tried.job(job_id))["summary"] is None
    (job,) = await tried.finish(job_id)
    assert orjson.loads(job["summary"]) == {"failed": 0}
    await tried.is_clean()


async def test_a_job_that_failed_over_its_summary_alone(
    tried: Tried, scripted: dict[str, Scripted]
) -> None:
    whole = scripted["whole"]
    whole.summary = lambda job: {"a": 1 / 0}
    job_id = await tried.send({"rows": 3}, pipeline="whole")
    (job,) = await tried.finish(job_id)
    assert job["state"] == "failed"
    whole.summary = lambda job: {"fine": True}
    made = await again(tried, job_id)
    assert (made.items, made.lane) == (0, "standard")
    (job,) = await tried.finish(job_id)
    assert (job["state"], job["summary"]) == ("done", '{"fine": true}')
    await tried.is_clean()


async def test_whoever_sums_up_is_stopped_by_a_reprocess(
    tried: Tried, scripted: dict[str, Scripted]
) -> None:
    """The summary of a job that is not over is not written, nor is its end."""
    whole = scripted["whole"]
    whole.work = failing(2)
    job_id = await tried.send({"rows": 3}, pipeline="whole")
    async with tried.by_hand() as worker:
        while (held := await claim(worker)).work.kind != "finish":
            await worker._work(held, StopSign())
        whole.work = done
        assert (await again(tried, job_id)).items == 1
        assert (await tried.job(job_id))["state"] == "running"
        await worker._work(held, StopSign())
        assert (await tried.job(job_id))["state"] == "running"
    (job,) = await tried.finish(job_id)
    assert (job["state"], job["done"]) == ("done", 3)
    await tried.is_clean()


async def test_a_running_job_is_a_new_generation_too(tried: Tried, script: Scripted) -> None:
    script.work = failing(1, 2)
    job_id = await tried.send({"rows": 64 + 30})
    async with tried.by_hand() as worker:
        await tried.run(worker, await claim(worker))
        held = await claim(worker)
        made = await again(tried, job_id)
        assert made.items == 2
        job = await tried.job(job_id)
        assert (job["state"], job["generation"], job["pending"]) == ("running", 2, 2)
        # What it holds is not of concern, and is written.
        assert (await tried.run(worker, held)).held
    script.work = done
    (job,) = await tried.finish(job_id)
    assert job["done"] == 94
    (status,) = await told(tried, job_id, "job.status")
    assert status == {
        "generation": 2,
        "items": 2,
        "reprocess": {"scope": "job", "statuses": ["ERROR", "NOT_FOUND"]},
    }
    await tried.is_clean()


async def test_groups_keep_their_order(tried: Tried, script: Scripted) -> None:
    script.work = failing(1, 5)
    job_id = await tried.send({"rows": 8, "groups": 4})
    await tried.finish(job_id)
    script.work = done
    script.began.clear()
    await again(tried, job_id)
    await tried.finish(job_id)
    assert script.began == [(1, 0), (5, 0)]
    await tried.is_clean()


async def test_children_are_not_born_twice(tried: Tried, scripted: dict[str, Scripted]) -> None:
    spawning = scripted["spawning"]

    def work(item: Item, stage: int, ctx: Context) -> Outcome:
        if item.key is not None:
            return Fail(WRONG) if item.key.endswith("1") else Done({})
        return Done({}, spawn=[Child(f"{item.row_no}.{n}", {}) for n in range(3)])

    spawning.work = work
    job_id = await tried.send({"rows": 2}, pipeline="spawning")
    (job,) = await tried.finish(job_id)
    assert (job["total"], job["error"]) == (8, 2)
    every = (ItemStatus.DONE, ItemStatus.ERROR)
    assert (await again(tried, job_id, statuses=every, from_start=True)).items == 8
    (job,) = await tried.finish(job_id)
    assert (job["total"], job["error"]) == (8, 2)
    await tried.is_clean()


async def test_a_job_that_is_ending_is_left_alone(
    tried: Tried, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(ending, "MAX_SKIPPED_AT_ONCE", 3)
    job_id = await tried.send({"rows": 40})
    await cancel(tried, job_id)
    with pytest.raises(PermanentError, match="still being ended"):
        await again(tried, job_id)
    await tried.finish(job_id)
    await again(tried, job_id)
    (job,) = await tried.finish(job_id)
    assert job["done"] == 40
    await tried.is_clean()


class TestLarge:
    """More items than one transaction reopens: an operation goes on, chunk by chunk."""

    @pytest.fixture(autouse=True)
    def _few_at_once(self, monkeypatch: pytest.MonkeyPatch) -> None:
        monkeypatch.setattr(reprocess, "MOST_AT_ONCE", 3)
        monkeypatch.setattr(reprocess, "CHUNK", 5)

    async def begun(self, tried: Tried, job_id: UUID, **selection: Any) -> UUID:
        async with tried.runtime.db.transaction() as conn:
            made = await bulk.reprocess_job(
                tried.runtime, conn, tried.who, job_id, Selection(**selection)
            )
        assert made.operation_id is not None
        return made.operation_id

    async def test_the_job_is_not_over_between_chunks(self, tried: Tried, script: Scripted) -> None:
        script.work = failing(*range(1, 21))
        job_id = await tried.send({"rows": 30, "stages": 2, "barrier": 1})
        await tried.finish(job_id)
        script.work = done
        operation = await self.begun(tried, job_id)
        async with tried.by_hand() as worker:
            # Nothing is reopened yet, and nothing is left to do: the job waits all the same.
            assert await worker._claim() is None
            job = await tried.job(job_id)
            # What is still to be reopened is not behind it.
            assert (job["state"], round(job["percent"])) == ("queued", 33)
            script.began.clear()
            for reopened in (5, 10, 15):
                assert not await go_on(tried.runtime, operation, 0)
                while await worker.run_once():
                    pass
                job = await tried.job(job_id)
                assert (job["state"], job["pending"], job["done"]) == ("running", reopened, 10)
                assert round(job["percent"]) == 33
            # The barrier stays shut until the last one is through the stage before it.
            assert {stage for _, stage in script.began} == {0}
        assert await go_on(tried.runtime, operation, 60)
        (job,) = await tried.finish(job_id)
        assert (job["state"], job["done"], job["generation"]) == ("done", 30, 2)
        await tried.is_clean()

    async def test_what_fails_again_meanwhile_is_not_taken_twice(
        self, tried: Tried, script: Scripted
    ) -> None:
        script.work = failing(*range(1, 13))
        job_id = await tried.send({"rows": 12})
        await tried.finish(job_id)
        operation = await self.begun(tried, job_id)
        while not await go_on(tried.runtime, operation, 0):
            await tried.work()
        (job,) = await tried.finish(job_id)
        assert job["error"] == 12
        assert {i["generation"] for i in await tried.items(job_id)} == {2}
        await tried.is_clean()

    async def test_a_cancel_between_chunks_wins(self, tried: Tried, script: Scripted) -> None:
        script.work = failing(*range(1, 13))
        job_id = await tried.send({"rows": 12})
        await tried.finish(job_id)
        operation = await self.begun(tried, job_id)
        await go_on(tried.runtime, operation, 0)
        with pytest.raises(PermanentError, match="reopened already"):
            await again(tried, job_id)
        await cancel(tried, job_id)
        assert await go_on(tried.runtime, operation, 60)
        job = await tried.job(job_id)
        assert (job["state"], job["skipped"], job["error"]) == ("cancelled", 5, 7)
        assert job["ingest_done"]
        await tried.is_clean()
        script.work = done
        await again(tried, job_id)
        (job,) = await tried.finish(job_id)
        assert job["done"] == 12
        await tried.is_clean()

    async def test_an_abort_lets_the_job_go(self, tried: Tried, script: Scripted) -> None:
        script.work = failing(*range(1, 13))
        job_id = await tried.send({"rows": 12})
        await tried.finish(job_id)
        operation = await self.begun(tried, job_id)
        await go_on(tried.runtime, operation, 0)
        script.work = done
        await tried.work()
        async with tried.runtime.db.transaction() as conn:
            assert await bulk.abort(conn, tried.who, operation, None)
            assert not await bulk.abort(conn, tried.who, operation, None)
        job = await tried.job(job_id)
        assert (job["state"], job["done"], job["error"]) == ("done", 5, 7)
        assert await go_on(tried.runtime, operation, 60)
        await tried.is_clean()
