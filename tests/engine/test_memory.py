"""What a worker leaves behind is given back."""

from __future__ import annotations

import asyncio
import weakref

import pytest
from tests.checker.polling import until
from tests.fixtures import Bench

from penstock.engine.worker import loop as module


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
        await until(gone, "it to be given back", timeout=20)
        worker.stop()
        await running
