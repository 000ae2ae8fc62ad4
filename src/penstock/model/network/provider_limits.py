"""Limits of calls to providers: which bucket and circuit a call belongs to, and what it reports."""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import NamedTuple

from penstock.model.network.circuits import CircuitRules
from penstock.model.network.token_bucket import Rate, ThrottleStatus

# Upper bounds of the classes in which durations of calls are counted; the last class has none.
MS_CLASSES = (25, 50, 100, 200, 500, 1000, 2000, 5000, 10_000, 30_000, 60_000)


class LimitKey(NamedTuple):
    """Whose calls share a bucket and a circuit."""

    org_id: int
    provider: str
    company: str = ""
    domain: str = ""
    # The rate of providers that bring their own, such as sources; None: as it is configured.
    rate: Rate | None = None

    @property
    def columns(self) -> tuple[int, str, str, str]:
        """The key of the stored state."""
        return self[:4]


@dataclass(frozen=True, slots=True)
class ProviderLimits:
    """The configured rates by provider, the rate of all others, and the rules of circuits."""

    rates: Mapping[str, Rate] = field(default_factory=dict)
    default: Rate = field(default_factory=lambda: Rate(1.0, 10))
    circuit: CircuitRules = field(default_factory=CircuitRules)

    def rate(self, provider: str) -> Rate:
        return self.rates.get(provider, self.default)

    def rate_of(self, key: LimitKey) -> Rate:
        return key.rate or self.rate(key.provider)


@dataclass(slots=True)
class CallReport:
    """What became of some calls of one key. ``ages`` are relative to the time of the report, since
    workers and database have different clocks."""

    succeeded: int = 0
    failed: int = 0
    throttled: int = 0
    # Failures before the last success of this report.
    failed_before: int = 0
    # How long ago the last success was.
    success_age_ms: float = 0.0
    retry_after_ms: float = 0.0
    # Tokens that were taken and not used, and what calls cost less than they took.
    returned: float = 0.0
    refund: float = 0.0
    # What calls took that have ended, whatever became of them.
    landed: float = 0.0
    # What a call cost, as a share of the points that it asked for.
    cost_share: float | None = None
    status: ThrottleStatus | None = None
    # No other call of the process has ended since the one with this status began, so long ago.
    status_is_last: bool = False
    status_age_ms: float = 0.0
    probe_id: str | None = None
    # The probe of this id was not sent.
    abandoned: str | None = None
    durations: list[int] = field(default_factory=lambda: [0] * (len(MS_CLASSES) + 1))

    def add_duration(self, ms: float) -> None:
        self.durations[bisect_left(MS_CLASSES, ms)] += 1

    def add(self, later: CallReport) -> None:
        """Add what became of later calls, none of which was a probe."""
        if later.succeeded:
            self.failed_before = self.failed + later.failed_before
        self.succeeded += later.succeeded
        self.failed += later.failed
        self.throttled += later.throttled
        self.retry_after_ms = max(self.retry_after_ms, later.retry_after_ms)
        self.returned += later.returned
        self.refund += later.refund
        self.landed += later.landed
        self.cost_share = self.cost_share if later.cost_share is None else later.cost_share
        if later.status is not None or later.landed:
            self.status_is_last = later.status_is_last
        self.status = later.status or self.status
        self.abandoned = later.abandoned or self.abandoned
        self.durations = [a + b for a, b in zip(self.durations, later.durations, strict=True)]

    @property
    def calls(self) -> int:
        return self.succeeded + self.failed + self.throttled

    @property
    def is_empty(self) -> bool:
        return not (
            self.calls or self.returned or self.refund or self.landed or self.status
            or self.abandoned
        )  # fmt: skip


@dataclass(frozen=True, slots=True)
class Permit:
    """The answer of the shared limits: tokens to use soon, or how long to wait and why.
    ``others_wait_ms`` is how long the other callers wait, where they were told. The bucket is full
    in ``full_in_ms`` at the earliest."""

    tokens: float = 0.0
    wait_ms: float = 0.0
    code: str = "API_RATE_LIMIT"
    probe_id: str | None = None
    # What one call takes: never more than the bucket holds.
    cost: float = 1.0
    others_wait_ms: tuple[float, ...] = ()
    full_in_ms: float = 0.0


def p95_of(counts: Sequence[int]) -> float | None:
    """The 95th percentile of durations from their counts by class, interpolated; None: no calls."""
    return percentile(counts, 0.95)


def percentile(counts: Sequence[int], share: float) -> float | None:
    total = sum(counts)
    if not total:
        return None
    below, rank = 0.0, share * total
    for place, count in enumerate(counts):
        if count and below + count >= rank:
            low = MS_CLASSES[place - 1] if place else 0
            high = MS_CLASSES[place] if place < len(MS_CLASSES) else MS_CLASSES[-1] * 2
            return low + (high - low) * (rank - below) / count
        below += count
    return float(MS_CLASSES[-1])
