"""Adaptive limits of concurrency and rate per provider, from its answers. Pure.

The limit grows by one while calls succeed, and is halved when the provider refuses or fails. Times
are milliseconds of the caller's clock.
"""

from __future__ import annotations

from dataclasses import dataclass, field


@dataclass(frozen=True, slots=True)
class CallBounds:
    least: int = 1
    start: int = 4
    most: int = 32
    # Delay between the starts of two calls, added after refusals.
    first_delay_ms: float = 100.0
    most_delay_ms: float = 30_000.0


_DOWN = 0.5
# Of the added delay, what is left after a call that went well; below one millisecond none is. A
# success takes back what a refusal added, so that a provider which fails now and then is not paced
# as one that refuses most calls.
_CALMER = 0.5
# Callers that are sent away get staggered times to return, none later than this.
_MAX_WAIT_MS = 60_000.0


@dataclass(slots=True)
class CallLimit:
    """The limit of one provider and domain: additive increase, multiplicative decrease.

    Refusals of concurrent calls count as one, so only a call that started after the last decrease
    lowers the limit again.
    """

    bounds: CallBounds = field(default_factory=CallBounds)
    limit: float = 0.0
    delay_ms: float = 0.0
    # No call starts before this time.
    not_before: float = 0.0
    # The return time that the last refused caller got.
    _booked_until: float = 0.0
    _lowered_at: float = float("-inf")
    # Until the first refusal the limit doubles with each round of calls.
    _growing_fast: bool = True

    def __post_init__(self) -> None:
        self.limit = self.limit or float(self.bounds.start)

    @property
    def most_at_once(self) -> int:
        return int(self.limit)

    def started(self, now: float) -> None:
        self.not_before = max(self.not_before, now + self.delay_ms)

    def succeeded(self) -> None:
        if self.limit >= self.bounds.most and not self.delay_ms:
            return
        step = 1.0 if self._growing_fast else 1.0 / self.limit
        self.limit = min(float(self.bounds.most), self.limit + step)
        self.delay_ms *= _CALMER
        if self.delay_ms < 1.0:
            self.delay_ms = self._booked_until = 0.0

    def return_at(self, now: float) -> float:
        """When a caller that cannot start now should come back: one after the other, as the delay
        lets them start."""
        due = max(now, self.not_before, self._booked_until + self.delay_ms)
        self._booked_until = min(due, max(self.not_before, now + _MAX_WAIT_MS))
        return self._booked_until

    def circuit_opened(self) -> None:
        """A shared circuit decides when calls start again. Delays that were learned from failures
        before it opened would only be added to its time: calls start as to a new provider."""
        self.limit = min(self.limit, float(self.bounds.start))
        self.delay_ms = self.not_before = self._booked_until = 0.0
        self._growing_fast = True

    def refused(self, now: float, started_at: float, retry_after_ms: float = 0.0) -> None:
        """A 429, a 5xx or no answer; ``retry_after_ms`` is the provider's Retry-After."""
        self.not_before = max(self.not_before, now + retry_after_ms)
        if started_at < self._lowered_at:
            return
        self._growing_fast = False
        self._lowered_at = now
        self.limit = max(float(self.bounds.least), self.limit * _DOWN)
        grown = max(self.bounds.first_delay_ms, self.delay_ms * 2)
        self.delay_ms = min(self.bounds.most_delay_ms, grown)
        self.not_before = max(self.not_before, now + self.delay_ms)
