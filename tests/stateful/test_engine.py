"""The engine against its model, in any order of events that Hypothesis can think of."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest
from hypothesis import HealthCheck, Phase, settings
from hypothesis.errors import Flaky
from hypothesis.stateful import run_state_machine_as_test
from tests.checker import mutants
from tests.checker.mutants import Break
from tests.stateful.driver import Driver
from tests.stateful.machine import Machine

_SHORT = settings(
    max_examples=12, stateful_step_count=25, deadline=None, derandomize=True, database=None,
    suppress_health_check=list(HealthCheck), phases=[Phase.generate],
)  # fmt: skip
_LONG = settings(
    _SHORT, max_examples=400, stateful_step_count=60, derandomize=False,
    phases=[Phase.generate, Phase.shrink],
)  # fmt: skip


@pytest.fixture
def driver(owner_dsn: str, tmp_path: Path) -> Iterator[Driver]:
    made = Driver(owner_dsn, tmp_path)
    made.run(made.open())
    yield made
    made.end()


@pytest.mark.parametrize(
    "profile",
    [
        pytest.param(_SHORT, id="short"),
        pytest.param(_LONG, id="long", marks=[pytest.mark.long, pytest.mark.timeout(3600)]),
    ],
)
def test_any_order_of_events_keeps_to_the_model(driver: Driver, profile: settings) -> None:
    run_state_machine_as_test(_machine(driver), settings=profile)


@pytest.mark.parametrize(
    "broken", [mutants.sweeper_forgets_to_count, mutants.cancel_invents_a_state]
)
def test_the_model_notices_a_broken_engine(
    driver: Driver, monkeypatch: pytest.MonkeyPatch, broken: Break
) -> None:
    broken(monkeypatch, driver.runtime.db)
    profile = settings(_SHORT, max_examples=50)
    # A broken engine may behave differently when the same events are played again.
    with pytest.raises((AssertionError, ExceptionGroup, Flaky)):
        run_state_machine_as_test(_machine(driver), settings=profile)


def _machine(driver: Driver) -> type[Machine]:
    return type("Machine", (Machine,), {"driver": driver})
