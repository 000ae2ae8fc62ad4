"""Outcome and policy to transition: the one place where an item's next state is decided. Pure."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, assert_never

from penstock.model.effects import Effect
from penstock.model.errors import ItemError
from penstock.model.outcomes import Advance, Child, Done, Fail, NotFound, Outcome, Retry, Skip
from penstock.model.policy import RetryPolicy, RetryRule
from penstock.model.states import ItemStatus


@dataclass(frozen=True, slots=True)
class Transition:
    """Where an item goes, fully decided; settle only writes it down.

    ``delay_ms`` is set when the item waits. ``measured`` says whether its time tells anything of
    how long the stage's work takes: fast refusals must not inflate claims.
    """

    status: ItemStatus
    stage: int
    attempts: int
    delay_ms: int | None = None
    error: ItemError | None = None
    normalized: Mapping[str, Any] | None = None
    result: Mapping[str, Any] | None = None
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
) -> Transition:
    """The transition of an item in ``stage`` that has had ``attempts`` counted runs before."""
    effects, spawn = outcome.effects, outcome.spawn
    match outcome:
        case Done(result=result, normalized=normalized):
            return Transition(
                ItemStatus.DONE, stage, attempts + 1, None, None, normalized, result,
                effects, spawn, measured=True,
            )  # fmt: skip
        case Advance(normalized=normalized, result=result):
            if stage == last_stage:
                raise ValueError("Advance from the last stage: say Done")
            # Attempts are counted per stage, since each stage has its own policy.
            return Transition(
                ItemStatus.PENDING, stage + 1, 0, None, None, normalized, result,
                effects, spawn, measured=True,
            )  # fmt: skip
        case Retry(error=error, after_ms=after_ms, counted=False):
            wait = 1000 if after_ms is None else after_ms
            return Transition(
                ItemStatus.PENDING, stage, attempts, wait, error, None, None, effects, spawn
            )
        case Retry(error=error, after_ms=after_ms):
            rule = policy.rule(error.code)
            return _again_or(
                ItemStatus.ERROR, outcome, error, stage, attempts, rule, chance, after_ms
            )
        case NotFound(error=error):
            rule = policy.not_found
            return _again_or(
                ItemStatus.NOT_FOUND, outcome, error, stage, attempts, rule, chance, None
            )
        case Skip(reason=reason, result=result):
            why = ItemError("SKIPPED", reason)
            return Transition(
                ItemStatus.SKIPPED, stage, attempts, None, why, None, result, effects, spawn
            )
        case Fail(error=error, result=result, normalized=normalized):
            return Transition(
                ItemStatus.ERROR,
                stage,
                attempts + 1,
                None,
                error,
                normalized,
                result,
                effects,
                spawn,
            )
    assert_never(outcome)


def _again_or(
    final: ItemStatus,
    outcome: Retry | NotFound,
    error: ItemError,
    stage: int,
    attempts: int,
    rule: RetryRule,
    chance: float,
    after_ms: int | None,
) -> Transition:
    """Back to PENDING while the rule has retries left, else to the state that ends it."""
    runs = attempts + 1
    measured = isinstance(outcome, NotFound)
    if runs > rule.retries:
        return Transition(
            final, stage, runs, None, error, None, None, outcome.effects, outcome.spawn, measured
        )
    delay = rule.delay_ms(runs, chance, after_ms or 0)
    return Transition(
        ItemStatus.PENDING, stage, runs, delay, error, None, None,
        outcome.effects, outcome.spawn, measured,
    )  # fmt: skip
