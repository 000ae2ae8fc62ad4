"""How much memory processes hold at most while something runs; PostgreSQL's own are not counted."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass

import psutil

_LOOK_S = 0.05
MEGABYTE = 1024 * 1024


@dataclass(slots=True)
class Peak:
    """Megabytes: of the worst single process, children included, and of all of them at a time."""

    one: float = 0.0
    all: float = 0.0

    def look(self, roots: Sequence[psutil.Process]) -> None:
        found = [_resident(one) for root in roots for one in family(root)]
        self.one = max(self.one, *found, 0.0)
        self.all = max(self.all, sum(found))


def family(root: psutil.Process) -> list[psutil.Process]:
    try:
        return [root, *root.children(recursive=True)]
    except psutil.NoSuchProcess:
        return []


def _resident(process: psutil.Process) -> float:
    try:
        return 0.0 if process.name() == "postgres" else process.memory_info().rss / MEGABYTE
    except psutil.NoSuchProcess:
        return 0.0


@asynccontextmanager
async def watched(pids: Sequence[int]) -> AsyncIterator[Peak]:
    """The peak of these processes and their children while the block runs."""
    roots, peak = [psutil.Process(pid) for pid in pids], Peak()

    async def look() -> None:
        while True:
            peak.look(roots)
            await asyncio.sleep(_LOOK_S)

    looking = asyncio.create_task(look())
    try:
        yield peak
    finally:
        looking.cancel()
        await asyncio.gather(looking, return_exceptions=True)
