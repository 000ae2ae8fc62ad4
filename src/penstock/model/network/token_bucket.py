"""Token buckets: how many calls a provider may get. Pure; times are milliseconds of one clock.

A bucket holds tokens, up to its burst, and is refilled at a constant rate. A call takes tokens when
it starts. The state is kept in PostgreSQL and shared by all workers.
"""

from __future__ import annotations

import math
import re
from dataclasses import dataclass, replace

from penstock.model.adaptive import ewma

# How long a worker may keep tokens that it took in advance.
HOLD_MS = 250.0
# The burst is lowered by the tokens of this time, for clocks that differ and for requests that
# arrive after their call has ended. Calls under way are accounted for one by one.
_MARGIN_MS = 500.0
# Calls that were not reported for so long have ended with their worker.
_IN_FLIGHT_MS = 30_000.0
# Waiting callers get staggered times to return, none later than this.
_MAX_WAIT_MS = 60_000.0
# Those that wait for longer than this return at full seconds: a claim of several items, of all
# shops of an org, costs hardly more than that of one.
_TOGETHER_MS = 1000.0
# The least share of its tokens that a call is expected to cost: it bounds how often a caller
# returns too early.
_MIN_COST_SHARE = 0.05
# Below this a level counts as reached: floating point must not cost a caller another turn.
_EPSILON = 1e-6

_UNITS = {"s": 1.0, "sec": 1.0, "second": 1.0, "m": 60.0, "min": 60.0, "minute": 60.0, "h": 3600.0}
_RATE = re.compile(r"\s*(\d+(?:\.\d+)?)\s*/\s*([a-z]+)(?:\s+burst\s+(\d+(?:\.\d+)?))?\s*")


@dataclass(frozen=True, slots=True)
class Rate:
    """Tokens per second, and how many can be taken at once after a pause."""

    per_second: float
    burst: float

    def __post_init__(self) -> None:
        if self.per_second <= 0 or self.burst < 1:
            raise ValueError("a rate is above 0, with a burst of at least 1")

    @property
    def capacity(self) -> float:
        """The most tokens that the bucket holds."""
        return max(1.0, self.burst - self.per_second * _MARGIN_MS / 1000)

    def ms_for(self, tokens: float) -> float:
        return tokens / self.per_second * 1000

    @staticmethod
    def parse(text: str) -> Rate:
        """Parse `100/min burst 20` or `2/s`; without a burst, a tenth of a minute's tokens."""
        found = _RATE.fullmatch(text.lower())
        if found is None or found[2] not in _UNITS:
            raise ValueError(f"{text!r} is not a rate: write `100/min burst 20` or `2/s burst 40`")
        per_second = float(found[1]) / _UNITS[found[2]]
        burst = float(found[3]) if found[3] else max(1.0, per_second * 6)
        return Rate(per_second, burst)


@dataclass(frozen=True, slots=True)
class Grant:
    """Tokens for calls; with none, the time after which each caller should ask again."""

    tokens: float
    waits_ms: tuple[float, ...] = ()

    @property
    def wait_ms(self) -> float:
        """How long the first caller waits."""
        return self.waits_ms[0] if self.waits_ms else 0.0


@dataclass(frozen=True, slots=True)
class ThrottleStatus:
    """What a provider says about its own bucket, as Shopify does in every answer."""

    available: float
    maximum: float
    per_second: float


@dataclass(frozen=True, slots=True)
class TokenBucket:
    """The tokens of one provider, company and domain at one moment."""

    tokens: float
    at_ms: float
    # The rate that the provider itself reported; None until then.
    reported: Rate | None = None
    # The provider asked for a pause until then.
    paused_until_ms: float = 0.0
    # The return time that the last waiting caller got.
    booked_until_ms: float = 0.0
    # What calls cost in the end, as a share of the tokens they take: an average, None until one is
    # known. Shopify asks for the cost of the largest possible answer and gives back the rest.
    cost_share: float | None = None
    # Tokens of calls that have not ended, and until when they count as under way.
    in_flight: float = 0.0
    in_flight_until_ms: float = 0.0
    # When calls were last told to have ended.
    landed_at_ms: float = 0.0

    @staticmethod
    def full(rate: Rate, now_ms: float) -> TokenBucket:
        return TokenBucket(rate.capacity, now_ms)

    def rate(self, configured: Rate) -> Rate:
        return self.reported or configured

    def refilled(self, configured: Rate, now_ms: float) -> TokenBucket:
        """The bucket at ``now_ms``. A clock that went backwards adds no tokens.

        It is not filled beyond what calls under way leave of it: the provider's bucket may be full
        until they arrive, however late that is, and gains nothing meanwhile."""
        rate = self.rate(configured)
        in_flight = self.in_flight if now_ms < self.in_flight_until_ms else 0.0
        added = max(0.0, now_ms - self.at_ms) / 1000 * rate.per_second
        # A bucket of one token would wait for each answer.
        room = rate.capacity if rate.capacity < 2 else rate.capacity - in_flight
        tokens = max(self.tokens, min(room, self.tokens + added))
        return replace(self, tokens=tokens, at_ms=max(self.at_ms, now_ms), in_flight=in_flight)

    def take(
        self, configured: Rate, now_ms: float, cost: float, wanted: float, callers: int = 1
    ) -> tuple[TokenBucket, Grant]:
        """Take tokens for at least one call of this cost and up to ``wanted``, or say when each of
        the callers should ask again. They get different times, in the order in which they asked,
        as far apart as their calls cost in the end: most of what running calls took comes back."""
        rate = self.rate(configured)
        bucket = self.refilled(configured, now_ms)
        cost = min(cost, rate.capacity)
        if now_ms < bucket.paused_until_ms:
            return bucket._booked(rate, now_ms, cost, bucket.paused_until_ms, callers)
        if bucket.tokens + _EPSILON < cost:
            lacking = min(cost - bucket.tokens, bucket._usual(cost))
            return bucket._booked(rate, now_ms, cost, now_ms + rate.ms_for(lacking), callers)
        calls = max(1, int((min(wanted, bucket.tokens) + _EPSILON) / cost))
        granted = calls * cost
        taken = replace(
            bucket, tokens=max(0.0, bucket.tokens - granted),
            in_flight=bucket.in_flight + granted, in_flight_until_ms=now_ms + _IN_FLIGHT_MS,
        )  # fmt: skip
        return taken, Grant(granted)

    def _booked(
        self, rate: Rate, now_ms: float, cost: float, free_at: float, callers: int
    ) -> tuple[TokenBucket, Grant]:
        due, waits = self.booked_until_ms, []
        for _ in range(callers):
            due = max(free_at, due + rate.ms_for(self._usual(cost)))
            # Beyond the longest wait nothing is booked: those callers ask again.
            due = max(free_at, min(due, now_ms + _MAX_WAIT_MS))
            waits.append(_together(rate, due, now_ms) - now_ms)
        return replace(self, booked_until_ms=due), Grant(0.0, tuple(waits))

    def _usual(self, cost: float) -> float:
        """What a call that takes so many tokens is expected to cost in the end."""
        return cost if self.cost_share is None else cost * self.cost_share

    def full_in_ms(self, configured: Rate) -> float:
        """The least time until the bucket is full, if all calls under way have ended by then."""
        rate = self.rate(configured)
        return max(0.0, rate.ms_for(rate.capacity - self.tokens - self.in_flight))

    def returned(self, configured: Rate, tokens: float) -> TokenBucket:
        """Put back tokens that were taken and not used."""
        rate = self.rate(configured)
        return replace(self, tokens=min(rate.capacity, self.tokens + max(0.0, tokens)))

    def landed(self, tokens: float, now_ms: float = 0.0) -> TokenBucket:
        """Calls that took so many tokens have ended, or were not made."""
        return replace(
            self, in_flight=max(0.0, self.in_flight - tokens),
            landed_at_ms=max(self.landed_at_ms, now_ms),
        )  # fmt: skip

    def without_bookings(self) -> TokenBucket:
        """The callers that were told to return have been told something else meanwhile."""
        return replace(self, booked_until_ms=0.0)

    def throttled(self, now_ms: float, retry_after_ms: float) -> TokenBucket:
        """The provider refused a call: no call starts before its Retry-After, and then half as
        many at once. If it goes on refusing, soon none is left."""
        return replace(
            self, paused_until_ms=max(self.paused_until_ms, now_ms + retry_after_ms),
            tokens=self.tokens / 2,
        )  # fmt: skip

    def corrected(
        self, configured: Rate, now_ms: float, status: ThrottleStatus, refund: float = 0.0,
        cost_share: float | None = None, *, told_at_ms: float | None = None,
    ) -> TokenBucket:  # fmt: skip
        """Adopt what the provider says about its bucket. ``refund`` is what a call cost less than
        it had taken, ``cost_share`` what it cost of the points it asked for.

        ``told_at_ms`` is when the call that was told this began, if none of its process has ended
        since. If none of the others has, only those under way can have taken points: what they
        leave is there, also what failed calls had taken from here and not from the provider. Else
        the lower level is believed."""
        told = Rate(max(status.per_second, 1e-3), max(status.maximum, 1.0))
        bucket = replace(self.refilled(configured, now_ms), reported=told)
        if cost_share is not None:
            share = min(1.0, max(_MIN_COST_SHARE, cost_share))
            bucket = replace(bucket, cost_share=ewma(self.cost_share, share))
        if self.reported is None:
            # Until now tokens had another unit, and bookings were made in it.
            level = max(0.0, min(told.capacity, status.available))
            return replace(bucket, tokens=level, in_flight=0.0).without_bookings()
        level = min(bucket.tokens + refund, status.available)
        if told_at_ms is not None and self.landed_at_ms < told_at_ms:
            level = max(level, status.available - bucket.in_flight)
        return replace(bucket, tokens=max(0.0, min(level, told.capacity)))


def _together(rate: Rate, due_ms: float, now_ms: float) -> float:
    """The time at which callers with nearly this due time return. The bucket must not be full
    before that: tokens would be lost."""
    if due_ms - now_ms <= _TOGETHER_MS or rate.ms_for(rate.capacity) < 2 * _TOGETHER_MS:
        return due_ms
    return math.ceil(due_ms / _TOGETHER_MS) * _TOGETHER_MS
