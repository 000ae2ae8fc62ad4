from __future__ import annotations

from collections.abc import AsyncIterator
from pathlib import Path
from typing import Any
from uuid import uuid4

import pytest
import pytest_asyncio
from pydantic import ValidationError
from tests.pipelines.context import TrialContext, outcomes_of, trial_context

from penstock.model.errors import ChildCrashed
from penstock.model.outcomes import Advance, Done, Fail, NotFound, Outcome, Retry, Skip
from penstock.model.pipeline import Item, Job
from penstock.pipelines.noop import Noop, NoopConfig

PIPELINE = Noop()


@pytest_asyncio.fixture
async def ctx(tmp_path: Path) -> AsyncIterator[TrialContext]:
    async with trial_context(tmp_path) as made:
        yield made


def items_of(config: dict[str, Any], attempts: int = 0) -> list[Item]:
    job = Job(uuid4(), 1, "noop", NoopConfig.model_validate(config))
    rows = PIPELINE.inline(job.config) or ()
    return [Item(job, number, row.input, None, attempts) for number, row in enumerate(rows, 1)]


async def last_outcomes(items: list[Item], ctx: TrialContext) -> list[Outcome | None]:
    return list(await outcomes_of(PIPELINE.stages(items[0].job.config)[-1], items, ctx))


def test_few_items_are_inline_unless_told_otherwise() -> None:
    assert len(PIPELINE.inline(NoopConfig(items=100)) or ()) == 100
    assert PIPELINE.inline(NoopConfig(items=101)) is None
    assert PIPELINE.inline(NoopConfig(items=1, inline=False)) is None


def test_groups_and_payload_are_in_the_rows() -> None:
    rows = PIPELINE.inline(NoopConfig(items=4, groups=2, payload_bytes=3)) or ()
    assert [row.group for row in rows] == ["group 0", "group 1", "group 0", "group 1"]
    assert rows[3].input == {"row": 3, "payload": "xxx"}


def test_only_the_last_stage_is_a_barrier() -> None:
    stages = PIPELINE.stages(NoopConfig(stages=3, barrier=True))
    assert [stage.barrier for stage in stages] == [False, False, True]


@pytest.mark.parametrize("work", [{}, {"workMs": 0.01, "concurrency": 4}, {"cpuMs": 0.01}])
async def test_items_go_through_all_stages(work: dict[str, Any], ctx: TrialContext) -> None:
    items = items_of({"items": 9, "stages": 2, "childrenPer": 2, **work})
    first, last = PIPELINE.stages(items[0].job.config)
    assert {type(outcome) for outcome in await outcomes_of(first, items, ctx)} == {Advance}
    outcomes = await outcomes_of(last, items, ctx)
    assert [outcome.result for outcome in outcomes if isinstance(outcome, Done)] == [
        item.input for item in items
    ]
    keys = [child.key for outcome in outcomes if outcome for child in outcome.spawn]
    assert len(keys) == len(set(keys)) == 18


@pytest.mark.parametrize(
    ("how", "kind"),
    [
        ("fail", Fail),
        ("retry", Retry),
        ("notFound", NotFound),
        ("skip", Skip),
        ("wait", Retry),
        ("raise", Retry),
    ],
)
@pytest.mark.parametrize("cpu_ms", [0, 0.01])
async def test_every_nth_row_fails(
    how: str, kind: type[Outcome], cpu_ms: float, ctx: TrialContext
) -> None:
    config = {"items": 6, "failEvery": 3, "failHow": how, "failCode": "API_TIMEOUT"}
    outcomes = await last_outcomes(items_of({**config, "cpuMs": cpu_ms}), ctx)
    assert [type(outcome) for outcome in outcomes] == [Done, Done, kind, Done, Done, kind]
    if isinstance(outcomes[2], Retry):
        assert outcomes[2].counted == (how != "wait")
        assert outcomes[2].error.code == ("INTERNAL_ERROR" if how == "raise" else "API_TIMEOUT")


async def test_failures_end_after_the_times_asked_for(ctx: TrialContext) -> None:
    config = {"items": 1, "failEvery": 1, "failHow": "retry", "failTimes": 2}
    seen = [await last_outcomes(items_of(config, attempts), ctx) for attempts in range(3)]
    assert [type(outcome) for [outcome] in seen] == [Retry, Retry, Done]
    waiting = items_of({**config, "failHow": "wait"})
    seen = [await last_outcomes(waiting, ctx) for _ in range(3)]
    assert [type(outcome) for [outcome] in seen] == [Retry, Retry, Done]


def test_crashes_are_refused_without_permission(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("PENSTOCK_ALLOW_CRASH", raising=False)
    with pytest.raises(ValidationError, match="PENSTOCK_ALLOW_CRASH"):
        NoopConfig(crash_row=1)


async def test_a_row_can_kill_the_process_that_works_on_it(
    monkeypatch: pytest.MonkeyPatch, ctx: TrialContext
) -> None:
    monkeypatch.setenv("PENSTOCK_ALLOW_CRASH", "1")
    with pytest.raises(ChildCrashed, match="SIGKILL"):
        await last_outcomes(items_of({"items": 3, "crashRow": 2, "cpuMs": 0.01}), ctx)
