"""Enrichment: gaps of products become proposals, which are written when a person accepts them."""

from __future__ import annotations

from typing import Any
from uuid import UUID

import httpx2
import pytest
from tests.api.conftest import refused, shaped
from tests.api.test_products import applied
from tests.fixtures import Bench

from penstock.api.jobs.control_schemas import Reprocessed
from penstock.api.jobs.schemas import FullJob, ItemPage, ItemShape, Receipt
from penstock.app.lookup.enrich import decide_proposals
from penstock.store.accounts.audit_log import Caller

pytestmark = pytest.mark.slow

LESS = (
    b"SKU;Title;Brand;MPN\n"
    b"A-1;Claw hammer 16 oz;Hultafors;HF-820\n"
    b"A-2;Round nose pliers 160 mm;Knipex;22 01 160\n"
    b"A-3;Unheard of thing 4711;Nobody;X\n"
)
MORE = (
    b"SKU;Title;Brand;MPN;EAN;Description;Image\n"
    b"B-1;Hammer with claw, 16 oz;Hultafors;HF-820;4006381333931;Strong;https://x.example/1.jpg\n"
    b"B-2;Pliers;Knipex;22 01 160;;Round nose;\n"
)


@pytest.fixture
async def job(client: httpx2.AsyncClient, bench: Bench) -> str:
    """An extraction job whose products lack what another source knows."""
    await applied(client, bench, MORE, source="more")
    return await applied(client, bench, LESS, source="less")


async def enriched(client: httpx2.AsyncClient, bench: Bench, job: str, **asked: Any) -> str:
    made = await client.post(f"/api/jobs/{job}/enrich", json=asked)
    receipt = shaped(Receipt, made, 202)
    await bench.work()
    return str(receipt.job_id)


async def items(client: httpx2.AsyncClient, job: str) -> dict[str, ItemShape]:
    page = shaped(ItemPage, await client.get(f"/api/jobs/{job}/items"))
    return {(one.result or {})["sku"]: one for one in page.items}


async def product(client: httpx2.AsyncClient, sku: str) -> dict[str, Any]:
    listed = await client.get("/api/products", params={"sku": sku})
    found = await client.get(f"/api/products/{listed.json()['items'][0]['id']}")
    return dict(found.json())


async def test_gaps_are_proposed_and_nothing_is_written(
    client: httpx2.AsyncClient, bench: Bench, job: str
) -> None:
    before = await product(client, "A-1")
    lookup = await enriched(client, bench, job)
    shown = shaped(FullJob, await client.get(f"/api/jobs/{lookup}"))
    assert (shown.state, shown.summary) == (
        "done",
        {"total": 3, "proposed": 2, "enriched": 0, "refused": 0, "unchanged": 0, "notFound": 1},
    )
    found = await items(client, lookup)
    assert (found["A-1"].status, found["A-1"].shown) == ("SKIPPED", "Proposed")
    assert found["A-1"].normalized is not None
    changes = {one["field"]: one for one in found["A-1"].normalized["proposal"]}
    assert set(changes) == {"identifiers.gtin", "images", "description"}
    assert changes["identifiers.gtin"]["before"] is None
    assert changes["identifiers.gtin"]["after"] == "4006381333931"
    assert changes["description"]["origin"] == "more:B-1"
    assert found["A-2"].normalized is not None
    assert [one["field"] for one in found["A-2"].normalized["proposal"]] == ["description"]
    assert found["A-3"].status == "NOT_FOUND"
    assert await product(client, "A-1") == before


async def test_accepted_proposals_are_written_and_can_be_undone(
    client: httpx2.AsyncClient, bench: Bench, job: str
) -> None:
    before = await product(client, "A-1")
    lookup = await enriched(client, bench, job)
    row = (await items(client, lookup))["A-1"].row_no
    path = f"/api/jobs/{lookup}/proposals/accept"
    asked = {"itemIds": [row], "fields": ["identifiers.gtin"]}
    assert shaped(Reprocessed, await client.post(path, json=asked)).reprocessed == 1
    await bench.work()
    after = await product(client, "A-1")
    assert after["product"]["identifiers"]["gtin"] == "4006381333931"
    assert "description" not in after["product"]
    assert "enrichment" in str(after["lineage"]["identifiers.gtin"])
    # All that are left.
    assert shaped(Reprocessed, await client.post(path, json={})).reprocessed == 1
    await bench.work()
    assert (await product(client, "A-2"))["product"]["description"] == "Round nose"
    summary = shaped(FullJob, await client.get(f"/api/jobs/{lookup}")).summary or {}
    assert (summary["enriched"], summary["proposed"]) == (2, 0)
    undone = await client.post(f"/api/jobs/{lookup}/undo")
    assert undone.json()["restored"] == 2
    restored = await product(client, "A-1")
    assert restored["product"] == before["product"]


async def test_accepted_fields_of_many_rows_are_one_statement(
    client: httpx2.AsyncClient, bench: Bench, job: str
) -> None:
    """All claims wait for it."""
    lookup = UUID(await enriched(client, bench, job))
    statements: dict[int, int] = {}
    for rows in ([1], [1, 2, 3]):
        async with bench.runtime.db.acquire() as conn:
            sent: list[Any] = []
            # Rolled back, so that both runs find the same rows.
            attempt = conn.transaction()
            await attempt.start()
            with conn.query_logger(sent.append):
                await decide_proposals(
                    bench.runtime, conn, Caller(bench.who), lookup, rows, accept=True,
                    fields=["description"],
                )  # fmt: skip
            await attempt.rollback()
        statements[len(rows)] = len(sent)
    assert statements[3] == statements[1]


async def test_refused_proposals_stay_unwritten(
    client: httpx2.AsyncClient, bench: Bench, job: str
) -> None:
    lookup = await enriched(client, bench, job, fields=["description"])
    path = f"/api/jobs/{lookup}/proposals"
    assert shaped(Reprocessed, await client.post(f"{path}/refuse", json={})).reprocessed == 2
    await bench.work()
    found = await items(client, lookup)
    assert {one.shown for one in found.values() if one.status == "SKIPPED"} == {"Refused"}
    assert "description" not in (await product(client, "A-1"))["product"]
    assert shaped(Reprocessed, await client.post(f"{path}/accept", json={})).reprocessed == 0


async def test_a_value_that_came_meanwhile_is_kept(
    client: httpx2.AsyncClient, bench: Bench, job: str
) -> None:
    lookup = await enriched(client, bench, job, fields=["description"])
    changed = LESS.replace(b"MPN\n", b"MPN;Description\n").replace(b"HF-820\n", b"HF-820;Ours\n")
    await applied(client, bench, changed, source="less")
    await client.post(f"/api/jobs/{lookup}/proposals/accept", json={})
    await bench.work()
    assert (await product(client, "A-1"))["product"]["description"] == "Ours"
    found = await items(client, lookup)
    assert found["A-1"].shown == "Filled already"


async def test_what_cannot_be_enriched_is_refused(
    client: httpx2.AsyncClient, bench: Bench, job: str
) -> None:
    path = f"/api/jobs/{job}/enrich"
    refused(await client.post(path, json={"fields": ["price"]}), 422, "INVALID_CONFIG")
    lookup = await enriched(client, bench, job)
    refused(await client.post(f"/api/jobs/{lookup}/enrich", json={}), 422, "INVALID_PARAMETERS")
    accept = f"/api/jobs/{job}/proposals/accept"
    refused(await client.post(accept, json={}), 409, "INVALID_STATE")
    fields = {"fields": ["description"]}
    wrong = await client.post(f"/api/jobs/{lookup}/proposals/accept", json=fields)
    refused(wrong, 422, "INVALID_PARAMETERS")
