"""When is it tried again? Exactly as the table of errors says, and never sooner than asked."""

from __future__ import annotations

import math

import pytest
from hypothesis import given
from hypothesis import strategies as st

from penstock.model.decide import decide
from penstock.model.errors import (
    ItemError,
    NotAllowed,
    PenstockError,
    RateLimited,
    Unavailable,
    Waiting,
)
from penstock.model.outcomes import Fail, Retry
from penstock.model.pipeline import retry_of
from penstock.model.policy import (
    DEFAULT_RULES,
    JITTER,
    JOB,
    NOT_FOUND,
    PERMANENT_CODES,
    RetryPolicy,
    RetryRule,
)
from penstock.model.states import ItemStatus

RULES = st.builds(
    RetryRule,
    retries=st.integers(0, 20),
    base_ms=st.integers(1, 60_000),
    factor=st.one_of(st.just(1.0), st.floats(1.1, 30)),
    cap_ms=st.integers(1, 24 * 3_600_000),
)
CHANCE = st.floats(0, 1, exclude_max=True)

# Delays without jitter before each retry, in seconds, as people are told them.
TOLD: dict[str, list[float]] = {
    "API_RATE_LIMIT": [2, 4, 8, 16, 30],
    "QUOTA_EXCEEDED": [2, 4, 8, 16, 30],
    "BLOB_UNAVAILABLE": [2, 4, 8, 16, 30],
    "API_TIMEOUT": [2, 4, 8],
    "FETCH_TIMEOUT": [2, 4, 8],
    "SERVICE_UNAVAILABLE": [2, 4, 8],
    "DB_UNAVAILABLE": [2, 4, 8],
    "NETWORK_ERROR": [2, 4, 6],
    "INTERNAL_ERROR": [2, 4, 8],
}


@pytest.mark.parametrize("code", TOLD)
def test_each_code_waits_as_told(code: str) -> None:
    rule = RetryPolicy().rule(code)
    assert rule.retries == len(TOLD[code])
    assert [rule.delay_ms(n + 1, 0) / 1000 for n in range(rule.retries)] == TOLD[code]


def test_every_rule_is_told_of() -> None:
    assert set(TOLD) == set(DEFAULT_RULES)


def test_whole_jobs_and_lookups_wait_as_told() -> None:
    assert [JOB.delay_ms(n, 0) for n in (1, 2, 3)] == [1000, 2000, 4000]
    assert [NOT_FOUND.delay_ms(n, 0) for n in (1, 2)] == [15 * 60_000, 6 * 3_600_000]


@given(RULES, st.integers(1, 10_000), CHANCE)
def test_the_delay_is_the_formula_plus_at_most_its_jitter(
    rule: RetryRule, retry: int, chance: float
) -> None:
    try:
        growth = retry if rule.factor == 1.0 else rule.factor ** (retry - 1)
    except OverflowError:
        growth = math.inf
    plain = min(rule.base_ms * growth, rule.cap_ms)
    assert plain <= rule.delay_ms(retry, chance) <= math.ceil(plain * (1 + JITTER))


@given(RULES, st.integers(1, 50), CHANCE, st.integers(0, 10**9))
def test_never_sooner_than_asked(rule: RetryRule, retry: int, chance: float, asked: int) -> None:
    assert rule.delay_ms(retry, chance, asked) == max(asked, rule.delay_ms(retry, chance))


@given(RULES, st.integers(1, 50))
def test_waits_never_get_shorter(rule: RetryRule, retry: int) -> None:
    assert rule.delay_ms(retry, 0) <= rule.delay_ms(retry + 1, 0)


@given(st.sampled_from(sorted({*TOLD, *PERMANENT_CODES, "NEVER_HEARD_OF"})), CHANCE)
def test_an_item_is_tried_as_often_as_its_code_allows(code: str, chance: float) -> None:
    """From the first run to the last, with one that always fails the same way."""
    runs, attempts = 0, 0
    while True:
        runs += 1
        to = decide(
            Retry(ItemError(code, "no")), stage=0, last_stage=0, attempts=attempts,
            policy=RetryPolicy(), chance=chance,
        )  # fmt: skip
        attempts = to.attempts
        if to.status is not ItemStatus.PENDING:
            break
        assert to.delay_ms is not None
    assert to.status is ItemStatus.ERROR
    assert runs == 1 + len(TOLD.get(code, []))


def test_a_stage_overrides_single_codes() -> None:
    policy = RetryPolicy({"API_TIMEOUT": RetryRule(1, base_ms=10)})
    assert policy.rule("API_TIMEOUT").retries == 1
    assert policy.rule("NETWORK_ERROR") == DEFAULT_RULES["NETWORK_ERROR"]


@pytest.mark.parametrize(
    ("error", "after", "counted"),
    [
        (RateLimited("API_RATE_LIMIT", "slow down", retry_after_ms=7000), 7000, True),
        (Unavailable("SERVICE_UNAVAILABLE", "later"), None, True),
        (Waiting("CIRCUIT_OPEN", "not now", retry_after_ms=60_000), 60_000, False),
        (RuntimeError("what?"), None, True),
    ],
)
def test_an_exception_says_itself_when_to_try_again(
    error: Exception, after: int | None, counted: bool
) -> None:
    retry = retry_of(error)
    assert (retry.after_ms, retry.counted) == (after, counted)


def test_waiting_costs_no_attempt_however_long_it_lasts() -> None:
    waiting = retry_of(Waiting("CIRCUIT_OPEN", "not now", retry_after_ms=60_000))
    attempts = 2
    for _ in range(100):
        to = decide(
            waiting, stage=0, last_stage=0, attempts=attempts, policy=RetryPolicy(), chance=0.9
        )
        assert (to.status, to.delay_ms) == (ItemStatus.PENDING, 60_000)
        attempts = to.attempts
    assert attempts == 2


def test_what_is_permanent_is_never_tried_again() -> None:
    denied: PenstockError = NotAllowed("AUTHENTICATION_FAILED", "no")
    for outcome in (Retry(ItemError.of(denied), after_ms=1), Fail(ItemError.of(denied))):
        to = decide(
            outcome, stage=0, last_stage=0, attempts=0, policy=RetryPolicy(), chance=0
        )  # fmt: skip
        assert to.status is ItemStatus.ERROR
