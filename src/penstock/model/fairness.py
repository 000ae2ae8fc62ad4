"""Plans, their weights and lanes. The choice itself is one SQL statement, tested against this."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
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
# Lanes that orgs share; each enterprise org has one of its own besides.
SHARED_LANES: Final = ("standard", "basic", "default")


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


def lane_pattern(name: str) -> str:
    """A LIKE pattern of the lanes a worker is told to serve: `enterprise` stands for the lanes of
    all enterprise orgs, `*` for any text."""
    if name == "enterprise":
        name = "priority.*"
    for special in ("\\", "%", "_"):
        name = name.replace(special, f"\\{special}")
    return name.replace("*", "%")


def serves_one_org(patterns: Sequence[str] | None) -> bool:
    """Whether all these lanes are one enterprise org's own."""
    return (
        patterns is not None
        and len(set(patterns)) == 1
        and (patterns[0].startswith("priority.") and "%" not in patterns[0].replace("\\%", ""))
    )


def start_tag(virtual_time: float, system_time: float, live_start: float | None = None) -> float:
    """Where an org's next slice starts. One back from idle has saved nothing up, and starts where
    the system is; one with slices at work goes on from where the first of them started, for its
    own time stands still until they are settled."""
    return max(virtual_time, system_time if live_start is None else live_start)


def turn_share(waiting_orgs: int, slots: int) -> float:
    """Of a usual slice, the part that an org gets in one turn: where many wait for few slots, turns
    are shorter, so that all of them go forward together. Below a twentieth, taking turns would cost
    more than the turns give."""
    return max(0.05, min(1.0, slots / max(waiting_orgs, 1)))


def score(start: float, live_expected_ms: float, weight: float) -> float:
    """The lowest score is served next: what an org already holds counts as used."""
    return start + live_expected_ms / weight


def charged(virtual_time: float, start: float, actual_ms: float, weight: float) -> float:
    """An org's virtual time after a slice of ``actual_ms``."""
    return max(virtual_time, start) + actual_ms / weight
