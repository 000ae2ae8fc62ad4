"""Whether all is well."""

from __future__ import annotations

import pytest

from penstock.model.health import Check, HealthStatus, overall_health


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
