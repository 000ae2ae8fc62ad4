"""Real processes over the real database, and the history of all they do."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest
from tests.chaos.clocks import Clock
from tests.chaos.crew import Crew
from tests.chaos.ordeal import Ordeal
from tests.checker.benches import has_history, runtime, scripted
from tests.fixtures import MakePrincipal

from penstock.engine.runtime import Runtime
from penstock.pipelines.noop import ALLOW_CRASH
from penstock.settings import Settings

__all__ = ["has_history", "runtime", "scripted"]


@pytest.fixture
def settings(settings: Settings) -> Settings:
    """Short leases and slices: a fault is over within seconds."""
    return settings.model_copy(update={"worker_target_slice_ms": 1000, "claim_max": 500})


@pytest.fixture
def crew(settings: Settings, owner_dsn: str, tmp_path: Path) -> Iterator[Crew]:
    with Crew(settings, owner_dsn, tmp_path / "crew") as made:
        yield made


@pytest.fixture
async def ordeal(
    runtime: Runtime, principal: MakePrincipal, crew: Crew, monkeypatch: pytest.MonkeyPatch
) -> Ordeal:
    monkeypatch.setenv(ALLOW_CRASH, "1")
    return Ordeal(runtime, await principal())


@pytest.fixture
def clock(tmp_path: Path) -> Clock:
    made = Clock(tmp_path / "clock")
    made.jump(0)
    return made
