"""Fair shares: by weight, without starvation, and nothing is saved up while idle."""

from __future__ import annotations

import random

import pytest
from benchmarks.fair_share import SLICE_MS, Org, Scheduler, jain, saturated, simulate, skewed
from hypothesis import given, settings
from hypothesis import strategies as st

pytestmark = pytest.mark.slow

WEIGHTS = st.lists(st.sampled_from([1, 2, 4, 8]), min_size=2, max_size=12)
SPREAD = 0.2
LONGEST = SLICE_MS * (1 + SPREAD)


def endless(orgs: list[Org]) -> list[tuple[float, int, float]]:
    return [(0.0, org.number, 1e12) for org in orgs]


@given(WEIGHTS, st.integers(1, 8), st.integers(0, 10**6))
@settings(max_examples=60, deadline=None)
def test_busy_orgs_get_time_by_their_weights(weights: list[int], slots: int, seed: int) -> None:
    """Two orgs that always have work differ by no more than the slices in their hands."""
    orgs = [Org(n, weight) for n, weight in enumerate(weights)]
    hours = 2 * 3_600_000
    simulate(Scheduler(orgs), slots, endless(orgs), hours, random.Random(seed), SPREAD)
    shares = [org.served / org.weight for org in orgs]
    if slots == 1:
        assert max(shares) - min(shares) <= 2 * LONGEST
    # No org can use more than all slots, however much weight it has.
    elif max(weights) / sum(weights) <= 1 / slots:
        assert max(shares) - min(shares) <= 2 * slots * LONGEST + 0.01 * max(shares)
    assert all(org.served > 0 for org in orgs)


@given(WEIGHTS, st.integers(1, 4), st.integers(0, 10**6))
@settings(max_examples=60, deadline=None)
def test_nobody_waits_longer_than_everybody_elses_shares(
    weights: list[int], slots: int, seed: int
) -> None:
    """An org that has used nothing is served as soon as a slot is free, whoever else waits."""
    chance = random.Random(seed)
    orgs = [Org(n, weight) for n, weight in enumerate(weights)]
    late = chance.uniform(60_000, 600_000)
    arrivals = [*endless(orgs[:-1]), (late, len(orgs) - 1, SLICE_MS)]
    simulate(Scheduler(orgs), slots, arrivals, late + 60_000, chance, SPREAD)
    assert orgs[-1].waits[0] <= LONGEST


@given(WEIGHTS, st.floats(600_000, 7_200_000), st.integers(0, 10**6))
@settings(max_examples=40, deadline=None)
def test_nothing_is_saved_up_while_idle(weights: list[int], idle: float, seed: int) -> None:
    """Back after a long pause an org gets its share from then on, not what it missed."""
    orgs = [Org(n, weight) for n, weight in enumerate(weights)]
    scheduler = Scheduler(orgs)
    arrivals = [*endless(orgs[:-1]), (idle, len(orgs) - 1, 1e12)]
    busy = 1_800_000
    simulate(scheduler, 1, arrivals, idle + busy, random.Random(seed), SPREAD)
    fair = busy * orgs[-1].weight / sum(weights)
    assert orgs[-1].served <= fair + 3 * LONGEST
    assert orgs[-1].served >= fair - 3 * LONGEST * orgs[-1].weight


@given(WEIGHTS, st.integers(1, 3), st.integers(2, 9), st.integers(0, 10**6))
@settings(max_examples=40, deadline=None)
def test_a_cap_is_never_passed(weights: list[int], cap: int, slots: int, seed: int) -> None:
    orgs = [Org(n, weight) for n, weight in enumerate(weights)]
    scheduler = Scheduler(orgs, org_cap=cap)
    most = 0
    begin = scheduler.begin

    def watched(org: Org, expected: float, now: float) -> float:
        nonlocal most
        start = begin(org, expected, now)
        most = max(most, org.live)
        return start

    scheduler.begin = watched  # type: ignore[method-assign]
    simulate(scheduler, slots, endless(orgs), 600_000, random.Random(seed))
    assert 1 <= most <= cap


def test_a_thousand_orgs() -> None:
    """Smaller than `python -m benchmarks.fair_share`, with the same claims."""
    assert saturated(count=200, slots=10, hours=2) > 0.99
    report = skewed(count=300, slots=10, hours=0.5)
    assert report.waits[-1] <= LONGEST
    assert report.orgs_never_served == 0


def test_jain() -> None:
    assert jain([3, 3, 3]) == 1
    assert jain([1, 0, 0, 0]) == 0.25
