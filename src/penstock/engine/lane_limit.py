"""An optional limit on how many jobs of a lane begin, off unless it is set."""

from __future__ import annotations

from penstock.model.network.token_bucket import Rate


class LaneLimit:
    """Jobs beyond the rate begin later; none is refused. Kept per API process."""

    def __init__(self, rate: Rate | None = None) -> None:
        self._rate = rate
        # When the lane would have caught up with all jobs so far.
        self._caught_up_ms: dict[str, float] = {}

    def delay_ms(self, lane: str, now_ms: float) -> float:
        """How long the next job of the lane must wait."""
        if self._rate is None:
            return 0.0
        caught_up = max(self._caught_up_ms.get(lane, now_ms), now_ms) + self._rate.ms_for(1)
        self._caught_up_ms[lane] = caught_up
        return max(0.0, caught_up - now_ms - self._rate.ms_for(self._rate.burst))
