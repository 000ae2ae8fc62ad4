"""What the engine decides about an item's attempts is what the checker accepts, and no more."""

from __future__ import annotations

from typing import Any

import pytest
from tests.checker.invariants import _wrong_turn

from penstock.model.decide import decide
from penstock.model.outcomes import Advance, Done, Outcome
from penstock.model.policy import RetryPolicy

_POLICY = RetryPolicy()


def turn(outcome: Outcome, before: int, **changes: Any) -> dict[str, Any]:
    to = decide(
        outcome, stage=0, last_stage=2, attempts=before, policy=_POLICY, chance=0.5
    )  # fmt: skip
    return {
        "to_status": to.status.value, "from_attempts": before, "attempts": to.attempts,
        "error_code": None, "advanced": to.stage != 0, "solo_crashes": 0,
    } | changes  # fmt: skip


@pytest.mark.parametrize("attempts", [0, 1, 2])
@pytest.mark.parametrize("outcome", [Done({}), Advance({})], ids=str)
def test_decisions_are_accepted(outcome: Outcome, attempts: int) -> None:
    assert _wrong_turn(turn(outcome, attempts), _POLICY) is None


def test_attempts_that_are_not_counted_are_found() -> None:
    assert _wrong_turn(turn(Done({}), 1, attempts=1), _POLICY) is not None
    assert _wrong_turn(turn(Advance({}), 1, attempts=1), _POLICY) is not None
