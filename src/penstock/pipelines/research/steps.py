"""What all stages of research share: the inputs of items, failures, and events of progress."""

from __future__ import annotations

import asyncio
import time
from collections.abc import Awaitable, Callable, Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Any
from uuid import UUID

from penstock.model.effects import CountInGroup, Effect, Emit
from penstock.model.errors import ItemError, PenstockError, PermanentError, Unavailable, Waiting
from penstock.model.outcomes import Fail, Outcome, Retry
from penstock.model.pipeline import Item, StageFunction
from penstock.model.policy import RetryPolicy
from penstock.model.ports import Context
from penstock.pipelines.research.config import SearchOrder

# The share of each stage, in percent.
SHARES = {"validate": 10, "call": 40, "collect": 10, "normalise": 20, "store": 10, "notify": 10}
POLICY = RetryPolicy()
# Names of rows, by which later steps find them.
REQUEST, OFFERS, MERGED = "request", "offers", "merged"
KIND = "kind"
PROGRESS = "research.progress"
_AT_ONCE = 16
# A source that is asked late has this much time, whatever is left of the request's.
_LEAST_SECONDS = 60.0


def progress_after(stage: str) -> int:
    """The progress of an item that has completed a stage."""
    total = 0
    for name, share in SHARES.items():
        total += share
        if name == stage:
            return total
    raise KeyError(stage)


@dataclass(frozen=True, slots=True)
class SourceTask:
    """The input of an item that asks a source for one page."""

    source: str
    source_id: UUID
    request_id: str
    order: SearchOrder
    started: float
    page: int
    state: Mapping[str, Any]

    @staticmethod
    def of(item: Item) -> SourceTask:
        told = item.input
        return SourceTask(
            told["source"], UUID(told["sourceId"]), told["requestId"],
            SearchOrder.model_validate(told["order"]), float(told["started"]),
            int(told.get("page", 1)), told.get("state") or {},
        )  # fmt: skip

    @property
    def deadline(self) -> float:
        return self.started + self.order.max_seconds

    def progress(self, stage: str, message: str) -> Emit:
        return progress_event(self.request_id, stage, message, self.started, self.source)


def progress_event(
    request_id: str, stage: str, message: str, started: float, source: str | None = None
) -> Emit:
    """An event of the request as a whole, or of one source."""
    done = progress_after(stage)
    elapsed = max(0.0, time.time() - started)
    data: dict[str, Any] = {
        "requestId": request_id,
        "stage": stage,
        "progress": done,
        "message": message,
        "estimatedTimeRemaining": round(elapsed / done * (100 - done), 1),
        "timestamp": datetime.now(UTC).isoformat(),
    }
    if source is not None:
        data["source"] = source
    return Emit(PROGRESS, data)


Work = Callable[[Item, Context], Awaitable[Outcome]]


def for_each(work: Work) -> StageFunction:
    """A stage function. Sources answer side by side; an error concerns its own source only."""

    async def run(batch: Sequence[Item], ctx: Context) -> Sequence[Outcome | None]:
        outcomes: list[Outcome | None] = [None] * len(batch)
        waiting = iter(enumerate(batch))

        async def lane() -> None:
            for index, item in waiting:
                if ctx.time_is_up():
                    return
                outcomes[index] = await _run_guarded(work, item, ctx)

        await asyncio.gather(*(lane() for _ in range(min(_AT_ONCE, len(batch)))))
        return outcomes

    return run


async def _run_guarded(work: Work, item: Item, ctx: Context) -> Outcome:
    seconds = _seconds(item, ctx)
    try:
        async with asyncio.timeout(seconds):
            return await work(item, ctx)
    except TimeoutError:
        error: Exception = Unavailable("API_TIMEOUT", f"No answer within {seconds:.0f} s")
    except Exception as found:
        if not isinstance(found, PenstockError):
            ctx.log.warning("item failed", row=item.row_no, error=repr(found))
        error = found
    return failure(item, error)


def _seconds(item: Item, ctx: Context) -> float:
    """How long an item may work: a source until the end of the time of the request, but for long
    enough if it came late."""
    most = ctx.item_timeout_ms / 1000
    if item.input.get(KIND) not in ("source", "page"):
        return most
    left = SourceTask.of(item).deadline - time.time()
    return min(most, max(left, _LEAST_SECONDS))


def failure(item: Item, error: Exception) -> Outcome:
    """Another try within the time of the request, or the end of this source: the others go on."""
    told = ItemError.of(error)
    if item.input.get(KIND) not in ("source", "page"):
        return Fail(told) if isinstance(error, PermanentError) else Retry(told)
    task = SourceTask.of(item)
    left_ms = (task.deadline - time.time()) * 1000
    if item.generation > 1:
        # The time of the request was over long ago: a source that is asked again has its own.
        left_ms = task.order.max_seconds * 1000
    if isinstance(error, Waiting):
        wait = error.retry_after_ms or 1000
        if error.code != "CIRCUIT_OPEN" and wait < left_ms:
            return Retry(told, error.retry_after_ms, counted=False)
        return failed(item, task, told)
    rule = POLICY.rule(told.code)
    after = error.retry_after_ms if isinstance(error, PenstockError) else None
    is_final = isinstance(error, PermanentError) or item.attempts >= rule.retries
    if is_final or (after or 0) >= left_ms:
        return failed(item, task, told)
    return Retry(told, after)


def failed(item: Item, task: SourceTask, error: ItemError) -> Fail:
    """The end of a source, or of a later page of it. The summary says why."""
    shown = {KIND: item.input[KIND], "title": task.source, "status": "failed"}
    effects: list[Effect] = [
        CountInGroup(task.source, {"failed": 1}),
        task.progress("notify", f"{task.source}: {error.message}"),
    ]
    return Fail(error, shown, effects=effects)
