"""Research against a sandbox: sources of the org, requests, and what became of them."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import dataclass
from typing import Any
from uuid import UUID

from tests.fixtures import Bench
from tests.sources.support import configs_of

from penstock.model.ids import new_id
from penstock.model.sources.config import SourceConfig
from penstock.providers.sandbox.server import Sandbox
from penstock.store.database import from_json
from penstock.store.sources import sources

ENDED = ("done", "failed", "cancelled")


@asynccontextmanager
async def serving(
    products: int = 200, faults: float = 0.0, seed: int = 1
) -> AsyncIterator[Sandbox]:
    made = Sandbox(products, seed, faults)
    await made.start()
    try:
        yield made
    finally:
        await made.close()


@dataclass
class Researcher:
    bench: Bench
    sandbox: Sandbox

    async def add_sources(self, *formats: str, **changes: Any) -> dict[str, UUID]:
        """Store sources of the sandbox; answers their ids by format."""
        made = {}
        for name, given in configs_of(self.sandbox).items():
            if formats and name not in formats:
                continue
            config = {**given, **changes}
            credentials = config.pop("credentials")
            source_id = new_id()
            sealed = sources.credentials.seal(self.bench.runtime.sealer, source_id, credentials)
            who = self.bench.who
            async with self.bench.runtime.db.transaction() as conn:
                assert await sources.add_source(
                    conn, source_id, who.org_id, who.user_id, SourceConfig.model_validate(config),
                    sealed,
                )  # fmt: skip
            made[name] = source_id
        return made

    async def ask(self, query: str = "Mug", pipeline: str = "research", **config: Any) -> UUID:
        given = config if pipeline == "research-retry" else {"query": query, **config}
        return await self.bench.submit(pipeline, given)

    async def work(self, *jobs: UUID, seconds: float = 60) -> None:
        """Work until the jobs have ended; waits for due times."""
        async with asyncio.timeout(seconds), self.bench.worker() as worker:
            while True:
                if not await worker.run_once():
                    states = [(await self.bench.job(one))["state"] for one in jobs]
                    if all(one in ENDED for one in states):
                        return
                    await asyncio.sleep(0.05)

    async def run(self, query: str = "Mug", **config: Any) -> UUID:
        job = await self.ask(query, **config)
        await self.work(job)
        return job

    async def summary(self, job: UUID) -> dict[str, Any]:
        found: dict[str, Any] = from_json((await self.bench.job(job))["summary"])
        return found

    async def products(self, job: UUID) -> list[dict[str, Any]]:
        """Results of merged products, by rank."""
        async with self.bench.runtime.db.acquire() as conn:
            rows = await conn.fetch(
                "SELECT result FROM job_items WHERE job_id = $1 AND key LIKE 'product:%'"
                " ORDER BY row_no",
                job,
            )
        return [from_json(row["result"]) for row in rows]

    async def sources(self, job: UUID) -> set[str]:
        """The sources of all merged products."""
        return {one["source"] for found in await self.products(job) for one in found["sources"]}

    async def events(self, job: UUID, name: str) -> list[dict[str, Any]]:
        async with self.bench.runtime.db.acquire() as conn:
            rows = await conn.fetch(
                "SELECT data FROM events WHERE job_id = $1 AND event = $2 ORDER BY seq", job, name
            )
        return [from_json(row["data"]) for row in rows]
