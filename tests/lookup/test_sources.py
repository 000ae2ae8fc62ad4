"""Rows that the catalog does not have are looked up in the org's sources."""

from __future__ import annotations

from collections.abc import AsyncIterator
from dataclasses import replace
from typing import Any
from uuid import UUID

import pytest
from tests.fixtures import Bench
from tests.lookup.support import Catalog
from tests.shop_import.support import sandbox
from tests.sources.support import configs_of

from penstock.app.lookup.choose import choose_candidate
from penstock.model.ids import new_id
from penstock.model.sources.document import read_document
from penstock.model.text.json_text import from_json, to_json
from penstock.providers.sandbox.faults import FaultPlan
from penstock.providers.sandbox.server import Sandbox
from penstock.providers.sandbox.sources import offers
from penstock.settings import Settings
from penstock.store.accounts.audit_log import Caller
from penstock.store.sources.sources import add_source, credentials

pytestmark = pytest.mark.slow

FORMATS = ("csv", "json", "xml")


@pytest.fixture
def settings(settings: Settings) -> Settings:
    return settings.model_copy(update={"provider_allow": "127.0.0.1"})


@pytest.fixture
async def shops() -> AsyncIterator[Sandbox]:
    async with sandbox(products=40) as made:
        yield made


@pytest.fixture
async def catalog(bench: Bench, shops: Sandbox) -> Catalog:
    await add_sources(bench, shops)
    return Catalog(bench)


async def add_sources(bench: Bench, shops: Sandbox) -> None:
    for told in configs_of(shops).values():
        document = read_document(to_json(told), is_toml=False)
        source_id = new_id()
        sealed = credentials.seal(bench.runtime.sealer, source_id, document.credentials)
        async with bench.runtime.db.transaction() as conn:
            who = bench.who
            await add_source(
                conn, source_id, who.org_id, who.user_id, document.config(), sealed
            )  # fmt: skip


def offered(shops: Sandbox, kind: str) -> dict[int, Any]:
    """What a source of the sandbox offers, by number of product."""
    return {one.product.number: one for one in offers(shops.shop("sources", kind), "")}


async def let_time_pass(catalog: Catalog, job_id: UUID) -> None:
    """All that waits is due now."""
    async with catalog.bench.runtime.db.transaction() as conn:
        await conn.execute("UPDATE job_items SET due_at = now() WHERE due_at IS NOT NULL")
        await conn.execute("UPDATE job_stages SET ready_at = now() WHERE pending > 0")
        await conn.execute("UPDATE jobs SET ready_at = now() WHERE state = 'running'")
    await catalog.bench.work()


async def test_a_row_is_found_in_a_source(catalog: Catalog, shops: Sandbox) -> None:
    product = next(iter(offered(shops, "json").values()))
    row = {"EAN": product.variant.barcode, "Title": product.product.title}
    job_id = await catalog.look_up([row], sources=["sandbox-json"])
    [result] = await catalog.results(job_id)
    assert (result["status"], result["match"]) == ("DONE", "found"), result
    assert (result["provider"], result["matchedBy"]) == ("sandbox-json", "gtin")
    assert (result["sku"], result["confidence"]) == (product.variant.sku, 1.0)
    assert "productId" not in result
    searched = [(one["provider"], one["outcome"]) for one in await catalog.searches(job_id)]
    assert searched == [
        ("catalog", "notFound"), ("catalog", "notFound"), ("sandbox-json", "found"),
    ]  # fmt: skip
    assert shops.stats.providers["sources"].calls == 1


async def test_tries_change_variant_and_order_until_all_are_tried(
    catalog: Catalog, shops: Sandbox
) -> None:
    row = {"EAN": "4006381333931", "SKU": "none of them", "Title": "Unheard of 4711"}
    job_id = await catalog.look_up([row])
    for expected in (1, 2):
        [item] = await catalog.bench.items(job_id)
        assert (item["status"], item["attempts"]) == ("PENDING", expected)
        wait = (item["due_at"] - item["updated_at"]).total_seconds() / 60
        low, high = ((15, 18), (360, 432))[expected - 1]
        assert low <= wait <= high
        await let_time_pass(catalog, job_id)
    [result] = await catalog.results(job_id)
    assert result["status"] == "NOT_FOUND"
    asked = [
        (one["attempt"], one["variant"], one["provider"].removeprefix("sandbox-"))
        for one in await catalog.searches(job_id)
        if one["provider"] != "catalog"
    ]
    assert asked == [
        (0, "gtin", "csv"), (0, "gtin", "json"), (0, "gtin", "xml"),
        (1, "sku", "json"), (1, "sku", "xml"), (1, "sku", "csv"),
        (2, "title", "xml"), (2, "title", "csv"), (2, "title", "json"),
    ]  # fmt: skip
    assert result["error"]["details"]["tried"]["sandbox-xml"] == ["gtin", "sku", "title"]
    assert shops.stats.total.repeated == 0


async def test_the_outage_of_a_source_leaves_the_others_whole(
    catalog: Catalog, shops: Sandbox
) -> None:
    shops.faults.plan = FaultPlan(1.0, ("500",), shops=("csv",))
    json = offered(shops, "json")
    only_csv = next(one for number, one in offered(shops, "csv").items() if number not in json)
    rows = [
        {"EAN": next(iter(json.values())).variant.barcode},
        {"EAN": only_csv.variant.barcode},
    ]
    job_id = await catalog.look_up(rows, sources=["sandbox-csv", "sandbox-json"])
    first, second = await catalog.results(job_id)
    assert (first["match"], first["provider"]) == ("found", "sandbox-json")
    # The source that failed may have it: the row is tried again, and found once it answers.
    assert (second["status"], second["error"]["details"]["failed"]) == ("PENDING", ["sandbox-csv"])
    failed = [one for one in await catalog.searches(job_id, 2) if one["outcome"] == "failed"]
    assert failed
    assert "SERVICE_UNAVAILABLE" in failed[0]["error"]
    shops.faults.plan = FaultPlan()
    for _ in range(10):
        # Calls of a source that failed are apart: the row may be put back for that.
        await let_time_pass(catalog, job_id)
        [_, second] = await catalog.results(job_id)
        if second["status"] != "PENDING":
            break
    assert (second["status"], second["provider"]) == ("DONE", "sandbox-csv")
    assert shops.stats.total.repeated == 0


async def test_a_source_that_hangs_is_recorded_and_the_next_one_is_asked(
    bench: Bench, shops: Sandbox
) -> None:
    await add_sources(bench, shops)
    changed = bench.runtime.settings.model_copy(update={"item_timeout_ms": 1000})
    catalog = Catalog(Bench(replace(bench.runtime, settings=changed), bench.who))
    shops.faults.plan = FaultPlan(1.0, ("hang",), shops=("csv",))
    offer = next(iter(offered(shops, "json").values()))
    job_id = await catalog.look_up(
        [{"EAN": offer.variant.barcode}], sources=["sandbox-csv", "sandbox-json"]
    )
    [result] = await catalog.results(job_id)
    assert (result["status"], result["provider"]) == ("DONE", "sandbox-json"), result
    [failed] = [one for one in await catalog.searches(job_id) if one["outcome"] == "failed"]
    assert "API_TIMEOUT" in failed["error"]


async def test_a_lookup_may_leave_sources_out(catalog: Catalog, shops: Sandbox) -> None:
    [result] = await catalog.results(await catalog.look_up([{"EAN": "4006381333931"}], sources=[]))
    assert result["status"] == "NOT_FOUND"
    assert shops.stats.total.calls == 0


async def test_a_candidate_of_a_source_is_chosen(catalog: Catalog, shops: Sandbox) -> None:
    product = next(iter(offered(shops, "json").values())).product
    title = product.title.rpartition(" ")[0]
    job_id = await catalog.look_up([{"Title": title}], sources=["sandbox-json"], candidate=0.3)
    [item] = await catalog.results(job_id)
    assert item["match"] == "ambiguous", item
    bench = catalog.bench
    [row] = await bench.items(job_id)
    key = from_json(row["normalized"])["candidates"][0]["key"]
    assert key.startswith("sandbox-json:")
    async with bench.runtime.db.transaction() as conn:
        await choose_candidate(bench.runtime, conn, Caller(bench.who, None), job_id, 1, key)
    await bench.work()
    [result] = await catalog.results(job_id)
    assert (result["status"], result["matchedBy"]) == ("DONE", "person")
    assert result["provider"] == "sandbox-json"
