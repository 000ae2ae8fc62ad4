"""Whether all is well, by a few figures and what each may be. Pure."""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum
from typing import Final

# So many of the checks failed: worse than degraded.
_UNHEALTHY_FROM: Final = 3


class Wellness(StrEnum):
    HEALTHY = "healthy"
    DEGRADED = "degraded"
    UNHEALTHY = "unhealthy"


@dataclass(frozen=True, slots=True)
class Check:
    """One figure beside its threshold; a figure that is not known yet is no problem."""

    name: str
    value: float | None
    threshold: float
    # Whether more than the threshold is too much, or less is too little.
    at_most: bool = True

    @property
    def ok(self) -> bool:
        if self.value is None:
            return True
        return self.value <= self.threshold if self.at_most else self.value >= self.threshold


def wellness(checks: list[Check]) -> Wellness:
    problems = sum(not check.ok for check in checks)
    if problems >= _UNHEALTHY_FROM:
        return Wellness.UNHEALTHY
    return Wellness.DEGRADED if problems else Wellness.HEALTHY
