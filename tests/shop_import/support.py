"""An import from the sandbox: a connection of the org, and the job."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import dataclass
from typing import Any
from uuid import UUID

from tests.fixtures import Bench

from penstock.model.ids import new_id
from penstock.providers.registry import PROVIDERS
from penstock.providers.sandbox.server import CREDENTIALS, Sandbox
from penstock.store.accounts.accounts import Principal
from penstock.store.shops import connections


@asynccontextmanager
async def sandbox(products: int = 5, faults: float = 0.0) -> AsyncIterator[Sandbox]:
    made = Sandbox(products, fault_share=faults)
    await made.start()
    try:
        yield made
    finally:
        await made.close()


@dataclass
class Shopper:
    """Connects shops of the sandbox and imports them."""

    bench: Bench
    shops: Sandbox

    async def connect(
        self, provider: str, name: str = "demo", who: Principal | None = None
    ) -> UUID:
        shop, bench = self.shops.shop(provider, name), self.bench
        who = who or bench.who
        known = next(one for one in PROVIDERS if one.key == provider)
        connection_id = new_id()
        sealed = connections.credentials.seal(
            bench.runtime.sealer, connection_id, CREDENTIALS[provider](shop)
        )
        async with bench.runtime.db.transaction() as conn:
            await connections.add_connection(
                conn,
                connections.NewConnection(
                    connection_id, who.org_id, who.user_id, provider, name,
                    known.normalize_address(shop.base), sealed,
                ),
            )  # fmt: skip
        return connection_id

    async def submit(
        self, connection_id: UUID, provider: str = "", who: Principal | None = None, **config: Any
    ) -> UUID:
        asked = {"connectionId": str(connection_id), "provider": provider, **config}
        if not {"all", "productIds", "since"} & set(asked):
            asked["all"] = True
        return await self.bench.submit("shop_import", asked, who=who or self.bench.who)

    async def work(self, *job_ids: UUID, seconds: float = 60) -> None:
        """Work until the jobs have ended. Waits for due times, such as those of a limit."""
        async with asyncio.timeout(seconds), self.bench.worker() as worker:
            while True:
                if not await worker.run_once():
                    states = [(await self.bench.job(one))["state"] for one in job_ids]
                    if all(one in ("done", "failed", "cancelled") for one in states):
                        return
                    await asyncio.sleep(0.05)

    async def run(self, connection_id: UUID, provider: str = "", **config: Any) -> UUID:
        job_id = await self.submit(connection_id, provider, **config)
        await self.work(job_id)
        return job_id

    async def products(self) -> list[Any]:
        async with self.bench.runtime.db.acquire() as conn:
            return await conn.fetch("SELECT * FROM products ORDER BY source, source_id")

    async def pictures(self) -> list[Any]:
        async with self.bench.runtime.db.acquire() as conn:
            return await conn.fetch("SELECT * FROM pictures ORDER BY url")

    async def work_without_waiting(self, job_id: UUID) -> None:
        """Work until the job has ended, with all due times moved to now."""
        while (await self.bench.job(job_id))["state"] not in ("done", "failed", "cancelled"):
            await self.bench.work()
            async with self.bench.runtime.db.transaction() as conn:
                await conn.execute("UPDATE job_items SET due_at = now() WHERE due_at IS NOT NULL")
                await conn.execute("UPDATE job_stages SET ready_at = now() WHERE pending > 0")
                await conn.execute("UPDATE jobs SET ready_at = now() WHERE state = 'running'")

    async def add_product(self, source_id: str) -> None:
        """A product of the same source that the shop does not have."""
        async with self.bench.runtime.db.transaction() as conn:
            await conn.execute(
                "INSERT INTO products (id, org_id, source, source_id, data, job_id, row_no)"
                " SELECT gen_random_uuid(), org_id, source, $1, '{}', job_id, 99"
                " FROM products LIMIT 1",
                source_id,
            )
