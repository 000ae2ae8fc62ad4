"""Queue levels, and which jobs are still admitted. Pure."""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum

# Bounds of the Retry-After of refused jobs.
SOONEST_RETRY_MS = 5_000
LATEST_RETRY_MS = 300_000
# Used until the first job has ended and the speed of the queue is known.
UNKNOWN_RETRY_MS = 60_000
_DELAYED_PLANS = frozenset({"basic", "trial"})


class Level(StrEnum):
    HEALTHY = "healthy"
    DEGRADED = "degraded"
    CRITICAL = "critical"
    OVERLOAD = "overload"


class Admission(StrEnum):
    ACCEPT = "accept"
    DELAY = "delay"
    REFUSE = "refuse"


@dataclass(frozen=True, slots=True)
class Levels:
    """The maximum depth of each level; above the last is overload."""

    healthy: int = 1_000
    degraded: int = 5_000
    critical: int = 10_000

    @property
    def countable(self) -> int:
        """Counting stops here, at twice the critical depth."""
        return 2 * self.critical + 1


def level_of(depth: int, levels: Levels) -> Level:
    """``depth`` is jobs waiting, running and delayed."""
    if depth > levels.critical:
        return Level.OVERLOAD
    if depth > levels.degraded:
        return Level.CRITICAL
    return Level.DEGRADED if depth > levels.healthy else Level.HEALTHY


def admission(plan: str, level: Level) -> Admission:
    """Whether a job of an org with this plan is accepted, delayed or refused."""
    match level:
        case Level.HEALTHY:
            return Admission.ACCEPT
        case Level.DEGRADED:
            return Admission.DELAY if plan in _DELAYED_PLANS else Admission.ACCEPT
        case Level.CRITICAL:
            return Admission.ACCEPT if plan == "enterprise" else Admission.REFUSE
        case Level.OVERLOAD:
            return Admission.REFUSE


def retry_after_ms(plan: str, depth: int, levels: Levels, job_ms: float) -> int:
    """When a refused caller should retry: after enough jobs have ended for their plan, at
    ``job_ms`` each; 0 means unknown."""
    if job_ms <= 0:
        return UNKNOWN_RETRY_MS
    room = levels.critical if plan == "enterprise" else levels.degraded
    drained = max(0, depth - room) * job_ms
    return int(max(SOONEST_RETRY_MS, min(LATEST_RETRY_MS, drained)))
