"""Rate limits of callers: token buckets in the memory of this process."""

from __future__ import annotations

import math
import time
from collections import OrderedDict
from collections.abc import Callable, Hashable
from dataclasses import dataclass

from penstock.model.errors import RateLimited

_MOST_CALLERS = 10_000


@dataclass(slots=True)
class _Bucket:
    tokens: float
    at: float


class Buckets:
    """One bucket per caller, filled at ``per_second`` up to ``burst``. The callers
    that were not seen for longest are forgotten first, which at worst gives back a full bucket."""

    def __init__(
        self, per_second: float, burst: float, clock: Callable[[], float] = time.monotonic
    ) -> None:
        self._per_second = per_second
        self._burst = burst
        self._clock = clock
        self._buckets: OrderedDict[Hashable, _Bucket] = OrderedDict()

    def wait_ms(self, caller: Hashable) -> int:
        """Take a token and return 0, or return the time until there is one."""
        if self._per_second <= 0:
            return 0
        now = self._clock()
        bucket = self._buckets.pop(caller, None) or _Bucket(self._burst, now)
        bucket.tokens = min(self._burst, bucket.tokens + (now - bucket.at) * self._per_second)
        bucket.at = now
        self._buckets[caller] = bucket
        if len(self._buckets) > _MOST_CALLERS:
            self._buckets.popitem(last=False)
        if bucket.tokens >= 1:
            bucket.tokens -= 1
            return 0
        return math.ceil((1 - bucket.tokens) / self._per_second * 1000)

    def take(self, caller: Hashable, message: str) -> None:
        wait_ms = self.wait_ms(caller)
        if wait_ms:
            raise RateLimited("RATE_LIMITED", message, retry_after_ms=wait_ms)
