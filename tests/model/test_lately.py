"""The last hour in figures."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta

from penstock.model.monitor.last_hour import (
    EndedJob,
    minutes,
    percentile,
    row_success_rate,
    success_rate,
)

NOW = datetime(2026, 1, 31, 12, 0, 30, tzinfo=UTC)


def test_minutes_hold_what_ended_in_them() -> None:
    made = minutes(
        [
            EndedJob(NOW, 5, 100),
            EndedJob(NOW - timedelta(minutes=59), 7, 10),
            EndedJob(NOW - timedelta(minutes=59), 0, 5, failed=True),
            EndedJob(NOW - timedelta(minutes=61), 1000, 10),
            EndedJob(NOW + timedelta(minutes=2), 1000, 10),
        ],
        NOW,
    )
    assert len(made) == 60
    assert (made[-1].at, made[-1].rows, made[-1].done) == (NOW.replace(second=0), 5, 1)
    assert (made[0].rows, made[0].done, made[0].failed) == (7, 1, 1)
    assert sum(one.rows for one in made) == 12


def test_percentiles_are_values_that_were_seen() -> None:
    assert percentile([], 0.5) is None
    assert percentile([7], 0.99) == 7
    hundred = list(range(100, 0, -1))
    assert [percentile(hundred, share) for share in (0.5, 0.95, 0.99)] == [50, 95, 99]


def test_nothing_ended_is_no_success_rate() -> None:
    assert success_rate([]) is None
    assert success_rate([EndedJob(NOW, 1, 1), EndedJob(NOW, 0, 1, failed=True)]) == 0.5


def test_rows_are_counted_not_jobs() -> None:
    """A job that is done with half of its rows as errors is half a success."""
    assert row_success_rate([]) is None
    ended = [EndedJob(NOW, 10, 1, row_errors=5), EndedJob(NOW, 30, 1, row_errors=5)]
    assert (success_rate(ended), row_success_rate(ended)) == (1.0, 0.75)
