"""Run a stage over the items of a claim, within a time limit, and collect the outcomes."""

from __future__ import annotations

import asyncio
import time
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

from penstock.engine.claim import Claim
from penstock.engine.context import StageContext, StopSign, Timer, stage_context
from penstock.engine.runtime import Runtime
from penstock.model.effects import SetPace
from penstock.model.errors import ChildCrashed, ItemError, PermanentError
from penstock.model.outcomes import Fail, NotFound, Outcome, Retry
from penstock.model.pipeline import (
    CpuFunction,
    Item,
    Stage,
    child_arguments,
    retry_of,
    run_in_child,
)
from penstock.store.database import from_json

# CPU work goes to the child in pieces, so that time limits and lost leases are noticed.
_MAX_IN_CHILD = 256
_IN_CHILD_MS = 200.0
# Yield to the event loop after this many items, so that other slices do not wait for long.
YIELD_EVERY = 250
# A stage that has not returned this long after its time limit and one item's is abandoned.
_GRACE_SECONDS = 5.0


@dataclass(slots=True)
class ClaimOutcomes:
    """The outcomes of a claim's items, by position in ``claim.items``.

    None: not started, goes back without an attempt. ``crashed`` items killed a child process.
    """

    outcomes: list[Outcome | None]
    crashed: list[list[int]] = field(default_factory=list)
    work_ms: float = 0

    def without_late_effects(self, places: set[int], again: Outcome) -> ClaimOutcomes:
        """A copy in which the items in ``places`` have the outcome for effects that came too late:
        their own, or ``again``."""
        outcomes = [
            ((one and one.if_late) or again) if n in places else one
            for n, one in enumerate(self.outcomes)
        ]
        return ClaimOutcomes(outcomes, self.crashed, self.work_ms)

    def part(self, start: int, stop: int) -> ClaimOutcomes:
        """A copy for some of the items, with their share of the time."""
        crashed = [
            [index - start for index in piece if start <= index < stop] for piece in self.crashed
        ]
        return ClaimOutcomes(
            self.outcomes[start:stop],
            [piece for piece in crashed if piece],
            self.work_ms * (stop - start) / max(len(self.outcomes), 1),
        )


async def run_items(
    runtime: Runtime, claimed: Claim, stop: StopSign, seconds: float
) -> ClaimOutcomes:
    """Run the stage, starting no item after ``seconds``. Errors of items and stages become
    outcomes, never exceptions."""
    timer = Timer()
    ctx = stage_context(runtime, stop, seconds, runtime.log, claimed.turn.org_id)
    ctx.item_timeout_ms = runtime.item_timeout_ms(claimed.work.pipeline, claimed.work.stage)
    worked = ClaimOutcomes([None] * len(claimed.items))
    batches = await _batches(runtime, claimed, worked)
    if claimed.leases[0].group is not None:
        for indexes, stage, batch in batches:
            await _run_in_order(runtime, stage, indexes, batch, ctx, worked)
    else:
        await _run_batches(runtime, claimed, batches, ctx, worked)
    worked.work_ms = timer.ms
    return worked


async def _run_batches(
    runtime: Runtime,
    claimed: Claim,
    batches: list[_Batch],
    ctx: StageContext,
    worked: ClaimOutcomes,
) -> None:
    """Run batches one after the other, or as many at once as the stage works on items: one that
    waits for a slow server does not delay those that call others."""
    work = claimed.work
    pipeline = runtime.pipeline(work.pipeline)
    waits = work.stage in pipeline.waiting_stages
    at_once = pipeline.items_at_once.get(work.stage, 1) if waits else 1
    waiting = iter(batches)

    async def lane() -> None:
        for indexes, stage, batch in waiting:
            await _run_batch(runtime, stage, indexes, batch, ctx, worked, work.avg_ms)

    await asyncio.gather(*(lane() for _ in range(min(at_once, len(batches)))))


async def _run_in_order(
    runtime: Runtime,
    stage: Stage,
    indexes: list[int],
    batch: list[Item],
    ctx: StageContext,
    worked: ClaimOutcomes,
) -> None:
    """Run a group item by item. It stops at an item that will be retried, to keep the order, and
    at one that the group's pace must follow."""
    for index, item in zip(indexes, batch, strict=True):
        await _run_batch(runtime, stage, [index], [item], ctx, worked)
        outcome = worked.outcomes[index]
        if isinstance(outcome, Retry | NotFound | None):
            return
        if stage.pace_ms and not _needs_no_pace(outcome):
            return


def _needs_no_pace(outcome: Outcome) -> bool:
    return any(isinstance(one, SetPace) and not one.pace_ms for one in outcome.effects)


async def _run_batch(
    runtime: Runtime,
    stage: Stage,
    indexes: list[int],
    batch: list[Item],
    ctx: StageContext,
    worked: ClaimOutcomes,
    usual_ms: float | None = None,
) -> None:
    if ctx.time_is_up():
        return
    if stage.cpu is not None:
        await _run_in_child(runtime, stage.cpu, indexes, batch, ctx, worked, usual_ms)
        return
    outcomes = await _run_stage(stage, batch, ctx)
    for index, outcome in zip(indexes, outcomes, strict=True):
        worked.outcomes[index] = outcome


_Batch = tuple[list[int], Stage, list[Item]]


async def _batches(runtime: Runtime, claimed: Claim, worked: ClaimOutcomes) -> list[_Batch]:
    """Batches of items with the same configuration, of any job: their positions, the stage, and the
    items."""
    by_config: dict[str, _Batch] = {}
    rows = {row.id: row for row in claimed.jobs}
    jobs: dict[Any, Any] = {}
    for index, row in enumerate(claimed.items):
        if index % YIELD_EVERY == YIELD_EVERY - 1:
            await asyncio.sleep(0)
        job_row = rows[row.job_id]
        try:
            job = jobs.get(row.job_id) or jobs.setdefault(row.job_id, runtime.job(job_row))
            item = Item(
                job, row.row_no, from_json(row.input), from_json(row.normalized),
                row.attempts, row.key, row.group_key, from_json(row.noticed), row.generation,
            )  # fmt: skip
            known = by_config.get(job_row.config)
            if known is None:
                stages = runtime.pipeline(job.pipeline).stages(job.config)
                stage = stages[claimed.work.position]
                known = by_config[job_row.config] = ([], stage, [])
        except PermanentError as error:
            worked.outcomes[index] = Fail(ItemError.of(error))
            continue
        known[0].append(index)
        known[2].append(item)
    return list(by_config.values())


async def _run_stage(
    stage: Stage, batch: Sequence[Item], ctx: StageContext
) -> Sequence[Outcome | None]:
    """Run a stage. If it raises, hangs or returns too few outcomes, its batch fails, not the
    worker."""
    assert stage.run is not None
    time_box = max(0.0, ctx.deadline - time.monotonic())
    hard = time_box + ctx.item_timeout_ms / 1000 + _GRACE_SECONDS
    try:
        async with asyncio.timeout(hard):
            outcomes = await stage.run(batch, ctx)
    except TimeoutError:
        failure: Outcome = Retry(ItemError("API_TIMEOUT", f"Stage {stage.name} did not come back"))
    except PermanentError as error:
        failure = Fail(ItemError.of(error))
    except Exception as error:
        ctx.log.error("stage failed", stage=stage.name, error=repr(error))
        failure = retry_of(error)
    else:
        if len(outcomes) == len(batch):
            return outcomes
        wrong = f"Stage {stage.name} answered {len(outcomes)} outcomes for {len(batch)} items"
        failure = Retry(ItemError("INTERNAL_ERROR", wrong))
    return [failure] * len(batch)


async def _run_in_child(
    runtime: Runtime,
    work: CpuFunction,
    indexes: list[int],
    batch: list[Item],
    ctx: StageContext,
    worked: ClaimOutcomes,
    usual_ms: float | None,
) -> None:
    start, item_ms = 0, usual_ms
    while start < len(batch) and not ctx.time_is_up():
        size = child_piece(item_ms, (ctx.deadline - time.monotonic()) * 1000)
        piece, place = batch[start : start + size], indexes[start : start + size]
        start += size
        timer = Timer()
        try:
            outcomes: Sequence[Outcome | None] = await runtime.children.call(
                run_in_child, work, child_arguments(piece)
            )
            if len(outcomes) != len(piece):
                raise RuntimeError(f"{len(outcomes)} outcomes for {len(piece)} items")
        except ChildCrashed as error:
            ctx.log.warning("child process died", error=str(error))
            worked.crashed.append(place)
            continue
        except PermanentError as error:
            outcomes = [Fail(ItemError.of(error))] * len(piece)
        except Exception as error:
            ctx.log.error("stage failed", error=repr(error))
            outcomes = [retry_of(error)] * len(piece)
        item_ms = timer.ms / len(piece)
        for index, outcome in zip(place, outcomes, strict=True):
            worked.outcomes[index] = outcome


def child_piece(item_ms: float | None, left_ms: float) -> int:
    """How many items to send to a child at once, since they cannot be stopped there. One item if
    the duration of an item is unknown."""
    if item_ms is None:
        return 1
    return max(1, min(_MAX_IN_CHILD, int(min(_IN_CHILD_MS, left_ms) / max(item_ms, 0.001))))
