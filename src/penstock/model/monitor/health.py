"""The verdict on health: of the whole installation, and of metrics with thresholds. Pure."""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum
from typing import Final

from penstock.model.backpressure import Level

# With so many failed checks the status is unhealthy.
_UNHEALTHY_FROM: Final = 3
# A job that waits longer, although workers run, needs a look.
LONG_WAIT_MS: Final = 5 * 60_000


class HealthStatus(StrEnum):
    HEALTHY = "healthy"
    DEGRADED = "degraded"
    UNHEALTHY = "unhealthy"


@dataclass(frozen=True, slots=True)
class Check:
    """A metric and its threshold. An unknown metric passes, and so does one of few jobs only."""

    name: str
    value: float | None
    threshold: float
    # Whether values above the threshold fail, or values below.
    at_most: bool = True
    few: bool = False

    @property
    def ok(self) -> bool:
        if self.value is None or self.few:
            return True
        return self.value <= self.threshold if self.at_most else self.value >= self.threshold


def overall_health(checks: list[Check]) -> HealthStatus:
    return status_of(sum(not check.ok for check in checks))


def status_of(problems: int) -> HealthStatus:
    if problems >= _UNHEALTHY_FROM:
        return HealthStatus.UNHEALTHY
    return HealthStatus.DEGRADED if problems else HealthStatus.HEALTHY


class ReasonCode(StrEnum):
    NO_WORKERS = "NO_WORKERS"
    QUEUE_TOO_LONG = "QUEUE_TOO_LONG"
    LONG_WAIT = "LONG_WAIT"
    JOBS_FAILED = "JOBS_FAILED"


# With one of these the installation does not keep up with its work, or does none.
_NOT_READY = frozenset({ReasonCode.NO_WORKERS, ReasonCode.QUEUE_TOO_LONG})


@dataclass(frozen=True, slots=True)
class Reason:
    code: ReasonCode
    message: str


@dataclass(frozen=True, slots=True)
class Figures:
    """What the verdict depends on. ``success_rate`` and ``failed`` are of the jobs of the last
    hour; without them only the queue is judged."""

    level: Level
    depth: int
    waiting: int
    oldest_ms: int
    workers: int
    success_rate: float | None = None
    failed: int = 0


@dataclass(frozen=True, slots=True)
class Verdict:
    level: HealthStatus
    message: str
    reasons: tuple[Reason, ...]

    @property
    def ready(self) -> bool:
        return not any(reason.code in _NOT_READY for reason in self.reasons)


def judge(figures: Figures, min_success_rate: float) -> Verdict:
    """The only place that decides whether the installation is healthy."""
    reasons = []
    if figures.workers == 0:
        waiting = f": {_count(figures.depth, 'job waits', 'jobs wait')}" if figures.depth else ""
        reasons.append(Reason(ReasonCode.NO_WORKERS, f"No worker is running{waiting}."))
    if figures.level is not Level.HEALTHY:
        jobs = _count(figures.depth, "job", "jobs")
        message = f"The queue is {figures.level}: {jobs}."
        reasons.append(Reason(ReasonCode.QUEUE_TOO_LONG, message))
    if figures.workers > 0 and figures.waiting > 0 and figures.oldest_ms > LONG_WAIT_MS:
        minutes = _count(figures.oldest_ms // 60_000, "minute", "minutes")
        reasons.append(Reason(ReasonCode.LONG_WAIT, f"The oldest job has waited {minutes}."))
    if figures.success_rate is not None and figures.success_rate < min_success_rate:
        jobs = _count(figures.failed, "job", "jobs")
        reasons.append(Reason(ReasonCode.JOBS_FAILED, f"{jobs} failed in the last hour."))
    message = " ".join(reason.message for reason in reasons) or _all_is_well(figures)
    return Verdict(status_of(len(reasons)), message, tuple(reasons))


def _all_is_well(figures: Figures) -> str:
    workers = _count(figures.workers, "worker", "workers")
    if figures.depth == 0:
        return f"All is well: {workers}, nothing waits."
    return f"All is well: {workers} on {_count(figures.depth, 'job', 'jobs')}."


def _count(number: int, one: str, many: str) -> str:
    return f"{number:,} {one if number == 1 else many}"
