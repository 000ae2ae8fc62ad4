"""Which processes used the processor while a test ran, in seconds per second."""

from __future__ import annotations

import asyncio
import os
import time
from collections.abc import AsyncIterator, Mapping
from contextlib import asynccontextmanager

import psutil

from penstock.store.database import Connection

_EVERY_S = 0.5


class ProcessorTime:
    """Adds up the processor time of process trees, and of PostgreSQL by application name."""

    def __init__(self, roots: Mapping[str, int], conn: Connection) -> None:
        self._roots = dict(roots) | {"this test": os.getpid()}
        self._conn = conn
        self._seen: dict[int, tuple[str, float, float]] = {}
        self.seconds = 0.0

    def used(self) -> dict[str, float]:
        """Processor seconds per second of the measurement, by group."""
        sums: dict[str, float] = {}
        for group, first, last in self._seen.values():
            sums[group] = sums.get(group, 0.0) + last - first
        return {group: used / self.seconds for group, used in sorted(sums.items())}

    @asynccontextmanager
    async def measured(self) -> AsyncIterator[None]:
        await self._sample(first=True)
        began = time.monotonic()
        sampling = asyncio.create_task(self._sample_often())
        try:
            yield
        finally:
            sampling.cancel()
            await asyncio.gather(sampling, return_exceptions=True)
            await self._sample()
            self.seconds = time.monotonic() - began

    async def _sample_often(self) -> None:
        while True:
            await asyncio.sleep(_EVERY_S)
            await self._sample()

    async def _sample(self, *, first: bool = False) -> None:
        for pid, group in (await self._groups()).items():
            try:
                times = psutil.Process(pid).cpu_times()
            except psutil.NoSuchProcess:
                continue
            used = times.user + times.system
            # A process that began during the measurement counts from its beginning.
            _, began, _ = self._seen.get(pid, (group, used if first else 0.0, used))
            self._seen[pid] = group, began, used

    async def _groups(self) -> dict[int, str]:
        groups: dict[int, str] = {}
        for name, pid in self._roots.items():
            groups[pid] = name
            if pid == os.getpid():
                continue
            try:
                for child in psutil.Process(pid).children(recursive=True):
                    groups[child.pid] = f"{name}: children"
            except psutil.NoSuchProcess:
                continue
        sessions = await self._conn.fetch(
            "SELECT pid, coalesce(nullif(application_name, ''), backend_type) AS name"
            " FROM pg_stat_activity"
        )
        return groups | {row["pid"]: f"PostgreSQL: {row['name']}" for row in sessions}
