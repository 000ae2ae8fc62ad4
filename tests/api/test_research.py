"""Research over HTTP: the receipt, the items, the export, quotas and live progress."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from typing import Any

import httpx2
import pytest
from tests.api.conftest import Caller, refused, shaped
from tests.fixtures import Bench
from tests.providers.sandboxes import serving_sandbox
from tests.sources.support import add_sources

from penstock.api.research.schemas import (
    QuotaList,
    ResearchReceipt,
    SavedQueryList,
    SavedQueryShape,
    SecretShape,
)
from penstock.providers.sandbox.server import Sandbox
from penstock.settings import Settings


@pytest.fixture
async def sandbox() -> AsyncIterator[Sandbox]:
    async with serving_sandbox(products=120, seed=3) as made:
        yield made


@pytest.fixture
def settings(settings: Settings) -> Settings:
    return settings.model_copy(update={"provider_allow": "127.0.0.1"})


async def ended(client: httpx2.AsyncClient, bench: Bench, job: str) -> dict[str, Any]:
    async with asyncio.timeout(60), bench.worker() as worker:
        while True:
            if not await worker.run_once():
                shown: dict[str, Any] = (await client.get(f"/api/jobs/{job}")).json()
                if shown["state"] in ("done", "failed"):
                    return shown
                await asyncio.sleep(0.05)


async def test_items_are_merged_products_with_their_sources(
    client: httpx2.AsyncClient, sandbox: Sandbox, bench: Bench
) -> None:
    await add_sources(client, sandbox)
    body = {
        "query": "o", "categories": [], "suppliers": [], "priority": "high",
        "priceRange": {"min": 0, "max": 100000, "currency": "EUR"},
        "sources": ["sandbox-json", "sandbox-csv"],
    }  # fmt: skip
    asked = await client.post("/api/research", json=body, headers={"Idempotency-Key": "once"})
    receipt = shaped(ResearchReceipt, asked, 202)
    assert receipt.request_id == str(receipt.job_id)
    assert asked.headers["location"] == f"/api/jobs/{receipt.job_id}"
    again = await client.post("/api/research", json=body, headers={"Idempotency-Key": "once"})
    assert again.json() == asked.json()
    assert again.headers["idempotency-replayed"] == "true"
    job = str(receipt.job_id)
    shown = await ended(client, bench, job)
    page = (await client.get(f"/api/jobs/{job}/items", params={"pageSize": 10})).json()
    rows = page["items"]
    while page["next"]:
        page = (await client.get(f"/api/jobs/{job}/items", params={"after": page["next"]})).json()
        rows += page["items"]
    assert len(rows) == shown["summary"]["products"] > 10
    assert [row["result"]["rank"] for row in rows] == list(range(1, len(rows) + 1))
    assert all(row["result"]["sources"] for row in rows)
    down = await client.get(f"/api/jobs/{job}/items", params={"sort": "-row", "pageSize": 1000})
    assert [row["rowNo"] for row in down.json()["items"]] == [row["rowNo"] for row in rows][::-1]
    steps = await client.get(f"/api/jobs/{job}/items", params={"steps": True, "pageSize": 1000})
    kinds = [row["input"]["kind"] for row in steps.json()["items"]]
    assert kinds[0] == "request"
    assert kinds.count("product") == len(rows) < len(kinds)
    exported = await client.post(f"/api/jobs/{job}/export", params={"format": "ndjson"})
    assert len(exported.text.splitlines()) == len(rows)


async def test_progress_is_streamed(
    client: httpx2.AsyncClient, sandbox: Sandbox, bench: Bench
) -> None:
    await add_sources(client, sandbox)
    made = (await client.post("/api/research", json={"query": "Lamp", "requestId": "r-9"})).json()
    assert made["requestId"] == "r-9"
    await ended(client, bench, made["jobId"])
    events = (await client.get(f"/api/jobs/{made['jobId']}/events")).json()["items"]
    told = [one["data"] for one in events if one["event"] == "research.progress"]
    assert told
    for one in told:
        assert {"requestId", "stage", "progress", "message", "estimatedTimeRemaining",
                "timestamp"} <= set(one)  # fmt: skip


async def test_requests_that_cannot_be_are_refused(
    client: httpx2.AsyncClient, sandbox: Sandbox
) -> None:
    refused(await client.post("/api/research", json={"query": "x"}), 422, "INVALID_PARAMETERS")
    await add_sources(client, sandbox)
    for body, code in (
        ({"query": " "}, "INVALID_PARAMETERS"),
        ({"query": "x", "sources": ["nope"]}, "INVALID_PARAMETERS"),
        ({"query": "x", "priceRange": {"min": 2, "max": 1}}, "INVALID_PARAMETERS"),
        ({"query": "x", "webhookUrl": "http://169.254.169.254/"}, "URL_NOT_ALLOWED"),
        ({"query": "x", "limit": 5}, "UNKNOWN_FIELD"),
    ):
        refused(await client.post("/api/research", json=body), 422, code)


async def test_quotas_are_shown_set_and_kept(
    client: httpx2.AsyncClient, caller: Caller, sandbox: Sandbox
) -> None:
    await add_sources(client, sandbox)
    admin = await caller("house", role="admin")
    limits = {"userDay": 2}
    changed = await admin.put("/api/research/quota", params={"org": "acme"}, json=limits)
    assert changed.status_code == 200
    for _ in range(2):
        assert (await client.post("/api/research", json={"query": "x"})).status_code == 202
    over = await client.post("/api/research", json={"query": "x"})
    problem = refused(over, 429, "QUOTA_EXCEEDED")
    assert "2 research requests of this day" in problem.detail
    assert int(over.headers["retry-after"]) > 0
    # A job of the same kind counts, too.
    job = {"pipeline": "research", "config": {"query": "x"}}
    refused(await client.post("/api/jobs", json=job), 429, "QUOTA_EXCEEDED")
    shown = shaped(QuotaList, await client.get("/api/research/quota"))
    assert {one.name: (one.used, one.limit) for one in shown.items} == {
        "user.day": (2, 2), "user.month": (2, 5000), "org.day": (2, 2000),
        "org.month": (2, 20_000),
    }  # fmt: skip
    colleague = await caller(email="second@acme")
    assert (await colleague.post("/api/research", json={"query": "x"})).status_code == 202


async def test_the_secret_of_requests_stays_until_it_is_rotated(client: httpx2.AsyncClient) -> None:
    first = shaped(SecretShape, await client.post("/api/webhooks/request-secret", json={}))
    assert first.secret.startswith("whsec_")
    same = shaped(SecretShape, await client.post("/api/webhooks/request-secret", json={}))
    assert same == first
    other = await client.post("/api/webhooks/request-secret", json={"rotate": True})
    assert shaped(SecretShape, other) != first


async def test_queries_are_saved_for_the_org(client: httpx2.AsyncClient, caller: Caller) -> None:
    body = {"query": "M8 bolts", "priceRange": {"max": "0.20", "currency": "EUR"}}
    saved = await client.put("/api/research/queries/M8 bolts, cheap", json=body)
    assert shaped(SavedQueryShape, saved).request == body
    colleague = await caller("acme", email="colleague@acme")
    found = shaped(SavedQueryList, await colleague.get("/api/research/queries")).items
    assert [(one.name, one.request) for one in found] == [("M8 bolts, cheap", body)]
    again = await colleague.put("/api/research/queries/M8 bolts, cheap", json={"query": "M8"})
    assert shaped(SavedQueryShape, again).request == {"query": "M8"}
    stranger = await caller("other")
    assert shaped(SavedQueryList, await stranger.get("/api/research/queries")).items == []
    refused(await stranger.delete("/api/research/queries/M8 bolts, cheap"), 404, "NOT_FOUND")
    refused(await client.put("/api/research/queries/x", json={"qery": "M8"}), 422, "UNKNOWN_FIELD")
    for number in range(199):
        assert (
            await client.put(f"/api/research/queries/{number}", json={"query": "M8"})
        ).status_code == 200
    refused(
        await client.put("/api/research/queries/one more", json={"query": "M8"}),
        422,
        "INVALID_PARAMETERS",
    )
    assert (await client.delete("/api/research/queries/M8 bolts, cheap")).json() == {
        "name": "M8 bolts, cheap"
    }
    assert (await client.put("/api/research/queries/7", json={"query": "M9"})).status_code == 200
