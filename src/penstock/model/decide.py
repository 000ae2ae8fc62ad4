"""Decide the next state of an item from its outcome and retry policy. Pure."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from typing import Any, assert_never

from penstock.model.effects import Effect
from penstock.model.errors import ItemError
from penstock.model.outcomes import (
    Advance,
    Child,
    Done,
    Fail,
    NotFound,
    Outcome,
    Retry,
    Shown,
    Skip,
)
from penstock.model.policy import RetryPolicy
from penstock.model.states import ItemStatus

UNCOUNTED_WAIT_MS = 1000


@dataclass(slots=True)
class Transition:
    """The next state of an item; settle only writes it. Not frozen, because one is created per item
    and freezing takes three times as long.

    ``delay_ms`` is set when the item waits. ``measured``: whether its time counts for the speed of
    the stage; fast refusals must not inflate claims.
    """

    status: ItemStatus
    stage: int
    attempts: int
    delay_ms: int | None = None
    error: ItemError | None = None
    normalized: Mapping[str, Any] | None = None
    result: Shown | None = None
    effects: Sequence[Effect] = ()
    spawn: Sequence[Child] = ()
    measured: bool = False


def decide(
    outcome: Outcome,
    *,
    stage: int,
    last_stage: int,
    attempts: int,
    policy: RetryPolicy,
    chance: float,
    spacing: float = 1.0,
) -> Transition:
    """The transition of an item in ``stage`` after ``attempts`` counted runs. ``spacing``
    multiplies retry delays during an error spike."""
    runs = attempts + 1
    if isinstance(outcome, Done):
        # Spelled out, since nearly every item comes this way.
        return Transition(
            ItemStatus.DONE, stage, runs, None, None, outcome.normalized, outcome.result,
            outcome.effects, outcome.spawn, True,
        )  # fmt: skip
    to = partial(Transition, effects=outcome.effects, spawn=outcome.spawn)
    match outcome:
        case Advance(normalized=known, result=result):
            if stage == last_stage:
                raise ValueError("Advance from the last stage: say Done")
            # Attempts are counted per stage, since each stage has its own policy.
            return to(
                ItemStatus.PENDING, stage + 1, 0, result=result, normalized=known, measured=True
            )
        case Retry(error=error, after_ms=after_ms, counted=False):
            wait = UNCOUNTED_WAIT_MS if after_ms is None else after_ms
            return to(ItemStatus.PENDING, stage, attempts, delay_ms=wait, error=error)
        case Retry(error=error):
            delay = _retry_delay_ms(outcome, runs, policy, chance, spacing)
            status = ItemStatus.ERROR if delay is None else ItemStatus.PENDING
            return to(status, stage, runs, delay_ms=delay, error=error)
        case NotFound(error=error, result=result, final=final):
            to = partial(to, error=error, result=result, measured=True)
            if final or runs > policy.not_found.retries:
                return to(ItemStatus.NOT_FOUND, stage, runs)
            delay = policy.not_found.delay_ms(runs, chance)
            return to(ItemStatus.PENDING, stage, runs, delay_ms=delay)
        case Skip(reason=reason, result=result, code=code, normalized=known):
            why = ItemError(code, reason, outcome.column, details=dict(outcome.details))
            return to(
                ItemStatus.SKIPPED, stage, attempts, error=why, result=result, normalized=known
            )
        case Fail(error=error, result=result, normalized=known):
            return to(ItemStatus.ERROR, stage, runs, error=error, result=result, normalized=known)
    assert_never(outcome)


def _retry_delay_ms(
    outcome: Retry, runs: int, policy: RetryPolicy, chance: float, spacing: float
) -> int | None:
    """None once the retries of the error's rule are used up."""
    rule = policy.rule(outcome.error.code)
    if runs > rule.retries:
        return None
    return rule.delay_ms(runs, chance, outcome.after_ms or 0, spacing)
