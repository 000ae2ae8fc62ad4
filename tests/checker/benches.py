"""Fixtures: a runtime with scripted pipelines, and a bench that checks every run."""

from __future__ import annotations

from collections.abc import AsyncIterator, Mapping
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from typing import Any
from uuid import UUID

import pytest
from tests.checker.case import Submitted
from tests.checker.check import Violation, check
from tests.checker.polling import until
from tests.checker.scripted import QUICK, Scripted, scripted_pipelines
from tests.fixtures import Bench, MakePrincipal

from penstock.engine.claim import Claim
from penstock.engine.context import StopSign
from penstock.engine.run import run_items
from penstock.engine.runtime import Runtime
from penstock.engine.services.sweep import Sweeper
from penstock.engine.settle import SettleResult, settle
from penstock.engine.worker.loop import Worker
from penstock.model.pipeline import Pipeline
from penstock.pipelines.registry import known_pipelines
from penstock.settings import Settings
from penstock.store.database import Database
from penstock.wiring import open_runtime


@pytest.fixture
def scripted() -> dict[str, Scripted]:
    return scripted_pipelines()


@pytest.fixture
def has_history() -> bool:
    """Record every change of items, leases and jobs."""
    return True


@pytest.fixture
async def runtime(
    settings: Settings, owner_dsn: str, db: Database, scripted: dict[str, Scripted]
) -> AsyncIterator[Runtime]:
    known: dict[str, Pipeline] = known_pipelines(with_test_pipelines=True)
    async with open_runtime(
        settings, owner_dsn, name="test", pipelines={**known, **scripted}
    ) as made:
        yield made


@dataclass
class Tried(Bench):
    """A bench that records what was submitted, and checks the run."""

    sent: dict[UUID, Submitted] = field(default_factory=dict)
    limits: dict[str, Any] = field(default_factory=lambda: {"policy": QUICK})

    async def send(
        self, config: Mapping[str, Any], pipeline: str = "scripted", **order: Any
    ) -> UUID:
        """Submit a scripted job and record its rows."""
        job_id = await self.submit(pipeline, config, **order)
        pad = "x" * config.get("payload", 0)
        inputs = [{"row": n, "pad": pad} for n in range(config.get("rows", 1))]
        self.sent[job_id] = Submitted(len(inputs), inputs)
        return job_id

    async def violations(self, *, drained: bool = True) -> list[Violation]:
        async with self.runtime.db.acquire() as conn:
            return await check(
                conn, submitted=self.sent, drained=drained, blobs=self.runtime.blobs, **self.limits
            )

    async def is_clean(self, *, drained: bool = True) -> None:
        found = await self.violations(drained=drained)
        assert not found, "\n".join(map(str, found))

    @asynccontextmanager
    async def by_hand(self) -> AsyncIterator[Worker]:
        """A worker that does only what the test says, without sweeper and heartbeat."""
        yield Worker(self.runtime, sweeps=False, announces=False)

    async def run(self, worker: Worker, claimed: Claim) -> SettleResult:
        """Work and settle a claim."""
        worked = await run_items(self.runtime, claimed, StopSign(), 60)
        return await settle(self.runtime, claimed, worked, worker.id, 1)

    async def expire(self) -> int:
        """Expire all leases and run the sweeper; answers how many leases it took back."""
        async with self.runtime.db.acquire() as conn:
            await conn.execute("UPDATE slices SET expires_at = now() - interval '1 second'")
            held = int(await conn.fetchval("SELECT count(*) FROM slices"))
        sweeper = Sweeper(self.runtime)

        async def swept() -> bool:
            return held == 0 or (await sweeper.run_once()).slices > 0

        # Within one lease of the server's own start nothing expires.
        await until(swept, "leases to be swept")
        return held

    async def hurry(self) -> None:
        """Make all waiting items due now."""
        async with self.runtime.db.transaction() as conn:
            await conn.execute("UPDATE job_items SET due_at = now() WHERE due_at > now()")
            await conn.execute("""
                UPDATE job_stages SET ready_at = now()
                WHERE ready_at > now() AND ready_at < 'infinity'""")
            await conn.execute("""
                UPDATE jobs SET ready_at = now()
                WHERE ready_at > now() AND ready_at < 'infinity'""")

    async def finish(self, *job_ids: UUID, turns: int = 200) -> list[Any]:
        """Work, passing over every wait, until the jobs have ended; answers their rows."""
        async with self.by_hand() as worker:
            for _ in range(turns):
                if not await worker.run_once():
                    found = [await self.job(job_id) for job_id in job_ids]
                    if all(job["finished_at"] is not None for job in found):
                        return found
                    await self.hurry()
        raise AssertionError(f"{job_ids} did not end within {turns} turns")

    async def events(self, job_id: UUID) -> list[Any]:
        async with self.runtime.db.acquire() as conn:
            return await conn.fetch("SELECT * FROM events WHERE job_id = $1 ORDER BY seq", job_id)


@pytest.fixture
async def tried(runtime: Runtime, principal: MakePrincipal) -> Tried:
    return Tried(runtime, await principal())
