"""A fuller queue never lets in more, and never promises to drain sooner."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from penstock.model.backpressure import (
    LATEST_RETRY_MS,
    SOONEST_RETRY_MS,
    Admission,
    Level,
    Levels,
    admission,
    level_of,
    retry_after_ms,
)
from penstock.model.fairness import PLAN_WEIGHTS
from penstock.settings import Settings

PLANS = st.sampled_from(sorted(PLAN_WEIGHTS))
DEPTHS = st.integers(0, 100_000)
LEVELS = st.lists(st.integers(0, 50_000), min_size=3, max_size=3).map(lambda n: Levels(*sorted(n)))
STRICTER = list(Admission)
FULLER = list(Level)


@pytest.mark.parametrize(
    ("depth", "level"),
    [
        (0, "healthy"),
        (1_000, "healthy"),
        (1_001, "degraded"),
        (5_000, "degraded"),
        (5_001, "critical"),
        (10_000, "critical"),
        (10_001, "overload"),
    ],
)
def test_each_level_ends_where_the_next_begins(depth: int, level: str) -> None:
    assert level_of(depth, Levels()) == level


@given(LEVELS, DEPTHS, DEPTHS)
def test_more_jobs_are_never_a_lower_level(levels: Levels, one: int, other: int) -> None:
    less, more = sorted((one, other))
    assert FULLER.index(level_of(less, levels)) <= FULLER.index(level_of(more, levels))


@given(PLANS, st.sampled_from(FULLER), st.sampled_from(FULLER))
def test_a_fuller_queue_is_never_more_lenient(plan: str, one: Level, other: Level) -> None:
    less, more = sorted((one, other), key=FULLER.index)
    assert STRICTER.index(admission(plan, less)) <= STRICTER.index(admission(plan, more))


@given(PLANS, st.sampled_from(FULLER))
def test_nobody_is_treated_better_than_enterprise(plan: str, level: Level) -> None:
    best = STRICTER.index(admission("enterprise", level))
    assert best <= STRICTER.index(admission(plan, level))


def test_who_waits_and_who_is_refused() -> None:
    assert {plan for plan in PLAN_WEIGHTS if admission(plan, Level.DEGRADED) == "delay"} == {
        "basic",
        "trial",
    }
    assert {plan for plan in PLAN_WEIGHTS if admission(plan, Level.CRITICAL) != "refuse"} == {
        "enterprise"
    }
    assert {admission(plan, Level.OVERLOAD) for plan in PLAN_WEIGHTS} == {Admission.REFUSE}
    assert {admission(plan, Level.HEALTHY) for plan in PLAN_WEIGHTS} == {Admission.ACCEPT}


@given(PLANS, LEVELS, DEPTHS, DEPTHS, st.floats(0, 1e9, allow_nan=False))
def test_asking_again_stays_in_bounds_and_grows_with_the_queue(
    plan: str, levels: Levels, one: int, other: int, job_ms: float
) -> None:
    less, more = sorted((one, other))
    sooner = retry_after_ms(plan, less, levels, job_ms)
    assert SOONEST_RETRY_MS <= sooner <= LATEST_RETRY_MS
    assert sooner <= retry_after_ms(plan, more, levels, job_ms)


def test_levels_must_be_in_order() -> None:
    with pytest.raises(ValueError, match="PENSTOCK_DEPTH_HEALTHY must not exceed"):
        Settings(depth_healthy=6000)
    with pytest.raises(ValueError, match="PENSTOCK_DEPTH_DEGRADED must not exceed"):
        Settings(depth_degraded=20_000)
