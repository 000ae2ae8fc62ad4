"""Checks of a moment fail only when they have failed for a time."""

from __future__ import annotations

from penstock.model.monitor.checks import HealthCheck
from penstock.model.monitor.lasting import LastingFailures


def checks(workers: int, depth: int = 0) -> list[HealthCheck]:
    return [
        HealthCheck("workers", workers, 2, at_most=False),
        HealthCheck("depth", depth, 50),
    ]


def failed(timer: LastingFailures, now: float, workers: int, depth: int = 0) -> list[str]:
    return [one.key for one in timer.judge(checks(workers, depth), now) if not one.ok]


def test_a_failure_counts_after_the_grace() -> None:
    timer = LastingFailures(60_000)
    assert failed(timer, 0, 1) == []
    assert failed(timer, 30, 1) == []
    assert failed(timer, 60, 1) == ["workers"]
    assert failed(timer, 90, 1) == ["workers"]


def test_a_pass_between_starts_the_time_again() -> None:
    timer = LastingFailures(60_000)
    assert failed(timer, 0, 1) == []
    assert failed(timer, 40, 2) == []
    assert failed(timer, 70, 1) == []
    assert failed(timer, 130, 1) == ["workers"]


def test_figures_of_a_period_fail_at_once() -> None:
    timer = LastingFailures(60_000)
    assert failed(timer, 0, 1, depth=51) == ["depth"]


def test_a_failure_before_a_long_pause_says_nothing() -> None:
    timer = LastingFailures(60_000)
    assert failed(timer, 0, 1) == []
    assert failed(timer, 3600, 1) == []
    assert failed(timer, 3661, 1) == ["workers"]


def test_without_a_grace_everything_counts_at_once() -> None:
    timer = LastingFailures(0)
    assert failed(timer, 0, 0) == ["workers"]
