"""Imports of shops from the first call to the summary, against the sandbox."""

from __future__ import annotations

from collections.abc import AsyncIterator

import pytest
from tests.fixtures import Bench
from tests.shop_import.support import Shopper, sandbox

from penstock.model.text.json_text import from_json
from penstock.settings import Settings

pytestmark = pytest.mark.slow


@pytest.fixture
def settings(settings: Settings) -> Settings:
    return settings.model_copy(update={"provider_allow": "127.0.0.1"})


@pytest.fixture
async def shopper(bench: Bench) -> AsyncIterator[Shopper]:
    async with sandbox() as shops:
        yield Shopper(bench, shops)


@pytest.mark.parametrize("provider", ["shopify", "woocommerce", "roastify"])
async def test_products_and_pictures_arrive(shopper: Shopper, provider: str) -> None:
    connection = await shopper.connect(provider)
    job_id = await shopper.run(connection, provider)
    job = await shopper.bench.job(job_id)
    errors = [
        from_json(one["error"]) for one in await shopper.bench.items(job_id, "error IS NOT NULL")
    ]
    assert (job["state"], errors) == ("done", [])
    summary = from_json(job["summary"])
    assert summary["complete"]
    assert (summary["products"], summary["new"], summary["totalProducts"]) == (5, 5, 5)
    products = await shopper.products()
    assert len(products) == 5
    urls = {image["url"] for row in products for image in from_json(row["data"]).get("images", ())}
    pictures = await shopper.pictures()
    assert {row["url"] for row in pictures} == urls
    assert all(set(from_json(row["thumbnails"])) == {"150", "400", "800"} for row in pictures)
    assert all(row["width"] and row["height"] for row in pictures)
    assert shopper.shops.stats.total.violations == 0
    assert shopper.shops.stats.total.repeated == 0
