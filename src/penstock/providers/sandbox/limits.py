"""Rate limits of the shops, as their own servers keep them."""

from __future__ import annotations

import time
from dataclasses import dataclass, field

# Requests that were sent in time may arrive closer together: so much of the rate is forgiven.
_JITTER_SECONDS = 1.0


@dataclass(frozen=True, slots=True)
class Rate:
    per_second: float
    burst: float


ROASTIFY = Rate(100 / 60, 20)
SHOPIFY_REST = Rate(2, 40)
WOOCOMMERCE = Rate(1, 60)
SHOPIFY_POINTS = Rate(100, 2000)


@dataclass(slots=True)
class Bucket:
    """A token bucket. It begins full."""

    rate: Rate
    jitter_seconds: float = _JITTER_SECONDS
    level: float = 0.0
    at: float = field(default_factory=time.monotonic)

    def __post_init__(self) -> None:
        self.level = self._most

    @property
    def _most(self) -> float:
        return self.rate.burst + self.rate.per_second * self.jitter_seconds

    def available(self) -> float:
        now = time.monotonic()
        self.level = min(self._most, self.level + (now - self.at) * self.rate.per_second)
        self.at = now
        return self.level

    def take(self, cost: float = 1.0) -> float:
        """0 if there was enough; else the seconds until there is, and nothing is taken."""
        available = self.available()
        if available >= cost:
            self.level -= cost
            return 0.0
        return (cost - available) / self.rate.per_second

    def fill(self) -> None:
        """As after a long rest."""
        self.level = self._most

    def refund(self, cost: float) -> None:
        self.level = min(self._most, self.available() + cost)
