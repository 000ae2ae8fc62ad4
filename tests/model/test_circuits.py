"""Circuits: open after failures in a row, one probe at a time, closed by its success alone."""

from __future__ import annotations

from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, invariant, precondition, rule

from penstock.model.network.circuits import Circuit, CircuitRules, CircuitState

RULES = CircuitRules()


def opened() -> Circuit:
    circuit = Circuit()
    for at in range(RULES.failures):
        circuit = circuit.failed(RULES, float(at))
    return circuit


def test_five_failures_in_a_row_open_it() -> None:
    circuit = Circuit()
    for _ in range(4):
        circuit = circuit.failed(RULES, 0.0)
    circuit = circuit.succeeded(1.0)
    for _ in range(4):
        circuit = circuit.failed(RULES, 2.0)
    assert circuit.state is CircuitState.CLOSED
    assert circuit.failed(RULES, 3.0).state is CircuitState.OPEN


def test_a_success_that_is_reported_late_forgives_no_later_failure() -> None:
    circuit = Circuit()
    for at in range(4):
        circuit = circuit.failed(RULES, 100.0 + at)
    circuit = circuit.succeeded(50.0)
    assert circuit.failures == 4
    assert circuit.failed(RULES, 104.0).state is CircuitState.OPEN


def test_one_probe_after_a_minute() -> None:
    circuit, admission = opened().admit(RULES, 30_000, "a")
    assert (admission.allowed, circuit.state) == (False, CircuitState.OPEN)
    assert admission.wait_ms == 30_004
    circuit, probe = circuit.admit(RULES, 60_004, "a")
    assert (probe.allowed, probe.is_probe) == (True, True)
    circuit, other = circuit.admit(RULES, 60_005, "b")
    assert (other.allowed, 0 < other.wait_ms <= 2000) == (False, True)
    # What others report, whose calls began before, changes nothing.
    assert circuit.succeeded(60_006).state is CircuitState.HALF_OPEN
    assert circuit.failed(RULES, 60_006, "b").state is CircuitState.HALF_OPEN
    assert circuit.succeeded(60_007, "a") == Circuit()
    again = circuit.failed(RULES, 60_007, "a")
    assert (again.state, again.next_probe_ms) == (CircuitState.OPEN, 120_007)
    assert again.opened_at_ms == 4


def test_a_probe_whose_worker_died_is_replaced() -> None:
    circuit, _ = opened().admit(RULES, 60_004, "a")
    circuit, admission = circuit.admit(RULES, 60_004 + RULES.probe_ms, "b")
    assert admission.is_probe
    assert circuit.succeeded(130_000, "a").state is CircuitState.HALF_OPEN
    assert circuit.succeeded(130_000, "b").state is CircuitState.CLOSED


def test_a_probe_that_was_not_sent_leaves_its_place() -> None:
    circuit, _ = opened().admit(RULES, 60_004, "a")
    circuit, admission = circuit.abandoned(60_010, "a").admit(RULES, 60_010, "b")
    assert admission.is_probe


class Callers(RuleBasedStateMachine):
    """Any order of calls, results, deaths and pauses."""

    def __init__(self) -> None:
        super().__init__()
        self.circuit = Circuit()
        self.now = 0.0
        self.number = 0
        # Probes that are on their way and not given up, by id: until when.
        self.probes: dict[str, float] = {}
        self.calls: list[str] = []
        self.failures = 0

    @rule(ms=st.floats(0, 90_000))
    def time_passes(self, ms: float) -> None:
        self.now += ms
        self.probes = {one: until for one, until in self.probes.items() if until > self.now}

    @rule()
    def somebody_asks(self) -> None:
        self.number += 1
        name = str(self.number)
        before = self.circuit.state
        self.circuit, admission = self.circuit.admit(RULES, self.now, name)
        if before is CircuitState.CLOSED:
            assert admission.allowed
            assert not admission.is_probe
        elif admission.allowed:
            assert admission.is_probe
            self.probes[name] = self.now + RULES.probe_ms
        else:
            assert admission.wait_ms > 0
        if admission.allowed:
            self.calls.append(name)

    @precondition(lambda self: bool(self.calls))
    @rule(place=st.integers(0, 99), works=st.booleans())
    def a_call_ends(self, place: int, works: bool) -> None:
        name = self.calls.pop(place % len(self.calls))
        was_closed = self.circuit.state is CircuitState.CLOSED
        probe = name if name in self.probes else None
        self.probes.pop(name, None)
        if works:
            self.circuit = self.circuit.succeeded(self.now, probe)
            self.failures = 0 if was_closed or self.is_closed else self.failures
        else:
            self.circuit = self.circuit.failed(RULES, self.now, probe)
            self.failures += was_closed
        if self.is_closed:
            assert self.failures < RULES.failures

    @property
    def is_closed(self) -> bool:
        return self.circuit.state is CircuitState.CLOSED

    @invariant()
    def one_probe_at_most(self) -> None:
        assert len(self.probes) <= 1
        if self.probes:
            assert self.circuit.state is CircuitState.HALF_OPEN


TestCallers = Callers.TestCase
