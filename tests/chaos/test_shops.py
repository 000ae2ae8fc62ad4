"""Many imports at once from shops that fail, and workers that are killed over them."""

from __future__ import annotations

import random
import time
from collections.abc import AsyncIterator
from dataclasses import dataclass
from typing import Any
from uuid import UUID

import pytest
from tests.chaos.crew import Crew
from tests.checker.polling import until
from tests.fixtures import Bench, MakePrincipal
from tests.shop_import.support import Shopper, sandbox

from penstock.providers.sandbox.server import Sandbox
from penstock.settings import Settings

PROVIDERS = ("shopify", "woocommerce", "roastify")


@pytest.fixture
def settings(settings: Settings) -> Settings:
    # The file of limits is generous: 1,000 imports would take hours by the providers' own rates.
    return settings.model_copy(update={"provider_allow": "127.0.0.1"})


@pytest.fixture
async def shops() -> AsyncIterator[Sandbox]:
    async with sandbox(faults=float(__import__("os").environ.get("F","0.2"))) as made:
        yield made


@dataclass
class Siege:
    """Imports of several orgs, submitted at once."""

    shopper: Shopper
    principal: MakePrincipal
    jobs: dict[UUID, tuple[str, int]]

    async def submit(self, imports: int, orgs: int, most: int, seed: int = 1) -> None:
        """Each import has a shop of its own, of 1 to ``most`` products."""
        chance = random.Random(seed)
        for number in range(imports):
            who = await self.principal(f"org{number % orgs}")
            provider = PROVIDERS[number % 3]
            size = chance.randint(1, most)
            name = f"s{number}-p{size}"
            connection = await self.shopper.connect(provider, name, who)
            job_id = await self.shopper.submit(connection, provider, who)
            self.jobs[job_id] = (provider, size)

    async def ends(self, timeout: float) -> None:
        async def ended() -> bool:
            async with self.shopper.bench.runtime.db.acquire() as conn:
                left = await conn.fetchval(
                    "SELECT count(*) FROM jobs WHERE state NOT IN ('done', 'failed', 'cancelled')"
                )
            return left == 0

        try:
            await until(ended, "all imports to end", timeout=timeout)
        except AssertionError:
            for row in await self.rows(
                "SELECT i.status, i.stage, i.input->>'kind' AS kind, i.attempts,"
                " i.error->>'code' AS code, max(i.due_at - now()) AS due, count(*) AS n"
                " FROM job_items i WHERE i.status IN ('PENDING', 'PROCESSING', 'ERROR')"
                " GROUP BY 1, 2, 3, 4, 5 ORDER BY n DESC"
            ):
                print(dict(row))
            raise

    async def rows(self, statement: str) -> list[Any]:
        async with self.shopper.bench.runtime.db.acquire() as conn:
            return await conn.fetch(statement)


@pytest.fixture
def siege(bench: Bench, shops: Sandbox, principal: MakePrincipal) -> Siege:
    return Siege(Shopper(bench, shops), principal, {})


async def check_whole(siege: Siege, shops: Sandbox) -> dict[str, Any]:
    """Nothing lost, nothing doubled, no limit exceeded."""
    failed = await siege.rows("SELECT * FROM jobs WHERE state <> 'done'")
    assert failed == []
    errors = await siege.rows(
        "SELECT input->>'kind' AS kind, error->>'code' AS code, count(*) AS n FROM job_items"
        " WHERE status = 'ERROR' GROUP BY 1, 2"
    )
    products = await siege.rows("SELECT source, count(*) AS n FROM products GROUP BY source")
    doubled = await siege.rows(
        "SELECT org_id, source, source_id FROM products GROUP BY 1, 2, 3 HAVING count(*) > 1"
    )
    assert doubled == []
    told = shops.stats.total
    return {
        "errors": [tuple(one) for one in errors],
        "products": sum(one["n"] for one in products),
        "expected": sum(size for _, size in siege.jobs.values()),
        "stats": told.as_json(),
    }


@pytest.mark.parametrize(
    ("imports", "orgs", "most"),
    [(30, 6, 20), pytest.param(1000, 50, 100, marks=pytest.mark.long)],
)
async def test_imports_of_many_orgs_complete_at_twenty_percent_faults(
    siege: Siege, shops: Sandbox, crew: Crew, imports: int, orgs: int, most: int
) -> None:
    await siege.submit(imports, orgs, most)
    began = time.monotonic()
    for _ in range(2):
        crew.start(worker_slots=5)
    await siege.ends(60 + imports * 2)
    took = await siege.rows(
        "SELECT extract(epoch FROM finished_at - created_at)::float8 AS s FROM jobs ORDER BY 1"
    )
    found = await check_whole(siege, shops)
    print(f"{imports} imports in {time.monotonic() - began:.0f} s", found)
    print("p50, p95:", took[len(took) // 2]["s"], took[int(len(took) * 0.95)]["s"])
    assert found["stats"]["violations"] == 0
