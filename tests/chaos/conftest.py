"""Real processes on the real database, with a history of all changes."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest
from tests.chaos.chaos_bench import ChaosBench
from tests.chaos.clocks import Clock
from tests.chaos.worker_pool import WorkerPool
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
def worker_pool(settings: Settings, owner_dsn: str, tmp_path: Path) -> Iterator[WorkerPool]:
    with WorkerPool(settings, owner_dsn, tmp_path / "crew") as made:
        yield made


@pytest.fixture
async def chaos_bench(
    runtime: Runtime,
    principal: MakePrincipal,
    worker_pool: WorkerPool,
    monkeypatch: pytest.MonkeyPatch,
) -> ChaosBench:
    monkeypatch.setenv(ALLOW_CRASH, "1")
    return ChaosBench(runtime, await principal())


@pytest.fixture
def clock(tmp_path: Path) -> Clock:
    made = Clock(tmp_path / "clock")
    made.jump(0)
    return made
