"""Token buckets: never more than the burst and the rate allow, and nothing that is free is kept."""

from __future__ import annotations

from dataclasses import dataclass

import pytest
from hypothesis import given
from hypothesis import strategies as st

from penstock.model.network.token_bucket import Rate, ThrottleStatus, TokenBucket

RATES = st.builds(Rate, st.floats(0.1, 500), st.floats(1, 500))
# Pauses between two callers, and how many calls each wants.
ASKS = st.lists(st.tuples(st.floats(0, 5000), st.integers(1, 30)), min_size=1, max_size=60)


@pytest.mark.parametrize(
    ("text", "per_second", "burst"),
    [
        ("100/min burst 20", 100 / 60, 20),
        ("2/s burst 40", 2, 40),
        ("60/min", 1, 6),
        ("5/h", 5 / 3600, 1),
    ],
)
def test_rates_are_read(text: str, per_second: float, burst: float) -> None:
    assert Rate.parse(text) == Rate(per_second, burst)


@pytest.mark.parametrize("text", ["", "fast", "3", "3/fortnight", "0/s", "1/s burst 0", "-1/s"])
def test_other_texts_are_refused(text: str) -> None:
    with pytest.raises(ValueError, match="rate"):
        Rate.parse(text)


@given(RATES, ASKS)
def test_any_stretch_of_time_gets_the_burst_and_its_share_at_most(
    rate: Rate, asks: list[tuple[float, int]]
) -> None:
    bucket, now = TokenBucket.full(rate, 0.0), 0.0
    granted: list[tuple[float, float]] = []
    for pause, wanted in asks:
        now += pause
        bucket, grant = bucket.take(rate, now, 1.0, wanted)
        granted.append((now, grant.tokens))
        assert 0 <= grant.tokens <= wanted
        assert bucket.tokens >= 0
    for first, (start, _) in enumerate(granted):
        for stop in range(first, len(granted)):
            taken = sum(tokens for _, tokens in granted[first : stop + 1])
            elapsed = (granted[stop][0] - start) / 1000
            assert taken <= rate.burst + elapsed * rate.per_second + 1e-3


@given(
    st.builds(Rate, st.floats(0.1, 100), st.floats(4, 200)),
    st.lists(
        st.tuples(st.floats(0, 3000), st.integers(1, 30), st.floats(0, 5000), st.floats(0, 2000)),
        min_size=1,
        max_size=60,
    ),
)
def test_calls_that_arrive_late_do_not_exceed_the_limit(
    rate: Rate, asks: list[tuple[float, int, float, float]]
) -> None:
    """The provider's bucket stays full until the first calls arrive, however late that is."""
    bucket, now = TokenBucket.full(rate, 0.0), 0.0
    level, level_at = rate.burst, 0.0
    arrivals: list[tuple[float, float, float]] = []
    answers: list[tuple[float, float]] = []
    for pause, wanted, late, answer in [*asks, (60_000.0, 1, 0.0, 0.0)]:
        now += pause
        for at, tokens, ends in sorted(one for one in arrivals if one[0] <= now):
            level = min(rate.burst, level + (at - level_at) / 1000 * rate.per_second)
            level, level_at = level - tokens, at
            assert level > -1e-3
            answers.append((ends, tokens))
        arrivals = [one for one in arrivals if one[0] > now]
        for _, tokens in [one for one in answers if one[0] <= now]:
            bucket = bucket.refilled(rate, now).landed(tokens)
        answers = [one for one in answers if one[0] > now]
        bucket, grant = bucket.take(rate, now, 1.0, wanted)
        if grant.tokens:
            arrivals.append((now + late, grant.tokens, now + late + answer))


@dataclass
class Query:
    """A call to a provider with a cost bucket: what it asks for and costs, and when."""

    asked: float
    cost: float
    start: float
    arrives: float
    ends: float
    # Answered with the provider's status; else it failed, with or without being charged.
    answered: bool
    available: float = 0.0


# Mostly far apart, so that one call may be over before another one arrives.
TIMES = st.sampled_from((0.0, 10.0, 5000.0))


@given(
    st.lists(
        st.tuples(
            TIMES, st.sampled_from((10.0, 900.0)), st.sampled_from((0.0, 1.0)), TIMES, TIMES, TIMES,
            st.sampled_from(("answered", "answered", "charged", "free")), st.booleans(),
        ),
        min_size=1,
        max_size=60,
    )
)  # fmt: skip
def test_what_a_provider_says_about_its_bucket_never_lets_too_much_through(
    asks: list[tuple[float, float, float, float, float, float, str, bool]],
) -> None:
    """However late calls arrive, answers come and are reported, and whatever becomes of them."""
    rate, now = Rate(2.0, 40), 0.0
    status = ThrottleStatus(1000, 1000, 50)
    bucket = TokenBucket.full(rate, 0.0).corrected(rate, 0.0, status)
    level, level_at = 1000.0, 0.0
    flying: list[Query] = []
    told: list[tuple[float, Query, bool]] = []
    landed: dict[bool, float] = {True: 0.0, False: 0.0}

    def provider_until(at: float) -> None:
        nonlocal level, level_at
        level = min(1000.0, level + max(0.0, at - level_at) / 1000 * 50)
        level_at = max(level_at, at)

    for pause, asked, share, late, answer, report, outcome, worker in [
        *asks, (60_000.0, 1.0, 1.0, 0.0, 0.0, 0.0, "answered", True),
    ]:  # fmt: skip
        now += pause
        for one in sorted(
            (one for one in flying if one.arrives <= now), key=lambda one: one.arrives
        ):
            provider_until(one.arrives)
            assert level >= one.asked - 1e-3
            level -= one.cost
            one.available = level
        flying = [one for one in flying if one.arrives > now]
        for at, one, by in sorted((one for one in told if one[0] <= now), key=lambda one: one[0]):
            bucket = bucket.refilled(rate, at).landed(one.asked)
            if one.answered:
                said = ThrottleStatus(one.available, 1000, 50)
                since = one.start if landed[by] < one.start else None
                bucket = bucket.corrected(
                    rate, at, said, refund=one.asked - one.cost, told_at_ms=since
                )
            bucket = bucket.landed(0.0, at)
            landed[by] = max(landed[by], one.ends)
        told = [one for one in told if one[0] > now]
        bucket, grant = bucket.take(rate, now, asked, asked)
        if grant.tokens:
            made = Query(
                asked, 0.0 if outcome == "free" else asked * share, now, now + late,
                now + late + answer, outcome == "answered",
            )  # fmt: skip
            flying.append(made)
            told.append((made.ends + report, made, worker))


def test_what_failed_calls_took_is_there_again_after_the_next_answer() -> None:
    """The provider did not charge them."""
    rate, status = Rate(2.0, 40), ThrottleStatus(1000, 1000, 50)
    bucket = TokenBucket.full(rate, 0.0).corrected(rate, 0.0, status)
    bucket, _ = bucket.take(rate, 0.0, 800, 800)
    bucket = bucket.landed(800, 10.0)
    assert bucket.tokens < 200
    bucket, _ = bucket.take(rate, 20.0, 100, 100)
    said = ThrottleStatus(940, 1000, 50)
    believed = bucket.landed(100).corrected(rate, 30.0, said, refund=40, told_at_ms=20.0)
    assert believed.tokens == 940
    # One more call ended while this one was under way: it may have been charged since.
    careful = bucket.landed(0.0, 25.0).landed(100)
    careful = careful.corrected(rate, 30.0, said, refund=40, told_at_ms=20.0)
    assert careful.tokens < 200


def test_calls_of_a_worker_that_died_are_forgotten() -> None:
    rate = Rate(1.0, 20)
    bucket, grant = TokenBucket.full(rate, 0.0).take(rate, 0.0, 1.0, 30)
    assert grant.tokens == 19
    bucket, grant = bucket.take(rate, 20_000.0, 1.0, 30)
    assert grant.tokens == 0
    bucket, grant = bucket.take(rate, 50_001.0, 1.0, 30)
    assert grant.tokens == 19


@given(RATES, st.floats(0, 1))
def test_a_caller_that_waits_as_told_gets_its_token(rate: Rate, left: float) -> None:
    bucket = TokenBucket(left * 0.99, 0.0)
    bucket, refused = bucket.take(rate, 0.0, 1.0, 1.0)
    assert refused.tokens == 0
    assert refused.wait_ms > 0
    _, grant = bucket.take(rate, refused.wait_ms, 1.0, 1.0)
    assert grant.tokens == 1.0


def test_waiting_callers_are_told_different_times() -> None:
    rate, bucket = Rate(2.0, 3), TokenBucket(0.0, 0.0)
    waits = []
    for _ in range(5):
        bucket, grant = bucket.take(rate, 0.0, 1.0, 1.0)
        waits.append(grant.wait_ms)
    assert waits == [500, 1000, 1500, 2000, 2500]
    for wait in waits:
        bucket, grant = bucket.take(rate, wait, 1.0, 1.0)
        assert grant.tokens == 1.0
        bucket = bucket.landed(1.0)


@pytest.mark.parametrize("at_once", [False, True])
def test_callers_that_wait_for_seconds_return_together(at_once: bool) -> None:
    """A bucket that is not full so soon loses nothing by it."""
    rate, bucket = Rate(2.0, 40), TokenBucket(0.0, 0.0)
    waits: list[float] = []
    while len(waits) < 5:
        bucket, grant = bucket.take(rate, 0.0, 1.0, 1.0, 5 if at_once else 1)
        assert grant.tokens == 0
        waits += grant.waits_ms
    assert waits == [500, 1000, 2000, 2000, 3000]
    for wait in waits:
        bucket, grant = bucket.take(rate, wait, 1.0, 1.0)
        assert grant.tokens == 1.0
        bucket = bucket.landed(1.0)


@given(RATES, st.floats(0, 50), st.floats(0, 50))
def test_what_is_put_back_never_overfills(rate: Rate, level: float, back: float) -> None:
    bucket = TokenBucket(min(level, rate.capacity), 0.0).returned(rate, back)
    assert bucket.tokens <= rate.capacity


def test_a_clock_that_goes_back_adds_nothing() -> None:
    rate = Rate(1.0, 10)
    bucket = TokenBucket(2.0, 10_000.0).refilled(rate, 4000.0)
    assert (bucket.tokens, bucket.at_ms) == (2.0, 10_000.0)


def test_a_provider_that_goes_on_refusing_gets_single_calls() -> None:
    rate, bucket = Rate(0.1, 40), TokenBucket.full(Rate(0.1, 40), 0.0)
    granted = []
    for _ in range(7):
        bucket, grant = bucket.take(rate, bucket.paused_until_ms, 1.0, 1.0)
        granted.append(grant.tokens)
        bucket = bucket.throttled(bucket.paused_until_ms, 1000).landed(1.0)
    assert granted == [1.0] * 5 + [0.0] * 2


def test_a_retry_after_pauses_everybody() -> None:
    rate = Rate(10.0, 40)
    bucket = TokenBucket.full(rate, 0.0).throttled(0.0, 8000)
    bucket, grant = bucket.take(rate, 1000.0, 1.0, 1.0)
    assert (grant.tokens, grant.wait_ms) == (0.0, 7000.0)
    _, grant = bucket.take(rate, 8000.0, 1.0, 5.0)
    assert grant.tokens == 5.0


def test_the_providers_own_bucket_replaces_the_configured_one() -> None:
    rate = Rate(2.0, 40)
    bucket = TokenBucket.full(rate, 0.0)
    bucket = bucket.corrected(rate, 0.0, ThrottleStatus(954, 1000, 50))
    assert bucket.reported == Rate(50, 1000)
    assert bucket.tokens == 954
    # A second call took 100 points in advance and cost 46 of them.
    bucket, grant = bucket.take(rate, 0.0, 100, 100)
    assert grant.tokens == 100
    bucket = bucket.landed(100).corrected(rate, 1000.0, ThrottleStatus(958, 1000, 50), refund=54)
    assert bucket.tokens == 958
    # A call that is still on its way is not forgotten when another one's answer comes.
    bucket, _ = bucket.take(rate, 1000.0, 500, 500)
    bucket = bucket.corrected(rate, 1000.0, ThrottleStatus(950, 1000, 50), refund=0)
    assert bucket.tokens == 458


@given(st.floats(1, 1e6))
def test_a_call_that_costs_more_than_the_bucket_holds_gets_all_of_it(cost: float) -> None:
    rate = Rate(50, 1000)
    _, grant = TokenBucket.full(rate, 0.0).take(rate, 0.0, cost, cost)
    assert grant.tokens == pytest.approx(min(cost, rate.capacity))


def _shopify(share: float) -> TokenBucket:
    """An empty bucket of 1,000 points whose calls cost this share of what they ask for."""
    bucket = TokenBucket.full(Rate(2.0, 40), 0.0)
    return bucket.corrected(Rate(2.0, 40), 0.0, ThrottleStatus(0, 1000, 50), cost_share=share)


def test_callers_wait_for_what_calls_cost_and_not_for_what_they_ask() -> None:
    bucket, waits = _shopify(0.25), []
    for _ in range(4):
        bucket, grant = bucket.take(Rate(2.0, 40), 0.0, 800, 800)
        waits.append(grant.wait_ms)
    # 200 of 800 points each, at 50 per second.
    assert waits == [4000, 8000, 12_000, 16_000]


def test_the_expected_cost_follows_the_answers() -> None:
    bucket = _shopify(0.25)
    assert bucket.cost_share == 0.25
    for _ in range(20):
        status = ThrottleStatus(0, 1000, 50)
        bucket = bucket.corrected(Rate(2.0, 40), 0.0, status, cost_share=0.75)
    assert bucket.cost_share == pytest.approx(0.75, abs=0.01)
    bucket = bucket.corrected(Rate(2.0, 40), 0.0, ThrottleStatus(0, 1000, 50))
    assert bucket.cost_share == pytest.approx(0.75, abs=0.01)


@given(st.floats(0, 2), st.floats(1, 975))
def test_a_caller_that_returns_as_told_gets_its_tokens_after_some_turns(
    share: float, cost: float
) -> None:
    """However little other calls cost, and although nothing comes back."""
    bucket, now = _shopify(share), 0.0
    for _ in range(21):
        bucket, grant = bucket.take(Rate(2.0, 40), now, cost, cost)
        if grant.tokens:
            break
        assert grant.wait_ms > 0
        now += grant.wait_ms
    assert grant.tokens == pytest.approx(cost)
    # Never before the provider has refilled them.
    assert now / 1000 * 50 >= cost - 1e-3


def test_bookings_end_with_the_unit_they_were_made_in() -> None:
    rate, bucket = Rate(2.0, 40), TokenBucket(0.0, 0.0)
    for _ in range(50):
        bucket, _ = bucket.take(rate, 0.0, 1.0, 1.0)
    assert bucket.booked_until_ms == 25_000
    bucket = bucket.corrected(rate, 0.0, ThrottleStatus(0, 1000, 50), cost_share=0.5)
    _, grant = bucket.take(rate, 0.0, 100, 100)
    assert grant.wait_ms == 1000
