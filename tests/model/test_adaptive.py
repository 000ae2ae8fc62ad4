"""Sizes follow what is measured and never leave their bounds."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from penstock.model.adaptive import (
    ClaimBounds,
    ErrorSpike,
    IngestSizer,
    claim_size,
    ewma,
    lease_ms,
    load_factor,
)

MS = st.floats(0, 1e6, allow_nan=False)


@given(st.none() | MS, st.none() | st.floats(1, 1e9), st.floats(0.01, 1))
def test_claims_stay_inside_their_bounds(
    item_ms: float | None, item_bytes: float | None, pressure: float
) -> None:
    bounds = ClaimBounds()
    assert bounds.least <= claim_size(bounds, item_ms, item_bytes, pressure) <= bounds.most


@given(MS, MS, st.floats(1, 1e9), st.floats(0.01, 1), st.floats(0.01, 1))
def test_slower_items_and_more_pressure_never_make_a_claim_larger(
    one_ms: float, other_ms: float, item_bytes: float, one: float, other: float
) -> None:
    bounds = ClaimBounds()
    (fast, slow), (more, less) = sorted((one_ms, other_ms)), sorted((one, other))
    assert claim_size(bounds, slow, item_bytes, less) <= claim_size(bounds, fast, item_bytes, less)
    assert claim_size(bounds, slow, item_bytes, more) <= claim_size(bounds, slow, item_bytes, less)


@given(st.floats(0.1, 5000))
def test_a_claim_lasts_about_its_target(item_ms: float) -> None:
    bounds = ClaimBounds(most=10**9)
    size = claim_size(bounds, item_ms, None)
    assert size * item_ms <= max(bounds.target_ms * bounds.safety, item_ms)


def test_bytes_bound_a_claim_of_wide_rows() -> None:
    assert claim_size(ClaimBounds(most_bytes=1_000_000), 0.1, 100_000) == 10


@given(st.floats(0, 64), st.floats(0, 4))
def test_a_worker_short_of_cpu_or_memory_claims_half(cpu: float, memory: float) -> None:
    assert load_factor(cpu, memory) == (0.5 if cpu > 0.85 or memory > 0.8 else 1.0)


SEEN = st.integers(0, 500).flatmap(lambda n: st.tuples(st.just(n), st.integers(0, n)))


@given(st.lists(SEEN, max_size=50))
def test_a_spike_begins_above_a_fifth_and_ends_below_a_twentieth(
    story: list[tuple[int, int]],
) -> None:
    spike = ErrorSpike()
    for items, errors in story:
        before = spike.active
        spike.record(items, errors)
        assert 0 <= spike.share <= 1 + 1e-9
        assert (spike.claim_factor, spike.spacing) == ((0.5, 2.0) if spike.active else (1.0, 1.0))
        if spike.active and not before:
            assert spike.share > 0.2
        if before and not spike.active:
            assert spike.share < 0.05
        if spike.share > 0.2 and before:
            assert spike.active


@given(st.lists(SEEN, max_size=50), st.integers(1, 200))
def test_whatever_happened_a_spike_ends_with_its_errors(
    story: list[tuple[int, int]], size: int
) -> None:
    spike = ErrorSpike()
    for step in story:
        spike.record(*step)
    for _ in range(1000):
        spike.record(size, 0)
    assert not spike.active


def test_only_the_last_hundred_items_count() -> None:
    spike = ErrorSpike()
    spike.record(10_000, 0)
    spike.record(100, 21)
    assert (spike.active, spike.share) == (True, 0.21)
    spike.record(50, 0)
    assert spike.active
    spike.record(100, 4)
    assert not spike.active


def test_of_a_few_items_nothing_is_said() -> None:
    spike = ErrorSpike()
    spike.record(19, 19)
    assert not spike.active
    spike.record(1, 0)
    assert spike.active


def test_wide_rows_bound_the_batch() -> None:
    sizer = IngestSizer(most_bytes=100_000)
    for _ in range(10):
        sizer.batch_written(1, sizer.rows, 0, sizer.rows * 500)
    assert sizer.rows == 200


def test_half_the_factor_is_half_the_claim() -> None:
    assert claim_size(ClaimBounds(), 0.1, None, 0.5) * 2 == claim_size(ClaimBounds(), 0.1, None)


@given(MS, st.integers(1, 10_000), st.integers(0, 10_000))
def test_leases_stay_inside_their_bounds(expected: float, floor: int, more: int) -> None:
    assert floor <= lease_ms(expected, floor, floor + more) <= floor + more


def test_ingest_doubles_while_all_is_calm() -> None:
    sizer = IngestSizer()
    sizes = [sizer.rows]
    for _ in range(8):
        sizes.append(sizer.batch_written(5, sizer.rows))
    assert sizes == [64, 128, 256, 512, 1024, 2048, 4096, 5000, 5000]


def test_a_short_last_batch_does_not_grow_it() -> None:
    sizer = IngestSizer()
    assert sizer.batch_written(1, 3) == 64


def test_ingest_shrinks_when_the_database_labours() -> None:
    sizer = IngestSizer(rows=1000)
    assert sizer.batch_written(400, 1000) == 500


def test_ingest_stays_as_it_is_between_its_two_targets() -> None:
    sizer = IngestSizer(rows=1000)
    assert sizer.batch_written(50, 1000) == 1000


def test_where_commits_are_slow_small_batches_still_grow() -> None:
    sizer = IngestSizer()
    for _ in range(30):
        sizer.batch_written(40 + sizer.rows * 0.01, sizer.rows)
    assert sizer.rows == 1000


def test_a_pool_wait_shrinks_it_a_little() -> None:
    sizer = IngestSizer(rows=1000)
    assert sizer.batch_written(10, 1000, pool_wait_ms=50) == 750


def test_an_error_shrinks_it_hard_and_waits_longer_each_time() -> None:
    sizer = IngestSizer(rows=4000)
    waits = [sizer.error(0.0) for _ in range(4)]
    assert sizer.rows == 64
    assert waits == sorted(set(waits))


@given(st.lists(st.tuples(MS, st.integers(0, 6000), MS) | st.floats(0, 1), max_size=50))
def test_ingest_batches_never_leave_their_bounds(
    story: list[tuple[float, int, float] | float],
) -> None:
    sizer = IngestSizer()
    for step in story:
        if isinstance(step, tuple):
            sizer.batch_written(*step)
        else:
            sizer.error(step)
        assert sizer.least <= sizer.rows <= sizer.most


@given(st.lists(st.tuples(MS, st.integers(0, 6000), MS) | st.floats(0, 1), max_size=50))
def test_whatever_happened_calm_brings_the_largest_batch_back(
    story: list[tuple[float, int, float] | float],
) -> None:
    sizer = IngestSizer()
    for step in story:
        if isinstance(step, tuple):
            sizer.batch_written(*step)
        else:
            sizer.error(step)
    for _ in range(100):
        sizer.batch_written(1, sizer.rows)
    assert sizer.rows == sizer.most


@given(st.lists(MS, min_size=1))
def test_a_moving_mean_stays_between_the_extremes(values: list[float]) -> None:
    mean: float | None = None
    for value in values:
        mean = ewma(mean, value)
    assert mean is not None
    assert min(values) - 1e-6 <= mean <= max(values) + 1e-6
