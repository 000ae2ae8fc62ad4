"""Logs slow statements by name, never with their values."""

from __future__ import annotations

from typing import Any

from penstock.model.cpu.meter import charge_outside
from penstock.model.ports import Log
from penstock.store.queries import name_of

# Shorter statements are mostly network round trip.
_ROUND_TRIP_S = 0.003


class SlowLog:
    """Called by the driver after each statement, in the caller's context, so that the log line has
    the request's fields."""

    def __init__(self, log: Log, most_ms: float) -> None:
        self._log = log
        self._most_s = most_ms / 1000

    def __call__(self, done: Any) -> None:
        charge_outside(max(0.0, done.elapsed - _ROUND_TRIP_S))
        if done.elapsed > self._most_s:
            self._log.warning(
                "slow statement",
                statement=name_of(done.query),
                ms=round(done.elapsed * 1000),
                failed=None if done.exception is None else type(done.exception).__name__,
            )
