"""Imports of shops from the first call to the summary, against the sandbox."""

from __future__ import annotations

from collections.abc import AsyncIterator
from typing import Any

import pytest
import structlog
from tests.engine.receiving import past_all
from tests.fixtures import Bench
from tests.shop_import.support import Shopper, sandbox

from penstock.app.undo import undo
from penstock.engine.services.retention import PictureRetention, PictureRetentionConfig
from penstock.engine.services.tidy import Tidier, TidierConfig
from penstock.model.text.json_text import from_json
from penstock.monitor.job_log import JobLog
from penstock.providers.sandbox.faults import FaultPlan
from penstock.settings import Settings
from penstock.store.catalog.pictures import url_hash
from penstock.store.shops import connections

pytestmark = pytest.mark.slow


@pytest.fixture
def settings(settings: Settings) -> Settings:
    # Failing pictures must not slow the test down.
    changed = {"provider_allow": "127.0.0.1", "calls_delay_cap_ms": 20}
    return settings.model_copy(update=changed)


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


async def test_the_log_names_the_provider(shopper: Shopper) -> None:
    job_id = await shopper.run(await shopper.connect("roastify"), "roastify")
    await past_all(shopper.bench.runtime)
    with structlog.testing.capture_logs() as lines:
        await JobLog(shopper.bench.runtime).run_once()
    started, ended = [line for line in lines if line.get("jobId") == str(job_id)]
    assert (started["pipeline"], started["provider"]) == ("shop_import", "roastify")
    assert (ended["provider"], ended["errors"]) == ("roastify", 0)
    assert ended["images"] > 0


async def test_a_second_import_changes_and_downloads_nothing(shopper: Shopper) -> None:
    connection = await shopper.connect("shopify")
    await shopper.run(connection, "shopify")
    pictures = shopper.shops.stats.providers["pictures"].calls
    job_id = await shopper.run(connection, "shopify")
    summary = from_json((await shopper.bench.job(job_id))["summary"])
    assert (summary["new"], summary["changed"], summary["unchanged"]) == (0, 0, 5)
    assert shopper.shops.stats.providers["pictures"].calls == pictures
    assert {row["version"] for row in await shopper.products()} == {1}


async def test_chosen_products_only(shopper: Shopper) -> None:
    connection = await shopper.connect("shopify")
    await shopper.run(connection, "shopify", images=False)
    ids = [row["source_id"] for row in await shopper.products()]
    async with shopper.bench.runtime.db.transaction() as conn:
        await conn.execute("DELETE FROM product_changes")
        await conn.execute("DELETE FROM products")
    job_id = await shopper.run(
        connection, "shopify", productIds=[ids[1], ids[3], "999999999"], images=False
    )
    assert [row["source_id"] for row in await shopper.products()] == [ids[1], ids[3]]
    [failed] = await shopper.bench.items(job_id, "status = 'ERROR'")
    assert from_json(failed["error"])["code"] == "RESOURCE_NOT_FOUND"
    # Some products say nothing about the rest of the shop.
    async with shopper.bench.runtime.db.acquire() as conn:
        synced = await conn.fetchval("SELECT last_job FROM connections")
    assert synced != job_id


async def test_a_failed_import_is_an_error_of_the_connection_until_one_succeeds(
    shopper: Shopper,
) -> None:
    connection = await shopper.connect("shopify")

    async def error() -> Any:
        async with shopper.bench.runtime.db.acquire() as conn:
            row = await connections.get_connection(conn, connection)
        assert row is not None
        return from_json(row.error)

    shopper.shops.faults.plan = FaultPlan(1.0, ("expired",), ("shopify",))
    for chosen in ({}, {"productIds": ["1"]}):
        await shopper.run(connection, "shopify", **chosen)
        found = await error()
        assert found["code"] == "AUTHENTICATION_FAILED"
        assert "credentials" in found["message"]
        shopper.shops.faults.plan = FaultPlan(0.0)
        job_id = await shopper.run(connection, "shopify", images=False)
        assert await error() is None
        shopper.shops.faults.plan = FaultPlan(1.0, ("expired",), ("shopify",))
    assert (await shopper.bench.job(job_id))["state"] == "done"


async def test_the_cursor_of_a_complete_import_is_saved_and_used(shopper: Shopper) -> None:
    connection = await shopper.connect("shopify")
    first = await shopper.run(connection, "shopify", images=False)
    async with shopper.bench.runtime.db.acquire() as conn:
        row = await conn.fetchrow(
            "SELECT synced_at, tested_at, last_job, next_since FROM connections"
        )
    assert row is not None
    assert row["last_job"] == first
    assert row["synced_at"] is not None
    # The connection was never tested otherwise, and works.
    assert row["tested_at"] is not None
    assert row["next_since"] is not None
    second = await shopper.run(connection, "shopify", since="last", images=False)
    summary = from_json((await shopper.bench.job(second))["summary"])
    # Nothing has changed in the shop since.
    assert (summary["products"], summary["complete"]) == (0, True)


async def test_a_check_writes_nothing(shopper: Shopper) -> None:
    connection = await shopper.connect("woocommerce")
    job_id = await shopper.run(connection, "woocommerce", intent="check")
    assert from_json((await shopper.bench.job(job_id))["summary"])["new"] == 5
    assert await shopper.products() == []
    assert await shopper.pictures() == []
    async with shopper.bench.runtime.db.acquire() as conn:
        assert await conn.fetchval("SELECT synced_at FROM connections") is None


@pytest.mark.parametrize("mode", ["report", "unpublish"])
async def test_products_that_the_shop_no_longer_has(shopper: Shopper, mode: str) -> None:
    connection = await shopper.connect("woocommerce")
    await shopper.run(connection, "woocommerce", images=False)
    await shopper.add_product("no-longer-there")
    job_id = await shopper.run(connection, "woocommerce", images=False, missing=mode)
    missing = from_json((await shopper.bench.job(job_id))["summary"])["missing"]
    assert (missing["mode"], missing["count"]) == (mode, 1)
    assert [one["sourceId"] for one in missing["examples"]] == ["no-longer-there"]
    published = {row["source_id"]: row["published"] for row in await shopper.products()}
    assert published.pop("no-longer-there") is (mode == "report")


async def test_a_bad_picture_fails_alone(shopper: Shopper) -> None:
    shopper.shops.faults.plan = FaultPlan(1.0, ("malformed",), ("pictures",))
    connection = await shopper.connect("woocommerce", "bad-p2")
    job_id = await shopper.submit(connection, "woocommerce")
    await shopper.work_without_waiting(job_id)
    items = await shopper.bench.items(job_id)
    kinds = {(from_json(one["input"])["kind"], one["status"]) for one in items}
    assert kinds == {("page", "DONE"), ("product", "DONE"), ("image", "ERROR")}
    assert (await shopper.bench.job(job_id))["state"] == "done"
    assert len(await shopper.products()) == 2


async def test_the_same_content_is_shrunk_once(shopper: Shopper) -> None:
    connection = await shopper.connect("shopify", "copies-p30")
    await shopper.run(connection, "shopify")
    pictures = await shopper.pictures()
    by_content: dict[str, set[str]] = {}
    for row in pictures:
        by_content.setdefault(row["sha256"], set()).add(row["thumbnails"])
    assert len(by_content) < len(pictures)
    # Copies have the very thumbnails of their original.
    assert all(len(thumbnails) == 1 for thumbnails in by_content.values())
    async with shopper.bench.runtime.db.acquire() as conn:
        kept = await conn.fetch("SELECT DISTINCT blob_key FROM blob_refs WHERE kind = 'picture'")
    assert {row["blob_key"] for row in kept} == {row["blob_key"] for row in pictures}


async def test_an_import_is_undone(shopper: Shopper) -> None:
    connection = await shopper.connect("roastify")
    job_id = await shopper.run(connection, "roastify", images=False)
    assert len(await shopper.products()) == 5
    runtime = shopper.bench.runtime
    done = await undo(runtime, runtime.db.transaction, job_id, 10)
    assert (done["deleted"], done["refusedCount"]) == (5, 0)
    assert await shopper.products() == []


async def test_pictures_of_undone_products_are_tidied(shopper: Shopper) -> None:
    """Those that another product still uses stay, and so do young ones."""
    runtime = shopper.bench.runtime
    connection = await shopper.connect("shopify")
    job_id = await shopper.run(connection, "shopify")
    kept, *_ = await shopper.products()
    urls = {image["url"] for image in from_json(kept["data"])["images"]}
    pictures = await shopper.pictures()
    assert urls < {row["url"] for row in pictures}
    async with runtime.db.transaction() as conn:
        # Changed since, so that undo leaves it alone.
        await conn.execute("UPDATE products SET version = 9 WHERE id = $1", kept["id"])
    await undo(runtime, runtime.db.transaction, job_id, 10)
    assert await PictureRetention(runtime).run_once() == 0
    assert await shopper.pictures() == pictures
    retention = PictureRetention(runtime, PictureRetentionConfig(0, chunk=2))
    assert await retention.run_once() == len(pictures) - len(urls)
    assert {row["url"] for row in await shopper.pictures()} == urls
    async with runtime.db.acquire() as conn:
        refs = await conn.fetch("SELECT DISTINCT owner FROM blob_refs")
    assert {row["owner"] for row in refs} == {url_hash(url) for url in urls}
    blobs = [
        key for row in pictures for key in (row["blob_key"], *from_json(row["thumbnails"]).values())
    ]
    needed = {
        key for row in await shopper.pictures()
        for key in (row["blob_key"], *from_json(row["thumbnails"]).values())
    }  # fmt: skip
    tidied = await Tidier(runtime, TidierConfig(orphan_hours=0)).run_once()
    assert tidied.blobs == len(set(blobs) - needed) > 0
    assert set(await runtime.blobs.keys("", 1000)) == needed
    # The next import downloads them again.
    again = await shopper.run(connection, "shopify")
    assert from_json((await shopper.bench.job(again))["summary"])["errors"] == 0
    assert len(await shopper.pictures()) == len(pictures)


async def test_a_deleted_connection_ends_the_import(shopper: Shopper) -> None:
    connection = await shopper.connect("roastify")
    job_id = await shopper.submit(connection, "roastify")
    async with shopper.bench.runtime.db.transaction() as conn:
        await connections.delete_connection(conn, connection)
    await shopper.work(job_id)
    [page] = await shopper.bench.items(job_id)
    assert (page["status"], from_json(page["error"])["code"]) == ("ERROR", "RESOURCE_NOT_FOUND")


async def test_the_limit_of_a_shop_is_kept(bench: Bench) -> None:
    async with sandbox(products=30) as shops:
        shopper = Shopper(bench, shops)
        connection = await shopper.connect("roastify")
        job_id = await shopper.submit(connection, "roastify", images=False)
        await bench.work()
        waiting = await bench.items(job_id, "status = 'PENDING'")
        assert len(waiting) > 5
        assert {one["attempts"] for one in waiting} == {0}
        assert shops.stats.total.violations == 0
