"""Checks of a moment fail only when they have failed for a time. Pure."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Final

from penstock.model.monitor.checks import HealthCheck

# Figures of one moment: workers start one after another, and a busy second is no problem.
MOMENTARY: Final = frozenset({"workers", "cpu", "memory"})
# After a pause of so many times the grace, what was seen before says nothing.
_FORGET_AFTER: Final = 5


class LastingFailures:
    """Remembers since when each momentary check fails, by a clock in seconds."""

    def __init__(self, grace_ms: float) -> None:
        self._grace = grace_ms / 1000
        self._since: dict[str, float] = {}
        self._judged_at: float | None = None

    def judge(self, checks: Sequence[HealthCheck], now: float) -> list[HealthCheck]:
        """The checks, where those that have not failed for long enough are brief failures."""
        if self._judged_at is None or now - self._judged_at > self._grace * _FORGET_AFTER:
            self._since.clear()
        self._judged_at = now
        failing = {one.key for one in checks if one.name in MOMENTARY and not one.ok}
        self._since = {key: self._since.get(key, now) for key in failing}
        return [
            replace(one, brief=True)
            if one.key in failing and now - self._since[one.key] < self._grace
            else one
            for one in checks
        ]
