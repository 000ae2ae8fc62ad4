"""Whoever does the harm: kills, stops and cuts, as planned, and keeps count."""

from __future__ import annotations

import asyncio
import os
import random
import signal
import time
from collections import Counter
from collections.abc import Coroutine
from dataclasses import dataclass, field
from typing import Any

from tests.chaos.campaign.plan import PLACES, Fault, Plan
from tests.chaos.chaos_bench import ChaosBench
from tests.chaos.own_server import kill
from tests.chaos.worker_pool import WorkerPool, WorkerProcess
from tests.checker.polling import until

from penstock.store.database import CONNECTION_ERRORS
from penstock.supervisor.postgres import EmbeddedPostgres

# By then an armed worker has come by its failpoint, or never will.
_PLACE_SECONDS = 15.0
_CUT = """
    SELECT count(pg_terminate_backend(pid)) FROM (
        SELECT pid FROM pg_stat_activity
        WHERE application_name LIKE 'penstock ' || $1 AND application_name <> 'penstock test'
        ORDER BY md5(pid::text || $2) LIMIT $3) AS chosen
"""
_SOME_BACKEND = """
    SELECT pid FROM pg_stat_activity WHERE application_name LIKE 'penstock worker%'
    ORDER BY md5(pid::text || $1) LIMIT 1
"""


@dataclass
class Nemesis:
    plan: Plan
    worker_pool: WorkerPool
    chaos_bench: ChaosBench
    server: EmbeddedPostgres
    # Never killed nor stopped by us, and so the one to see leaks in.
    veteran: WorkerProcess
    injected: Counter[Fault] = field(default_factory=Counter)
    # Died without our doing: of a poison, or a bug.
    died: int = 0
    restarts: list[float] = field(default_factory=list)
    _busy: set[int] = field(default_factory=set)
    _mourned: set[int] = field(default_factory=set)
    _at_work: set[asyncio.Task[None]] = field(default_factory=set)

    def __post_init__(self) -> None:
        self._chance = random.Random(f"nemesis {self.plan.seed}")

    async def run(self) -> None:
        """Every planned fault, each when its time has come."""
        began = time.monotonic()
        try:
            for at, fault in self.plan.faults():
                await asyncio.sleep(max(0.0, began + at - time.monotonic()))
                await self._do(fault)
        finally:
            await asyncio.gather(*self._at_work)

    async def _do(self, fault: Fault) -> None:
        match fault:
            case Fault.KILL:
                await self._kill()
            case Fault.KILL_AT:
                self._meanwhile(self._kill_at())
            case Fault.ZOMBIE:
                await self._stop()
            case Fault.ZOMBIE_AT:
                self._meanwhile(self._stop_at())
            case Fault.SERVER:
                await self._kill_server()
            case Fault.BACKEND:
                await self._kill_backend()
            case Fault.CUT_WORKER:
                victim = await self._victim()
                await self._cut(fault, f"worker % {victim.process.pid}", 100)
            case Fault.CUT_ONE:
                await self._cut(fault, "%", 1)
            case Fault.CUT_ALL:
                await self._cut(fault, "%", 1000)

    def _meanwhile(self, work: Coroutine[Any, Any, None]) -> None:
        task = asyncio.create_task(work)
        self._at_work.add(task)
        task.add_done_callback(self._at_work.discard)

    # Workers

    def _start(self, failpoint: str = "") -> WorkerProcess:
        """On this machine or as if on another."""
        return self.worker_pool.start(failpoint, elsewhere=self._chance.random() < 0.5)

    async def keep(self) -> None:
        """For good: as many at work as the plan says, whatever they died of."""
        while True:
            for hand in self.worker_pool.processes:
                if hand.dead and id(hand) not in self._mourned:
                    self._mourned.add(id(hand))
                    self.died += 1
            for _ in range(self.plan.workers - len(self._free())):
                self._start()
            await asyncio.sleep(0.1)

    def _free(self) -> list[WorkerProcess]:
        return [
            hand for hand in self.worker_pool.living()
            if hand is not self.veteran and id(hand) not in self._busy
        ]  # fmt: skip

    async def _victim(self) -> WorkerProcess:
        """A running worker; the loss of a worker that never worked tests nothing."""

        async def ready() -> WorkerProcess | None:
            up = [hand for hand in self._free() if hand.said()]
            return self._chance.choice(up) if up else None

        found = await until(ready, "a worker to harm", timeout=60)
        assert found is not None
        return found

    def _take_out(self, hand: WorkerProcess, fault: Fault) -> None:
        self.injected[fault] += 1
        self._mourned.add(id(hand))
        hand.wake()
        hand.kill()

    async def _kill(self) -> None:
        self._take_out(await self._victim(), Fault.KILL)

    async def _kill_at(self) -> None:
        hand = self._start(f"{self._chance.choice(PLACES)}:kill:{self._chance.randint(1, 5)}")
        self._busy.add(id(hand))
        self._mourned.add(id(hand))
        deadline = time.monotonic() + _PLACE_SECONDS
        while not hand.dead and time.monotonic() < deadline:
            await asyncio.sleep(0.05)
        if hand.dead:
            self.injected[Fault.KILL_AT] += 1
        else:
            self._take_out(hand, Fault.KILL)

    async def _stop(self) -> None:
        hand = await self._victim()
        hand.stop()
        self._busy.add(id(hand))
        self._meanwhile(self._wake_later(hand, Fault.ZOMBIE))

    async def _stop_at(self) -> None:
        hand = self._start(f"{self._chance.choice(PLACES)}:stop:{self._chance.randint(1, 4)}")
        self._busy.add(id(hand))
        deadline = time.monotonic() + _PLACE_SECONDS
        while not hand.dead and not hand.stopped and time.monotonic() < deadline:
            await asyncio.sleep(0.05)
        if hand.dead or not hand.stopped:
            # The failpoint stays armed, and would freeze the process later without a wake-up.
            self._take_out(hand, Fault.KILL)
        else:
            await self._wake_later(hand, Fault.ZOMBIE_AT)

    async def _wake_later(self, hand: WorkerProcess, fault: Fault) -> None:
        """Beyond its lease, so that others have its work by then, or are at it."""
        lease = self.worker_pool.settings.lock_cap_ms / 1000
        await asyncio.sleep(lease * self._chance.uniform(1.1, 2.0))
        hand.wake()
        self.injected[fault] += 1
        self._busy.discard(id(hand))

    # The server

    async def _kill_server(self) -> None:
        began = time.monotonic()
        await kill(self.server)
        await self.server.start()
        self.restarts.append(time.monotonic() - began)
        self.injected[Fault.SERVER] += 1

    async def _kill_backend(self) -> None:
        pid = await self.chaos_bench.value_or_none(_SOME_BACKEND, str(self._chance.random()))
        if pid is not None:
            os.kill(pid, signal.SIGKILL)
            self.injected[Fault.BACKEND] += 1

    async def _cut(self, fault: Fault, name: str, most: int) -> None:
        try:
            await self.chaos_bench.value(_CUT, name, str(self._chance.random()), most)
        except CONNECTION_ERRORS:
            return
        self.injected[fault] += 1
