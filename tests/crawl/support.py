"""Crawl runs in the words of a test."""

from __future__ import annotations

import asyncio
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any
from uuid import UUID

from tests.fixtures import Bench

from penstock.app.crawl.runs import RunOrder, RunState, get_run, run_upload
from penstock.app.uploads import keep_upload
from penstock.engine.submit import submit
from penstock.model.crawl.plan import CrawlPlan
from penstock.model.text.json_text import from_json
from penstock.store.accounts.audit_log import Caller


@dataclass
class Crawler:
    """Starts runs, works on them, and looks at what became of their pages."""

    bench: Bench

    async def start(self, plan: Mapping[str, Any], **config: Any) -> UUID:
        """Fast enough for a test unless told otherwise."""
        checked = CrawlPlan.model_validate(plan)
        companies = [one.model_dump(by_alias=True, exclude_none=True) for one in checked.companies]
        order = RunOrder(companies, {"rate": 50, **config}, "", 5)
        runtime, who = self.bench.runtime, self.bench.who
        async with (
            run_upload(runtime, Caller(who, None), order, None) as (job, upload),
            runtime.db.transaction() as conn,
        ):
            await keep_upload(runtime, conn, who, upload)
            receipt = await submit(runtime, conn, who, job)
        return receipt.job_id

    async def work(self, *run_ids: UUID, seconds: float = 60) -> None:
        """Work until the runs have ended, waiting for paces and retries."""
        async with asyncio.timeout(seconds), self.bench.worker() as worker:
            while True:
                if not await worker.run_once():
                    states = [(await self.bench.job(one))["state"] for one in run_ids]
                    if all(one in ("done", "failed", "cancelled") for one in states):
                        return
                    await asyncio.sleep(0.01)

    async def run(self, plan: Mapping[str, Any], **config: Any) -> RunState:
        run_id = await self.start(plan, **config)
        await self.work(run_id)
        return await self.look(run_id)

    async def look(self, run_id: UUID) -> RunState:
        async with self.bench.runtime.db.acquire() as conn:
            return await get_run(conn, run_id)

    async def codes(self, run_id: UUID) -> dict[str, str | None]:
        """Error codes of the run's pages by path."""
        found = {}
        for item in await self.bench.items(run_id):
            path = "/" + from_json(item["input"])["url"].split("/", 3)[3]
            error = from_json(item["error"])
            found[path] = None if error is None else error["code"]
        return found

    async def rows(self, query: str, *args: Any) -> list[Any]:
        async with self.bench.runtime.db.acquire() as conn:
            return await conn.fetch(query, *args)
