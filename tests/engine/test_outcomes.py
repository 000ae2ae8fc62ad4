"""Every outcome of a stage, on its way through the database."""

from __future__ import annotations

from datetime import timedelta
from typing import Any

import orjson
import pytest
from tests.checker.benches import Tried
from tests.checker.scripted import Scripted, done

from penstock.model.effects import Emit
from penstock.model.errors import BadInput, ItemError, RateLimited
from penstock.model.outcomes import Advance, Done, Fail, NotFound, Outcome, Retry, Skip
from penstock.model.pipeline import Item
from penstock.model.policy import RetryPolicy
from penstock.model.ports import Context
from penstock.settings import Settings

SLOW = ItemError("API_TIMEOUT", "no answer")


async def one_turn(tried: Tried, script: Scripted, outcome: Outcome, **config: Any) -> Any:
    """Submit one row, let the stage say this of it, and show the item after its first turn."""
    script.work = lambda item, stage, ctx: outcome
    job_id = await tried.send({"rows": 1, **config})
    async with tried.by_hand() as worker:
        assert await worker.run_once()
    (item,) = await tried.items(job_id)
    return item


@pytest.fixture
def script(scripted: dict[str, Scripted]) -> Scripted:
    return scripted["scripted"]


async def test_done_keeps_its_result(tried: Tried, script: Scripted) -> None:
    item = await one_turn(tried, script, Done({"a": 1}, normalized={"b": 2}))
    assert (item["status"], item["attempts"], item["slice_id"]) == ("DONE", 1, None)
    assert orjson.loads(item["result"]) == {"a": 1}
    assert orjson.loads(item["normalized"]) == {"b": 2}
    await tried.is_clean()


async def test_fail_keeps_error_and_result(tried: Tried, script: Scripted) -> None:
    error = ItemError("VALIDATION_ERROR", "bad price", column="price", value="x")
    item = await one_turn(tried, script, Fail(error, result={"a": 1}))
    assert (item["status"], item["attempts"]) == ("ERROR", 1)
    assert orjson.loads(item["error"]) == {
        "code": "VALIDATION_ERROR", "message": "bad price", "column": "price", "value": "x",
    }  # fmt: skip
    assert orjson.loads(item["result"]) == {"a": 1}
    await tried.is_clean()


async def test_skip_burns_no_attempt(tried: Tried, script: Scripted) -> None:
    item = await one_turn(tried, script, Skip("already there"))
    assert (item["status"], item["attempts"]) == ("SKIPPED", 0)
    assert orjson.loads(item["error"])["message"] == "already there"
    await tried.is_clean()


async def test_retry_waits_as_its_rule_says(tried: Tried, script: Scripted) -> None:
    item = await one_turn(tried, script, Retry(SLOW, after_ms=60_000))
    assert (item["status"], item["attempts"]) == ("PENDING", 1)
    wait = item["due_at"] - item["updated_at"]
    assert timedelta(seconds=60) <= wait < timedelta(seconds=61)
    await tried.is_clean(drained=False)


async def test_an_uncounted_wait_burns_no_attempt(tried: Tried, script: Scripted) -> None:
    item = await one_turn(tried, script, Retry(SLOW, after_ms=5000, counted=False))
    assert (item["status"], item["attempts"]) == ("PENDING", 0)
    assert item["due_at"] - item["updated_at"] == timedelta(seconds=5)
    await tried.is_clean(drained=False)


async def test_waiting_is_never_exhausted(tried: Tried, script: Scripted) -> None:
    waits = iter(range(20))

    def work(item: Item, stage: int, ctx: Context) -> Outcome:
        if next(waits, None) is not None:
            return Retry(SLOW, after_ms=1, counted=False)
        return done(item, stage, ctx)

    script.work = work
    (job,) = await tried.finish(await tried.send({"rows": 1}))
    assert (job["done"], job["error"]) == (1, 0)
    await tried.is_clean()


@pytest.mark.parametrize(
    ("code", "runs"),
    [("API_TIMEOUT", 4), ("API_RATE_LIMIT", 6), ("VALIDATION_ERROR", 1), ("NOBODY_KNOWS", 1)],
)
async def test_retries_end_where_the_policy_says(
    tried: Tried, script: Scripted, code: str, runs: int
) -> None:
    script.work = lambda item, stage, ctx: Retry(ItemError(code, "no"))
    job_id = await tried.send({"rows": 3})
    await tried.finish(job_id)
    items = await tried.items(job_id)
    assert {(i["status"], i["attempts"]) for i in items} == {("ERROR", runs)}
    assert len(script.began) == 3 * runs
    await tried.is_clean()


async def test_not_found_is_asked_again_and_ends_as_such(tried: Tried, script: Scripted) -> None:
    script.work = lambda item, stage, ctx: NotFound()
    job_id = await tried.send({"rows": 2})
    (job,) = await tried.finish(job_id)
    assert (job["state"], job["not_found"], len(script.began)) == ("done", 2, 6)
    await tried.is_clean()


async def test_an_exception_is_its_own_items_alone(tried: Tried, script: Scripted) -> None:
    def work(item: Item, stage: int, ctx: Context) -> Outcome:
        match item.row_no:
            case 1:
                raise BadInput("VALIDATION_ERROR", "broken row")
            case 2:
                raise RuntimeError("a bug")
            case 3 if item.attempts == 0:
                raise RateLimited("API_RATE_LIMIT", "slower", retry_after_ms=90_000)
        return done(item, stage, ctx)

    script.work = work
    job_id = await tried.send({"rows": 4})
    async with tried.by_hand() as worker:
        assert await worker.run_once()
    first, second, third, fourth = await tried.items(job_id)
    assert (first["status"], second["status"], fourth["status"]) == ("ERROR", "PENDING", "DONE")
    assert orjson.loads(second["error"])["code"] == "INTERNAL_ERROR"
    assert third["due_at"] - third["updated_at"] >= timedelta(seconds=90)
    (job,) = await tried.finish(job_id)
    assert (job["done"], job["error"]) == (2, 2)
    await tried.is_clean()


async def test_a_chain_of_stages_hands_on_what_it_normalized(
    tried: Tried, script: Scripted
) -> None:
    seen: list[Any] = []

    def work(item: Item, stage: int, ctx: Context) -> Outcome:
        seen.append((stage, item.normalized, item.attempts))
        if stage == 1 and item.attempts == 0:
            return Retry(SLOW)
        return Advance({"stage": stage}) if stage < 2 else Done({"end": True})

    script.work = work
    (job,) = await tried.finish(await tried.send({"rows": 1, "stages": 3}))
    # Attempts are counted per stage.
    assert seen == [
        (0, None, 0),
        (1, {"stage": 0}, 0),
        (1, {"stage": 0}, 1),
        (2, {"stage": 1}, 0),
    ]
    assert job["percent"] == 100
    await tried.is_clean()


async def test_advance_from_the_last_stage_is_an_error_of_its_item(
    tried: Tried, script: Scripted
) -> None:
    def work(item: Item, stage: int, ctx: Context) -> Outcome:
        return Advance() if item.row_no == 1 else done(item, stage, ctx)

    script.work = work
    (job,) = await tried.finish(await tried.send({"rows": 3}))
    assert (job["done"], job["error"]) == (2, 1)
    await tried.is_clean()


@pytest.mark.parametrize("nonsense", ["a word", {"status": "DONE"}, object()])
async def test_what_is_no_outcome_is_an_error_of_its_item(
    tried: Tried, script: Scripted, nonsense: Any
) -> None:
    def work(item: Item, stage: int, ctx: Context) -> Any:
        return nonsense if item.row_no == 1 else done(item, stage, ctx)

    script.work = work
    (job,) = await tried.finish(await tried.send({"rows": 3}))
    assert (job["done"], job["error"]) == (2, 1)
    await tried.is_clean()


@pytest.mark.parametrize(
    "bad", [Done({"a": object()}), Done({}, effects=[Emit("x.y", {"a": object()})])]
)
async def test_what_is_no_json_is_an_error_of_its_item(
    tried: Tried, script: Scripted, bad: Outcome
) -> None:
    def work(item: Item, stage: int, ctx: Context) -> Outcome:
        return bad if item.row_no == 1 else done(item, stage, ctx)

    script.work = work
    (job,) = await tried.finish(await tried.send({"rows": 3}))
    assert (job["done"], job["error"]) == (2, 1)
    await tried.is_clean()


async def test_effects_are_written_with_the_settle(tried: Tried, script: Scripted) -> None:
    def work(item: Item, stage: int, ctx: Context) -> Outcome:
        return Done({}, effects=[Emit("product.seen", {"sku": f"S{item.row_no}"})])

    script.work = work
    job_id = await tried.send({"rows": 3})
    async with tried.by_hand() as worker, tried.by_hand() as late:
        claimed = await late._claim()
        assert claimed is not None
        await tried.expire()
        assert not (await tried.run(late, claimed)).held
        assert "product.seen" not in {e["event"] for e in await tried.events(job_id)}
        while await worker.run_once():
            pass
    seen = [
        orjson.loads(e["data"]) for e in await tried.events(job_id) if e["event"] == "product.seen"
    ]
    assert sorted(seen, key=lambda d: d["rowNo"]) == [
        {"rowNo": n, "sku": f"S{n}"} for n in (1, 2, 3)
    ]
    await tried.is_clean()


async def test_the_events_of_a_job_in_order(tried: Tried, script: Scripted) -> None:
    job_id = await tried.send({"rows": 2}, name="spring list")
    await tried.work()
    events = await tried.events(job_id)
    assert [e["event"] for e in events] == [
        "job.queued", "job.started", "job.progress", "job.completed",
    ]  # fmt: skip
    told = [orjson.loads(e["data"]) for e in events]
    assert told[0] == {
        "pipeline": "scripted", "name": "spring list", "priority": 5, "position": 1,
        "estimatedWaitMs": 0,
    }  # fmt: skip
    assert told[1] == {"pipeline": "scripted"}
    assert {"percent", "stage", "message", "rowsDone", "rowsTotal", "elapsedMs"} <= told[2].keys()
    assert told[3] | {"elapsedMs": 0} == {
        "total": 2, "done": 2, "error": 0, "notFound": 0, "skipped": 0, "elapsedMs": 0,
    }  # fmt: skip
    assert events[1]["worker"] is not None
    await tried.is_clean()


async def test_errors_are_counted_by_code(tried: Tried, script: Scripted) -> None:
    def work(item: Item, stage: int, ctx: Context) -> Outcome:
        return Fail(ItemError("VALIDATION_ERROR" if item.row_no < 4 else "FILE_NOT_FOUND", ""))

    script.work = work
    job_id = await tried.send({"rows": 5})
    await tried.finish(job_id)
    async with tried.runtime.db.acquire() as conn:
        rows = await conn.fetch("SELECT code, count FROM job_errors WHERE job_id = $1", job_id)
    assert {row["code"]: row["count"] for row in rows} == {
        "VALIDATION_ERROR": 3, "FILE_NOT_FOUND": 2,
    }  # fmt: skip


class TestOwnLimits:
    """An installation's own numbers for what nobody foresaw or found."""

    @pytest.fixture
    def settings(self, settings: Settings) -> Settings:
        return settings.model_copy(update={"max_attempts_error": 1, "max_attempts_not_found": 0})

    async def test_they_bound_the_policy(self, tried: Tried, script: Scripted) -> None:
        script.policy = RetryPolicy()

        def work(item: Item, stage: int, ctx: Context) -> Outcome:
            if item.row_no == 1:
                raise RuntimeError("a bug")
            return NotFound()

        script.work = work
        job_id = await tried.send({"rows": 2})
        await tried.finish(job_id)
        first, second = await tried.items(job_id)
        assert (first["status"], first["attempts"]) == ("ERROR", 2)
        assert (second["status"], second["attempts"]) == ("NOT_FOUND", 1)
