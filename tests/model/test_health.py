"""The verdict on health."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest

from penstock.model.backpressure import Level
from penstock.model.monitor.health import (
    LONG_WAIT_MS,
    Check,
    Figures,
    HealthStatus,
    ReasonCode,
    judge,
    overall_health,
)


def test_a_threshold_is_still_allowed() -> None:
    assert Check("depth", 50, 50).ok
    assert not Check("depth", 51, 50).ok
    assert Check("success", 0.9, 0.9, at_most=False).ok
    assert not Check("success", 0.89, 0.9, at_most=False).ok


def test_what_is_not_known_is_no_problem() -> None:
    assert Check("success", None, 0.9, at_most=False).ok


@pytest.mark.parametrize(
    ("problems", "found"),
    [
        (0, HealthStatus.HEALTHY),
        (1, HealthStatus.DEGRADED),
        (2, HealthStatus.DEGRADED),
        (3, HealthStatus.UNHEALTHY),
        (4, HealthStatus.UNHEALTHY),
    ],
)
def test_the_number_of_problems_decides(problems: int, found: HealthStatus) -> None:
    checks = [Check(f"check {n}", n < problems, 0) for n in range(4)]
    assert overall_health(checks) is found


WELL = Figures(Level.HEALTHY, depth=3, waiting=1, oldest_ms=900, workers=2, success_rate=1.0)


def test_all_is_well_only_if_nothing_is_wrong() -> None:
    verdict = judge(WELL, 0.9)
    assert (verdict.level, verdict.reasons, verdict.ready) == (HealthStatus.HEALTHY, (), True)
    assert verdict.message == "All is well: 2 workers on 3 jobs."
    idle = judge(replace(WELL, depth=0, waiting=0, workers=1), 0.9)
    assert idle.message == "All is well: 1 worker, nothing waits."


def test_everything_that_is_wrong_is_a_reason() -> None:
    bad = replace(
        WELL, workers=0, level=Level.CRITICAL, depth=6000, oldest_ms=LONG_WAIT_MS + 1, failed=5,
        success_rate=0.5,
    )  # fmt: skip
    verdict = judge(bad, 0.9)
    assert (verdict.level, verdict.ready) == (HealthStatus.UNHEALTHY, False)
    assert [reason.code for reason in verdict.reasons] == [
        ReasonCode.NO_WORKERS, ReasonCode.QUEUE_TOO_LONG, ReasonCode.JOBS_FAILED,
    ]  # fmt: skip
    assert verdict.message == (
        "No worker is running: 6,000 jobs wait. The queue is critical: 6,000 jobs."
        " 5 jobs failed in the last hour."
    )


@pytest.mark.parametrize(
    ("changes", "code", "ready"),
    [
        ({"workers": 0}, ReasonCode.NO_WORKERS, False),
        ({"level": Level.DEGRADED}, ReasonCode.QUEUE_TOO_LONG, False),
        ({"oldest_ms": LONG_WAIT_MS + 1}, ReasonCode.LONG_WAIT, True),
        ({"success_rate": 0.89}, ReasonCode.JOBS_FAILED, True),
    ],
)
def test_one_reason_degrades(changes: dict[str, Any], code: ReasonCode, ready: bool) -> None:
    verdict = judge(replace(WELL, **changes), 0.9)
    assert (verdict.level, verdict.ready) == (HealthStatus.DEGRADED, ready)
    assert [reason.code for reason in verdict.reasons] == [code]


def test_thresholds_themselves_are_fine() -> None:
    assert not judge(replace(WELL, oldest_ms=LONG_WAIT_MS, success_rate=0.9), 0.9).reasons
    assert not judge(replace(WELL, success_rate=None), 0.9).reasons
