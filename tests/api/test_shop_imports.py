"""Imports of shops over HTTP: asked for, watched by phase, and shown with their pictures."""

from __future__ import annotations

from collections.abc import AsyncIterator
from typing import Any
from uuid import uuid4

import pytest
from tests.api.conftest import Caller, refused, shaped
from tests.fixtures import Bench
from tests.shop_import.support import Shopper, sandbox

from penstock.api.jobs.schemas import FullJob, Receipt
from penstock.model.text.json_text import from_json
from penstock.settings import Settings


@pytest.fixture
def settings(settings: Settings) -> Settings:
    return settings.model_copy(update={"provider_allow": "127.0.0.1"})


@pytest.fixture
async def shopper(bench: Bench) -> AsyncIterator[Shopper]:
    async with sandbox(products=3) as shops:
        yield Shopper(bench, shops)


async def test_an_import_is_asked_for_and_watched(caller: Caller, shopper: Shopper) -> None:
    member = await caller()
    connection = await shopper.connect("shopify", "watched-p3")
    asked = {"connectionId": str(connection), "all": True, "config": {"intent": "merge"}}
    answer = await member.post(
        "/api/products/import", json=asked, headers={"Idempotency-Key": "one"}
    )
    assert answer.status_code == 202
    receipt = shaped(Receipt, answer, 202)
    again = await member.post(
        "/api/products/import", json=asked, headers={"Idempotency-Key": "one"}
    )
    assert shaped(Receipt, again, 202).job_id == receipt.job_id
    job = shaped(FullJob, await member.get(f"/api/jobs/{receipt.job_id}"))
    assert (job.phase, job.provider, job.created_by) == ("queued", "shopify", "member@acme")
    assert job.name == "Import from watched-p3"
    await shopper.bench.work(turns=1)
    job = shaped(FullJob, await member.get(f"/api/jobs/{receipt.job_id}"))
    # A list may leave out parts of large products, which are fetched one by one.
    assert job.phase in ("fetching", "mapping")
    assert job.total_products == 3
    assert job.phases is not None
    assert [one.phase for one in job.phases] == [
        "fetching", "mapping", "creating", "downloading_images", "uploading_images", "thumbnails",
    ]  # fmt: skip
    assert sum(one.open for one in job.phases) == 3
    await shopper.work(receipt.job_id)
    job = shaped(FullJob, await member.get(f"/api/jobs/{receipt.job_id}"))
    assert (job.state, job.phase) == ("done", "done")
    assert job.summary is not None
    assert job.summary["new"] == 3


async def test_stored_pictures_are_shown_without_asking_the_shop(
    caller: Caller, shopper: Shopper
) -> None:
    member = await caller()
    connection = await shopper.connect("shopify", "shown-p3")
    await shopper.run(connection, "shopify")
    product = next(row for row in await shopper.products() if from_json(row["data"]).get("images"))
    await shopper.shops.close()
    for size, widest in (("small", 150), ("large", 800)):
        shown = await member.get(f"/api/products/{product['id']}/images/0?size={size}")
        assert (shown.status_code, shown.headers["content-type"]) == (200, "image/webp")
        assert max(_size(shown.content)) <= widest


def _size(content: bytes) -> tuple[int, int]:
    import io

    from PIL import Image

    with Image.open(io.BytesIO(content)) as image:
        return image.size


async def test_what_is_not_one_wish_is_refused(caller: Caller, shopper: Shopper) -> None:
    member = await caller()
    connection = str(await shopper.connect("shopify"))
    wishes: list[dict[str, Any]] = [
        {},
        {"all": True, "productIds": ["1"]},
        {"productIds": []},
        {"since": "yesterday"},
        {"all": True, "config": {"intent": "nonsense"}},
        {"all": True, "config": {"unknown": 1}},
        {"productIds": ["1"], "config": {"missing": "report"}},
        {"all": True, "config": {"thumbnails": [5]}},
    ]
    for wrong in wishes:
        answer = await member.post(
            "/api/products/import", json={"connectionId": connection, **wrong}
        )
        assert answer.status_code == 422, wrong
    unknown = {"connectionId": str(uuid4()), "all": True}
    refused(await member.post("/api/products/import", json=unknown), 404, "NOT_FOUND")


async def test_the_shop_of_another_org_is_as_unknown(caller: Caller, shopper: Shopper) -> None:
    connection = str(await shopper.connect("shopify"))
    stranger = await caller("other")
    asked = {"connectionId": connection, "all": True}
    refused(await stranger.post("/api/products/import", json=asked), 404, "NOT_FOUND")
    # A job that names it all the same reaches nothing.
    config = {"connectionId": connection, "all": True}
    made = await stranger.post("/api/jobs", json={"pipeline": "shop_import", "config": config})
    await shopper.bench.work()
    job_id = made.json()["jobId"]
    items = (await stranger.get(f"/api/jobs/{job_id}/items")).json()["items"]
    assert [one["error"]["code"] for one in items] == ["RESOURCE_NOT_FOUND"]
    assert shopper.shops.stats.total.calls == 0
