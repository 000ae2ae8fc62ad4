"""What a worker leaves behind is given back."""

from __future__ import annotations

import asyncio
import weakref
from pathlib import Path

import pytest
from tests.checker.polling import until
from tests.fixtures import Bench

from penstock.engine.worker import loop as module
from penstock.engine.worker.memory import _trim, give_memory_back


class Circle:
    """Held by nobody but itself, as a broken connection is."""

    def __init__(self) -> None:
        self.me = self


async def test_circles_are_looked_for(bench: Bench, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(module, "_TIDY_SECONDS", 0.1)
    left = weakref.ref(Circle())

    async def gone() -> bool:
        return left() is None

    async with bench.worker() as worker:
        running = asyncio.create_task(worker.run())
        await until(gone, "it to be given back", timeout=60)
        worker.stop()
        await running


def _held_mb() -> float:
    status = Path("/proc/self/status").read_text()
    return int(status.partition("RssAnon:")[2].split()[0]) / 1000


@pytest.mark.skipif(_trim() is None, reason="the C library cannot")
def test_freed_memory_goes_back_to_the_system() -> None:
    large = [bytes(100_000) for _ in range(1000)]
    small = [bytes(2000) for _ in range(50_000)]
    # What is left between them keeps the rest from being returned.
    left = small[::1000]
    held = _held_mb()
    del large, small
    give_memory_back()
    assert _held_mb() < held - 150
    assert len(left) == 50
