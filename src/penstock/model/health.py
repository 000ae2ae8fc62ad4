"""Overall health from a few metrics and their thresholds. Pure."""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum
from typing import Final

# With so many failed checks the status is unhealthy.
_UNHEALTHY_FROM: Final = 3


class HealthStatus(StrEnum):
    HEALTHY = "healthy"
    DEGRADED = "degraded"
    UNHEALTHY = "unhealthy"


@dataclass(frozen=True, slots=True)
class Check:
    """A metric and its threshold. An unknown metric passes."""

    name: str
    value: float | None
    threshold: float
    # Whether values above the threshold fail, or values below.
    at_most: bool = True

    @property
    def ok(self) -> bool:
        if self.value is None:
            return True
        return self.value <= self.threshold if self.at_most else self.value >= self.threshold


def overall_health(checks: list[Check]) -> HealthStatus:
    problems = sum(not check.ok for check in checks)
    if problems >= _UNHEALTHY_FROM:
        return HealthStatus.UNHEALTHY
    return HealthStatus.DEGRADED if problems else HealthStatus.HEALTHY
