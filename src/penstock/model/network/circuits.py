"""Circuit breakers: stop calling a provider that fails, and probe whether it is back. Pure.

closed ──5 failures in a row──▶ open ──60 s──▶ half-open (one probe) ──success──▶ closed
                                 ▲───────────────failure──────────┘

Times are milliseconds of one clock. The state is kept in PostgreSQL and shared by all workers.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from enum import StrEnum

# How long callers wait while another one's probe is running.
_PROBE_WAIT_MS = 2000.0


class CircuitState(StrEnum):
    CLOSED = "closed"
    OPEN = "open"
    HALF_OPEN = "half_open"


@dataclass(frozen=True, slots=True)
class CircuitRules:
    """``probe_ms``: after this time without a result a probe counts as lost, since its worker may
    have died, and another caller may probe."""

    failures: int = 5
    open_ms: float = 60_000.0
    probe_ms: float = 60_000.0


@dataclass(frozen=True, slots=True)
class Admission:
    """Whether a call may start, as the probe or not; if not, when to ask again."""

    allowed: bool
    is_probe: bool = False
    wait_ms: float = 0.0


@dataclass(frozen=True, slots=True)
class Circuit:
    state: CircuitState = CircuitState.CLOSED
    # Failures since the last success.
    failures: int = 0
    last_failure_ms: float = 0.0
    opened_at_ms: float | None = None
    next_probe_ms: float = 0.0
    # The running probe.
    probe_id: str | None = None
    probe_until_ms: float = 0.0

    def admit(self, rules: CircuitRules, now_ms: float, probe_id: str) -> tuple[Circuit, Admission]:
        """May a call start now? ``probe_id`` names the caller, should it become the probe."""
        if self.state is CircuitState.CLOSED:
            return self, Admission(True)
        if self.state is CircuitState.OPEN and now_ms < self.next_probe_ms:
            return self, Admission(False, wait_ms=self.next_probe_ms - now_ms)
        if self.state is CircuitState.HALF_OPEN and now_ms < self.probe_until_ms:
            wait = min(_PROBE_WAIT_MS, self.probe_until_ms - now_ms)
            return self, Admission(False, wait_ms=wait)
        probing = replace(
            self, state=CircuitState.HALF_OPEN, probe_id=probe_id,
            probe_until_ms=now_ms + rules.probe_ms,
        )  # fmt: skip
        return probing, Admission(True, is_probe=True)

    def abandoned(self, now_ms: float, probe_id: str) -> Circuit:
        """The probe was not sent after all: the next caller probes."""
        if self.state is not CircuitState.HALF_OPEN or self.probe_id != probe_id:
            return self
        return replace(self, state=CircuitState.OPEN, next_probe_ms=now_ms, probe_id=None)

    def succeeded(self, at_ms: float, probe_id: str | None = None) -> Circuit:
        """The provider answered. Only the probe closes an open circuit: other answers belong to
        calls from before."""
        if self.state is CircuitState.CLOSED:
            # Reports arrive in batches: failures since this success still count.
            is_newer = at_ms >= self.last_failure_ms
            return replace(self, failures=0) if is_newer and self.failures else self
        if probe_id is not None and probe_id == self.probe_id:
            return Circuit()
        return self

    def failed(self, rules: CircuitRules, at_ms: float, probe_id: str | None = None) -> Circuit:
        """The provider answered 5xx or not at all."""
        if self.state is CircuitState.CLOSED:
            circuit = replace(
                self, failures=self.failures + 1, last_failure_ms=max(at_ms, self.last_failure_ms)
            )
            return circuit._opened(rules, at_ms) if circuit.failures >= rules.failures else circuit
        if probe_id is not None and probe_id == self.probe_id:
            return replace(self, failures=self.failures + 1)._opened(rules, at_ms)
        return self

    def _opened(self, rules: CircuitRules, at_ms: float) -> Circuit:
        opened = at_ms if self.opened_at_ms is None else self.opened_at_ms
        return replace(
            self, state=CircuitState.OPEN, opened_at_ms=opened, last_failure_ms=at_ms,
            next_probe_ms=at_ms + rules.open_ms, probe_id=None, probe_until_ms=0.0,
        )  # fmt: skip
