"""Plans, their weights and lanes. The choice itself is one SQL statement, tested against this."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final

PLAN_WEIGHTS: Final[Mapping[str, int]] = {
    "enterprise": 8,
    "premium": 4,
    "standard": 2,
    "basic": 1,
    "trial": 1,
}
PRIORITIES: Final[Mapping[str, int]] = {"high": 10, "medium": 5, "low": 0}
DEFAULT_PRIORITY: Final = PRIORITIES["medium"]
MAX_PRIORITY: Final = 100


def lane_of(plan: str, org_name: str) -> str:
    """The lane a job waits in: enterprise orgs have one of their own."""
    match plan:
        case "enterprise":
            return f"priority.{org_name}"
        case "premium" | "standard":
            return "standard"
        case "basic":
            return "basic"
        case _:
            return "default"


def start_tag(virtual_time: float, system_time: float) -> float:
    """Where an org's next slice starts: an org back from idle has saved nothing up."""
    return max(virtual_time, system_time)


def score(start: float, live_expected_ms: float, weight: float) -> float:
    """The lowest score is served next: what an org already holds counts as used."""
    return start + live_expected_ms / weight


def charged(virtual_time: float, start: float, actual_ms: float, weight: float) -> float:
    """An org's virtual time after a slice of ``actual_ms``."""
    return max(virtual_time, start) + actual_ms / weight
