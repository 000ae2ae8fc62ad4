"""Sizes follow what is measured and never leave their bounds."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from penstock.model.adaptive import ClaimBounds, IngestSizer, claim_size, ewma, lease_ms

MS = st.floats(0, 1e6, allow_nan=False)


@given(st.none() | MS, st.none() | st.floats(1, 1e9), st.floats(0.01, 1))
def test_claims_stay_inside_their_bounds(
    item_ms: float | None, item_bytes: float | None, pressure: float
) -> None:
    bounds = ClaimBounds()
    assert bounds.least <= claim_size(bounds, item_ms, item_bytes, pressure) <= bounds.most


@given(st.floats(0.1, 5000))
def test_a_claim_lasts_about_its_target(item_ms: float) -> None:
    bounds = ClaimBounds(most=10**9)
    size = claim_size(bounds, item_ms, None)
    assert size * item_ms <= max(bounds.target_ms * bounds.safety, item_ms)


def test_bytes_bound_a_claim_of_wide_rows() -> None:
    assert claim_size(ClaimBounds(most_bytes=1_000_000), 0.1, 100_000) == 10


def test_a_worker_short_of_cpu_claims_half() -> None:
    assert claim_size(ClaimBounds(), 0.1, None, 0.5) * 2 == claim_size(ClaimBounds(), 0.1, None)


@given(MS, st.integers(1, 10_000), st.integers(0, 10_000))
def test_leases_stay_inside_their_bounds(expected: float, floor: int, more: int) -> None:
    assert floor <= lease_ms(expected, floor, floor + more) <= floor + more


def test_ingest_doubles_while_all_is_calm() -> None:
    sizer = IngestSizer()
    sizes = [sizer.rows]
    for _ in range(8):
        sizes.append(sizer.calm(5, sizer.rows))
    assert sizes == [64, 128, 256, 512, 1024, 2048, 4096, 5000, 5000]


def test_a_short_last_batch_does_not_grow_it() -> None:
    sizer = IngestSizer()
    assert sizer.calm(1, 3) == 64


def test_ingest_shrinks_when_the_database_labours() -> None:
    sizer = IngestSizer(rows=1000)
    assert sizer.calm(400, 1000) == 500


def test_ingest_stays_as_it_is_between_its_two_targets() -> None:
    sizer = IngestSizer(rows=1000)
    assert sizer.calm(50, 1000) == 1000


def test_a_pool_wait_shrinks_it_a_little() -> None:
    sizer = IngestSizer(rows=1000)
    assert sizer.calm(10, 1000, pool_wait_ms=50) == 750


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
            sizer.calm(*step)
        else:
            sizer.error(step)
        assert sizer.least <= sizer.rows <= sizer.most


@given(st.lists(MS, min_size=1))
def test_a_moving_mean_stays_between_the_extremes(values: list[float]) -> None:
    mean: float | None = None
    for value in values:
        mean = ewma(mean, value)
    assert mean is not None
    assert min(values) - 1e-6 <= mean <= max(values) + 1e-6
