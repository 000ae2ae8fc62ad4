"""Plans, their weights and lanes. The SQL statement that chooses an org is tested against this."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
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
# Lanes that orgs share; each enterprise org also has its own.
SHARED_LANES: Final = ("standard", "basic", "default")


def lane_of(plan: str, org_name: str) -> str:
    """The lane of a job: enterprise orgs have their own."""
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
    """A LIKE pattern for the lanes that a worker serves: `enterprise` means the lanes of all
    enterprise orgs, `*` any text."""
    if name == "enterprise":
        name = "priority.*"
    for special in ("\\", "%", "_"):
        name = name.replace(special, f"\\{special}")
    return name.replace("*", "%")


def serves_one_org(patterns: Sequence[str] | None) -> bool:
    """Whether all these lanes belong to one enterprise org."""
    return (
        patterns is not None
        and len(set(patterns)) == 1
        and (patterns[0].startswith("priority.") and "%" not in patterns[0].replace("\\%", ""))
    )


def start_tag(virtual_time: float, system_time: float, live_start: float | None = None) -> float:
    """The virtual start time of an org's next slice. An org that was idle starts at the system's
    time and has saved nothing up; an org with running slices continues from the start of the first
    one, because its own time does not advance until they are settled."""
    return max(virtual_time, system_time if live_start is None else live_start)


def turn_share(waiting_orgs: int, slots: int) -> float:
    """The part of a normal slice that an org gets in one turn: with many waiting orgs and few slots
    turns are shorter, so that all make progress. At least a twentieth, since switching has a
    cost."""
    return max(0.05, min(1.0, slots / max(waiting_orgs, 1)))


def score(start: float, live_expected_ms: float, weight: float) -> float:
    """The org with the lowest score is served next; slices that it holds count as used."""
    return start + live_expected_ms / weight


def charged(virtual_time: float, start: float, actual_ms: float, weight: float) -> float:
    """An org's virtual time after a slice of ``actual_ms``."""
    return max(virtual_time, start) + actual_ms / weight


@dataclass(slots=True)
class WaitingJobs:
    """The waiting jobs of an org, by priority."""

    weight: int
    by_priority: dict[int, int] = field(default_factory=dict)

    def add(self, priority: int, jobs: int = 1) -> None:
        self.by_priority[priority] = self.by_priority.get(priority, 0) + jobs


def jobs_ahead(lines: Mapping[int, WaitingJobs], org_id: int, weight: int, priority: int) -> int:
    """How many waiting jobs start before a new one of this org: those of the org with the same or
    a higher priority, and of each other org what its weight gives it until then."""
    own = lines.get(org_id)
    before = 0
    if own is not None:
        before = sum(jobs for level, jobs in own.by_priority.items() if level >= priority)
    others = 0
    for other, line in lines.items():
        if other != org_id:
            turns = (before + 1) * line.weight // weight
            others += min(sum(line.by_priority.values()), turns)
    return before + others
