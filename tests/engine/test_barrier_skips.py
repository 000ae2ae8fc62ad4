"""Items that need not wait for a barrier go through it in the slice that brought them there."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import orjson
import pytest
from tests.checker.benches import Tried
from tests.checker.scripted import Scripted

from penstock.model.errors import ItemError
from penstock.model.outcomes import AddedCells, Advance, Done, Fail, Outcome, Retry
from penstock.model.pipeline import Item, Stage
from penstock.model.ports import Context

THREE: dict[str, Any] = {"rows": 4, "stages": 3, "barrier": 1}


def even(batch: Sequence[Item]) -> list[bool]:
    return [item.row_no % 2 == 0 for item in batch]


def shown(item: Item, stage: int, ctx: Context) -> Outcome:
    if stage == 0:
        return Advance({"first": item.row_no}, {"row": item.row_no}, pass_on=item.row_no)
    return (
        Advance(None, AddedCells({"second": stage}))
        if stage == 1
        else Done(AddedCells({"third": stage}))
    )


@pytest.fixture
def script(scripted: dict[str, Scripted], monkeypatch: pytest.MonkeyPatch) -> Scripted:
    """Of three stages the second waits for all items but the even ones, and the third for none."""
    made = scripted["scripted"]
    plain = made.stages

    def stages(config: Any) -> tuple[Stage, ...]:
        first, *after = plain(config)
        if not after:
            return (first,)
        second = replace(after[0], skips_barrier=even)
        return (first, second, *(replace(one, at_once=True) for one in after[1:]))

    monkeypatch.setattr(made, "stages", stages)
    made.work = shown
    return made


async def test_the_spared_end_at_once_and_the_others_wait(tried: Tried, script: Scripted) -> None:
    job_id = await tried.send(THREE)
    async with tried.by_hand() as worker:
        assert await worker.run_once()
        halfway = await tried.items(job_id)
        assert [one["status"] for one in halfway] == ["PENDING", "DONE", "PENDING", "DONE"]
        # They ended in the stage they would have waited for, as whose part the third one ran.
        assert [one["stage"] for one in halfway] == [1, 1, 1, 1]
        while await worker.run_once():
            pass
    ended = await tried.items(job_id)
    assert {one["status"] for one in ended} == {"DONE"}
    for row_no, item in enumerate(ended, 1):
        assert orjson.loads(item["result"]) == {"row": row_no, "second": 1, "third": 2}
        assert orjson.loads(item["normalized"]) == {"first": row_no}
    assert sorted(script.began) == [(row, stage) for row in (1, 2, 3, 4) for stage in (0, 1, 2)]
    await tried.is_clean()


async def test_one_that_cannot_pass_waits_like_the_others(tried: Tried, script: Scripted) -> None:
    """A stage that fails for a spared item is tried again in its own time."""
    failed: list[int] = []

    def hesitates(item: Item, stage: int, ctx: Context) -> Outcome:
        if stage == 1 and item.row_no == 2 and not failed:
            failed.append(item.row_no)
            return Retry(ItemError("API_TIMEOUT", "not now"))
        return shown(item, stage, ctx)

    script.work = hesitates
    job_id = await tried.send(THREE)
    async with tried.by_hand() as worker:
        assert await worker.run_once()
        statuses = [one["status"] for one in await tried.items(job_id)]
        assert statuses == ["PENDING", "PENDING", "PENDING", "DONE"]
        while await worker.run_once():
            pass
    assert {one["status"] for one in await tried.items(job_id)} == {"DONE"}
    # The third stage was not given what the second had not let through.
    assert script.began.count((2, 2)) == 1
    await tried.is_clean()


async def test_one_that_waits_behind_the_barrier_goes_on_there(
    tried: Tried, script: Scripted
) -> None:
    """Spared by the second stage, held up by the third: what the second said is not asked again."""

    def slow_end(item: Item, stage: int, ctx: Context) -> Outcome:
        if stage == 2 and script.began.count((item.row_no, 2)) == 1:
            return Retry(ItemError("API_TIMEOUT", "not now"), after_ms=0, counted=False)
        return shown(item, stage, ctx)

    script.work = slow_end
    job_id = await tried.send(THREE)
    async with tried.by_hand() as worker:
        assert await worker.run_once()
        halfway = await tried.items(job_id)
        assert [(one["status"], one["stage"]) for one in halfway if one["row_no"] % 2 == 0] == [
            ("PENDING", 2), ("PENDING", 2),
        ]  # fmt: skip
        while await worker.run_once():
            pass
    assert script.began.count((2, 1)) == 1
    ended = await tried.items(job_id)
    assert [orjson.loads(one["result"])["third"] for one in ended] == [2, 2, 2, 2]
    await tried.is_clean()


async def test_one_that_fails_behind_the_barrier_says_where(tried: Tried, script: Scripted) -> None:
    def refuses(item: Item, stage: int, ctx: Context) -> Outcome:
        if stage == 1 and item.row_no == 2:
            return Fail(ItemError("VALIDATION_ERROR", "no"), AddedCells({"second": "no"}))
        return shown(item, stage, ctx)

    script.work = refuses
    job_id = await tried.send(THREE)
    async with tried.by_hand() as worker:
        assert await worker.run_once()
    item = (await tried.items(job_id))[1]
    assert (item["status"], item["stage"], item["attempts"]) == ("ERROR", 1, 1)
    assert orjson.loads(item["result"]) == {"row": 2, "second": "no"}


def test_only_a_barrier_can_spare() -> None:
    async def run(batch: Sequence[Item], ctx: Context) -> Sequence[Outcome | None]:
        return [None] * len(batch)

    with pytest.raises(ValueError, match="no barrier"):
        Stage("loose", run=run, skips_barrier=even)
