"""Sources over the API: links on products, the org's shared key, held rows, previews."""

from __future__ import annotations

from typing import Any

import httpx2
from tests.api.conftest import Caller, file_of, refused, shaped
from tests.fixtures import Bench

from penstock.api.accounts.schemas import FullOrg, OrgShape
from penstock.api.catalog.product_schemas import FullProduct, ProductPage
from penstock.api.jobs.control_schemas import Reprocessed
from penstock.api.jobs.schemas import FullJob, Preview
from penstock.store.database import to_json

ACME = b"SKU;Title;EAN;Price\n000780;Lamp;4006381333931;10,00 EUR\n000781;Bulb;;2,00 EUR\n"
BOLT = b"SKU;Title;EAN;Price\n000780;Anvil;4012345678901;99,00 EUR\nZ;Lamp;4006381333931;9,00 EUR\n"
DEAR = b"SKU;Title;EAN;Price\n000780;Lamp;4006381333931;1000,00 EUR\n000781;Bulb;;200,00 EUR\n"


async def sent(client: httpx2.AsyncClient, bench: Bench, content: bytes, **config: Any) -> FullJob:
    form = {"config": to_json({"intent": "merge", **config})}
    made = await client.post("/api/jobs", files=file_of(content), data=form)
    assert made.status_code == 202, made.text
    await bench.work()
    return shaped(FullJob, await client.get(made.headers["location"]))


async def product(client: httpx2.AsyncClient, source: str, sku: str) -> FullProduct:
    found = await client.get("/api/products", params={"source": source, "sku": sku})
    [one] = shaped(ProductPage, found).items
    return shaped(FullProduct, await client.get(f"/api/products/{one.id}"))


async def test_links_are_shown_on_both_products(client: httpx2.AsyncClient, bench: Bench) -> None:
    await sent(client, bench, ACME, source="acme")
    job = await sent(client, bench, BOLT, source="bolt")
    assert job.summary is not None
    assert (job.summary["new"], job.summary["linked"]) == (2, 1)
    lamp, other = await product(client, "acme", "000780"), await product(client, "bolt", "Z")
    assert [(one.product_id, one.source_id, one.by) for one in lamp.links] == [
        (other.id, "Z", "gtin")
    ]
    assert [one.product_id for one in other.links] == [lamp.id]
    assert (await product(client, "bolt", "000780")).links == []


async def test_only_admins_choose_the_key_that_sources_share(
    client: httpx2.AsyncClient, bench: Bench, caller: Caller
) -> None:
    admin = await caller(role="admin")
    refused(await client.patch("/api/org", json={"catalogKey": "sku"}), 403,
            "INSUFFICIENT_PERMISSIONS")  # fmt: skip
    assert shaped(FullOrg, await client.get("/api/org")).catalog_key is None
    for key, shown in (("sku", "sku"), ("gtin", "gtin"), ("none", None), ("sku", "sku")):
        changed = await admin.patch("/api/org", json={"catalogKey": key})
        assert shaped(OrgShape, changed).catalog_key == shown
    assert (await admin.patch("/api/org", json={"sharedJobs": True})).json()["catalogKey"] == "sku"
    assert (await admin.patch("/api/org", json={"catalogKey": "mpn"})).status_code == 422
    await sent(client, bench, ACME, source="acme")
    await sent(client, bench, b"SKU;Title\n000781;Bulb E27\n", source="bolt")
    assert (await product(client, "acme", "000781")).title == "Bulb E27"


async def test_held_rows_are_accepted_by_row_by_code_and_all_together(
    client: httpx2.AsyncClient, bench: Bench
) -> None:
    await sent(client, bench, ACME, source="acme")
    job = await sent(client, bench, DEAR, source="acme")
    assert job.summary is not None
    assert job.summary["held"] == 2
    items = f"/api/jobs/{job.id}/items"
    found = (await client.get(items, params={"code": "PRICE_CHANGE_HELD"})).json()["items"]
    assert [one["rowNo"] for one in found] == [1, 2]
    assert found[0]["error"]["details"] == {
        "field": "price.amount", "before": "10.00", "after": "1000.00", "currency": "EUR",
        "percent": 9900.0,
    }  # fmt: skip
    again = f"/api/jobs/{job.id}/reprocess"
    for wrong in ({"codes": ["NO_ROWS"]}, {"fromStart": True}, {"statuses": ["DONE"]}):
        refused(await client.post(again, json={"accept": True, **wrong}), 422, "INVALID_PARAMETERS")
    made = shaped(Reprocessed, await client.post(again, json={"accept": True, "itemIds": [1]}))
    assert made.reprocessed == 1
    await bench.work()
    assert (await product(client, "acme", "000780")).product["price"]["amount"] == "1000.00"
    assert (await product(client, "acme", "000781")).product["price"]["amount"] == "2.00"
    everywhere = {
        "action": "reprocess", "filter": {"jobIds": [str(job.id)]},
        "params": {"accept": True, "codes": ["PRICE_CHANGE_HELD"]},
    }  # fmt: skip
    assert (await client.post("/api/bulk", json=everywhere)).status_code in (200, 202)
    await bench.work()
    made = shaped(Reprocessed, await client.post(again, json={"accept": True}))
    await bench.work()
    assert (await product(client, "acme", "000781")).product["price"]["amount"] == "200.00"
    after = shaped(FullJob, await client.get(f"/api/jobs/{job.id}"))
    assert after.summary is not None
    assert (after.summary["held"], after.counters.done) == (0, 2)


async def test_a_preview_says_what_the_job_will(client: httpx2.AsyncClient, bench: Bench) -> None:
    await sent(client, bench, ACME, source="acme")
    for content, source in ((BOLT, "bolt"), (DEAR, "acme"), (ACME, "acme"), (BOLT, "acme")):
        config = to_json({"intent": "merge", "source": source})
        looked = shaped(
            Preview,
            await client.post("/api/jobs/preview", files=file_of(content), data={"config": config}),
        )
        assert looked.source == source
        job = await sent(client, bench, content, source=source)
        assert job.summary is not None
        for name in ("new", "changed", "unchanged", "held", "linked"):
            assert job.summary[name] == looked.summary[name], (source, name)
        rows = (await client.get(f"/api/jobs/{job.id}/items")).json()["items"]
        for shown, row in zip(looked.rows, rows, strict=True):
            told = row["normalized"].get("match") or {}
            assert shown.match == row["result"]["match"]
            assert shown.links == told.get("links", [])
            assert shown.held == told.get("held")
        await client.post(f"/api/jobs/{job.id}/undo")


async def test_files_without_a_source_are_warned_of_each_other(
    client: httpx2.AsyncClient, bench: Bench
) -> None:
    first = await client.post("/api/jobs/preview", files=file_of(ACME))
    assert shaped(Preview, first).warnings[-1]["code"] != "SOURCE_SHARED"
    await sent(client, bench, ACME)

    def other(content: bytes) -> dict[str, Any]:
        return {"file": ("other.csv", content, "text/csv")}

    async def codes(files: dict[str, Any], **config: Any) -> set[str]:
        form = {"config": to_json(config)}
        looked = await client.post("/api/jobs/preview", files=files, data=form)
        return {one["code"] for one in shaped(Preview, looked).warnings}

    assert "SOURCE_SHARED" in await codes(other(BOLT))
    assert "SOURCE_SHARED" not in await codes(other(BOLT), source="bolt")
    assert "SOURCE_SHARED" not in await codes(file_of(ACME))
