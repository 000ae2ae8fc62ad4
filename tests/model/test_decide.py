"""An outcome and a policy decide where an item goes, and nothing else does."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from penstock.model.decide import Transition, decide
from penstock.model.effects import Emit
from penstock.model.errors import ItemError
from penstock.model.outcomes import Advance, Child, Done, Fail, NotFound, Outcome, Retry, Skip
from penstock.model.policy import DEFAULT_RULES, PERMANENT_CODES, RetryPolicy, RetryRule
from penstock.model.states import ITEM_MOVES, TERMINAL_ITEM_STATUSES, ItemStatus

ERRORS = st.sampled_from(sorted({*DEFAULT_RULES, *PERMANENT_CODES, "SOMETHING_NEW"}))
OUTCOMES = st.one_of(
    st.just(Done({"a": 1})),
    st.just(Advance({"b": 2})),
    st.builds(lambda code: Retry(ItemError(code, "no")), ERRORS),
    st.builds(
        lambda ms: Retry(ItemError("CIRCUIT_OPEN", "wait"), ms, counted=False), st.integers(0, 9)
    ),
    st.just(NotFound()),
    st.just(Skip("empty")),
    st.just(Fail(ItemError("VALIDATION_ERROR", "bad"))),
)


def to(outcome: Outcome, attempts: int = 0, stage: int = 0, last: int = 1) -> Transition:
    return decide(
        outcome, stage=stage, last_stage=last, attempts=attempts, policy=RetryPolicy(), chance=0.5
    )


@given(OUTCOMES, st.integers(0, 20))
def test_every_outcome_is_an_allowed_move(outcome: Outcome, attempts: int) -> None:
    result = to(outcome, attempts)
    assert result.status in ITEM_MOVES[ItemStatus.PROCESSING]
    assert result.attempts >= 0
    assert (result.delay_ms is None) or result.status is ItemStatus.PENDING


def test_done_keeps_result_and_counts_the_run() -> None:
    done = to(Done({"sku": "1"}, {"sku": "1"}))
    assert done.status is ItemStatus.DONE
    assert (done.result, done.attempts, done.measured) == ({"sku": "1"}, 1, True)


def test_advance_starts_the_next_stage_with_fresh_attempts() -> None:
    moved = to(Advance({"sku": "1"}), attempts=2)
    assert (moved.status, moved.stage, moved.attempts) == (ItemStatus.PENDING, 1, 0)
    assert moved.delay_ms is None


def test_advance_from_the_last_stage_is_a_mistake() -> None:
    with pytest.raises(ValueError, match="say Done"):
        to(Advance(), stage=1, last=1)


@given(ERRORS, st.integers(0, 12))
def test_a_retry_ends_exactly_when_its_rule_is_used_up(code: str, attempts: int) -> None:
    result = to(Retry(ItemError(code, "no")), attempts)
    retries = RetryPolicy().rule(code).retries
    assert (result.status is ItemStatus.ERROR) == (attempts + 1 > retries)
    assert result.attempts == attempts + 1


@pytest.mark.parametrize("code", sorted(PERMANENT_CODES))
def test_permanent_errors_are_never_tried_again(code: str) -> None:
    assert to(Retry(ItemError(code, "no"))).status is ItemStatus.ERROR


def test_waiting_burns_no_attempt() -> None:
    waits = to(Retry(ItemError("CIRCUIT_OPEN", "open"), 700, counted=False), attempts=2)
    assert (waits.status, waits.attempts, waits.delay_ms) == (ItemStatus.PENDING, 2, 700)
    assert not waits.measured


def test_retry_after_is_a_floor() -> None:
    result = to(Retry(ItemError("API_RATE_LIMIT", "slow down"), after_ms=90_000))
    assert result.delay_ms is not None
    assert result.delay_ms >= 90_000


def test_not_found_is_asked_again_twice_much_later() -> None:
    first, second, last = (to(NotFound(), attempts) for attempts in (0, 1, 2))
    assert first.delay_ms is not None
    assert second.delay_ms is not None
    assert 15 * 60_000 <= first.delay_ms <= 18 * 60_000
    assert 6 * 3_600_000 <= second.delay_ms <= 7.2 * 3_600_000
    assert last.status is ItemStatus.NOT_FOUND


def test_effects_and_children_go_with_any_outcome() -> None:
    effects, spawn = (Emit("job.warning"),), (Child("k", {}),)
    for outcome in (
        Done({}, effects=effects, spawn=spawn),
        Advance(effects=effects, spawn=spawn),
        Retry(ItemError("NETWORK_ERROR", "x"), effects=effects, spawn=spawn),
        NotFound(effects=effects, spawn=spawn),
        Skip("x", effects=effects, spawn=spawn),
        Fail(ItemError("X", "x"), effects=effects, spawn=spawn),
    ):
        assert (to(outcome).effects, to(outcome).spawn) == (effects, spawn)


@given(
    st.integers(1, 40),
    st.floats(0, 1, exclude_max=True),
    st.integers(0, 100_000),
    st.sampled_from([RetryRule(5), RetryRule(3, factor=1.0), RetryRule(5, 5000, 5.0, 900_000)]),
)
def test_backoff_stays_inside_its_bounds(
    retry: int, chance: float, floor: int, rule: RetryRule
) -> None:
    grown = rule.base_ms * (retry if rule.factor == 1.0 else rule.factor ** (retry - 1))
    plain = min(grown, rule.cap_ms)
    delay = rule.delay_ms(retry, chance, floor)
    assert delay >= floor
    assert delay >= plain
    assert delay <= max(floor, plain * 1.2 + 1)


def test_terminal_items_leave_only_for_a_new_generation() -> None:
    for status in TERMINAL_ITEM_STATUSES:
        assert ITEM_MOVES[status] == {ItemStatus.PENDING}
