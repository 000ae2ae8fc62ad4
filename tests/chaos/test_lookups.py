"""Workers that are killed over lookups: no call of a source that was recorded is made again."""

from __future__ import annotations

from collections.abc import AsyncIterator

import pytest
from tests.chaos.worker_pool import WorkerPool
from tests.checker.polling import until
from tests.fixtures import Bench
from tests.lookup.support import Catalog
from tests.lookup.test_sources import add_sources, offered
from tests.shop_import.support import sandbox

from penstock.providers.sandbox.server import Sandbox
from penstock.settings import Settings


@pytest.fixture
def settings(settings: Settings) -> Settings:
    return settings.model_copy(update={"provider_allow": "127.0.0.1"})


@pytest.fixture
async def shops() -> AsyncIterator[Sandbox]:
    async with sandbox(products=40) as made:
        yield made


async def test_workers_are_killed_after_every_commit_of_a_lookup(
    bench: Bench, shops: Sandbox, worker_pool: WorkerPool
) -> None:
    await add_sources(bench, shops)
    catalog = Catalog(bench)
    known = list(offered(shops, "xml").values())[:6]
    rows = [{"EAN": one.variant.barcode} for one in known] + [{"EAN": "4006381333931"}]
    job_id = await catalog.submit(rows)
    deaths = 0

    async def ended() -> bool:
        return bool((await bench.job(job_id))["state"] == "done")

    while await worker_pool.start("after_commit:kill:1", worker_slots=1).dies_unless(ended):
        deaths += 1
        assert deaths < 60
    worker_pool.start()
    await until(ended, "the lookup to end", timeout=60)
    assert deaths >= 4
    results = await catalog.results(job_id)
    assert [one["status"] for one in results] == ["DONE"] * 6 + ["NOT_FOUND"]
    assert [one["sku"] for one in results[:6]] == [one.variant.sku for one in known]
    assert shops.stats.total.repeated == 0
    async with bench.runtime.db.acquire() as conn:
        doubled = await conn.fetch(
            "SELECT row_no, attempt, provider, variant FROM search_events GROUP BY 1, 2, 3, 4"
            " HAVING count(*) > 1"
        )
        asked = await conn.fetchval(
            "SELECT count(*) FROM search_events WHERE provider <> 'catalog'"
        )
    assert doubled == []
    assert asked == shops.stats.total.answered
