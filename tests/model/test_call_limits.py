"""Limits of calls stay inside their bounds, fall with refusals, and come back."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from penstock.model.network.call_limits import CallBounds, CallLimit

MS = st.floats(0, 1e6, allow_nan=False)
STEPS = st.lists(
    st.tuples(st.just("ok"), MS, MS) | st.tuples(st.just("no"), MS, MS) | st.just(("go", 0.0, 0.0))
)


@st.composite
def bounds(draw: st.DrawFn) -> CallBounds:
    least, start, most = sorted(draw(st.lists(st.integers(1, 200), min_size=3, max_size=3)))
    return CallBounds(least, start, most)


def tell(limit: CallLimit, steps: list[tuple[str, float, float]]) -> float:
    now = 0.0
    for kind, passed, asked in steps:
        now += passed
        match kind:
            case "ok":
                limit.succeeded()
            case "no":
                limit.refused(now, now - passed / 2, asked)
            case _:
                limit.started(now)
    return now


@given(bounds(), STEPS)
def test_limits_never_leave_their_bounds(
    bounds: CallBounds, steps: list[tuple[str, float, float]]
) -> None:
    limit = CallLimit(bounds)
    for step in steps:
        tell(limit, [step])
        assert bounds.least <= limit.most_at_once <= bounds.most
        assert 0 <= limit.delay_ms <= bounds.most_delay_ms


@given(bounds(), STEPS)
def test_whatever_happened_calm_brings_everything_back(
    bounds: CallBounds, steps: list[tuple[str, float, float]]
) -> None:
    limit = CallLimit(bounds)
    tell(limit, steps)
    for _ in range(bounds.most**2 + 100):
        limit.succeeded()
    assert limit.most_at_once == bounds.most
    assert limit.delay_ms == 0


@given(bounds(), STEPS, MS, MS)
def test_a_refusal_never_lets_in_more_or_sooner(
    bounds: CallBounds, steps: list[tuple[str, float, float]], passed: float, asked: float
) -> None:
    limit = CallLimit(bounds)
    now = tell(limit, steps) + passed
    before = (limit.limit, limit.not_before)
    limit.refused(now, now, asked)
    assert limit.limit <= before[0]
    assert limit.not_before >= max(before[1], now + asked)


@given(bounds(), STEPS)
def test_a_success_never_lets_in_less(
    bounds: CallBounds, steps: list[tuple[str, float, float]]
) -> None:
    limit = CallLimit(bounds)
    tell(limit, steps)
    before = (limit.limit, limit.delay_ms)
    limit.succeeded()
    assert limit.limit >= before[0]
    assert limit.delay_ms <= before[1]


def test_it_doubles_each_round_until_the_first_refusal_and_then_creeps() -> None:
    limit = CallLimit(CallBounds(start=2, most=100))
    for _ in range(2):
        limit.succeeded()
    assert limit.most_at_once == 4
    for _ in range(4):
        limit.succeeded()
    assert limit.most_at_once == 8
    limit.refused(1000, 900)
    assert limit.most_at_once == 4
    for _ in range(4):
        limit.succeeded()
    assert limit.most_at_once in (4, 5)


def test_calls_refused_together_are_one_refusal() -> None:
    limit = CallLimit(CallBounds(start=16))
    for _ in range(16):
        limit.refused(now=1000, started_at=500)
    assert (limit.most_at_once, limit.delay_ms) == (8, 100)
    limit.refused(now=2000, started_at=1500)
    assert (limit.most_at_once, limit.delay_ms) == (4, 200)


def test_delays_stand_between_starts() -> None:
    limit = CallLimit()
    limit.refused(now=1000, started_at=1000)
    assert limit.not_before == 1100
    limit.started(1100)
    assert limit.not_before == 1200


def test_a_success_takes_back_what_a_refusal_added() -> None:
    limit = CallLimit()
    for second in range(1, 6):
        limit.refused(now=second * 1000, started_at=second * 1000)
    assert limit.delay_ms == 1600
    for _ in range(4):
        limit.succeeded()
    assert limit.delay_ms == 100


def test_callers_that_are_sent_away_return_one_after_the_other() -> None:
    limit = CallLimit()
    for second in range(1, 6):
        limit.refused(now=second * 1000, started_at=second * 1000)
    assert limit.not_before == 6600
    assert [limit.return_at(5000) for _ in range(3)] == [6600, 8200, 9800]
    for _ in range(50):
        assert limit.return_at(5000) <= 65_000


def test_an_open_circuit_ends_what_its_failures_added() -> None:
    limit = CallLimit(CallBounds(start=4))
    for second in range(1, 30):
        limit.refused(now=second * 1000, started_at=second * 1000)
    assert (limit.most_at_once, limit.delay_ms) == (1, 30_000)
    limit.return_at(30_000)
    limit.circuit_opened()
    assert (limit.most_at_once, limit.delay_ms, limit.not_before) == (1, 0, 0)
    assert limit.return_at(90_000) == 90_000
    # It grows again as it did for the first calls.
    for _ in range(3):
        limit.succeeded()
    assert limit.most_at_once == 4
