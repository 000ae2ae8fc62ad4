"""Crawl runs over HTTP."""

from __future__ import annotations

import pytest
from tests.api.conftest import Caller, refused, shaped
from tests.crawl.site import Reply, plan_of, product_page, sites
from tests.crawl.support import Crawler
from tests.fixtures import Bench

from penstock.api.crawl.schemas import RunPage, RunReceipt, RunShape
from penstock.settings import Settings

pytestmark = pytest.mark.slow


@pytest.fixture
def settings(settings: Settings) -> Settings:
    return settings.model_copy(update={"crawl_allow": "127.0.0.1"})


async def test_a_run_from_the_request_to_its_end(caller: Caller, bench: Bench) -> None:
    client = await caller()
    async with sites("acme", "zeta") as [acme, zeta]:
        acme.pages = {f"/p/{n}": Reply(product_page(f"Lamp {n}", sku=f"L{n}")) for n in range(3)}
        zeta.pages = {"/gone": Reply(b"", 404)}
        order = {**plan_of(acme, zeta), "rate": 50, "name": "Nightly", "kind": "product"}
        receipt = shaped(RunReceipt, await client.post("/api/runs", json=order), 202)
        before = shaped(RunShape, await client.get(f"/api/runs/{receipt.run_id}"))
        assert (before.status, before.finished_at) == ("queued", None)
        await Crawler(bench).work(receipt.run_id)
        after = shaped(RunShape, await client.get(f"/api/runs/{receipt.run_id}"))
    assert (after.status, after.name) == ("finished", "Nightly")
    assert after.finished_at is not None
    assert (after.counts.ready, after.counts.expired) == (3, 1)
    assert [(one.company, one.found, one.stopped) for one in after.companies] == [
        ("acme", 3, False), ("zeta", 1, False),
    ]  # fmt: skip
    assert (after.crawl.done, after.extract.total) == (4, 4)
    [listed] = shaped(RunPage, await client.get("/api/runs")).items
    assert (listed.id, listed.counts) == (after.id, after.counts)
    items = (await client.get(f"/api/jobs/{receipt.run_id}/items")).json()["items"]
    assert {one["shown"] for one in items} == {"ready", "expired"}
    again = {"stage": "extract", "statuses": ["DONE", "NOT_FOUND"]}
    made = await client.post(f"/api/jobs/{receipt.run_id}/reprocess", json=again)
    assert made.json()["reprocessed"] == 3
    wrong = await client.post(
        f"/api/jobs/{receipt.run_id}/reprocess", json={"stage": "extract", "fromStart": True}
    )
    refused(wrong, 422, "INVALID_PARAMETERS")


async def test_the_same_key_starts_one_run(caller: Caller) -> None:
    client = await caller()
    order = {"companies": [{"company": "acme", "urls": ["https://shop.example/p"]}]}
    headers = {"Idempotency-Key": "run-1"}
    first, second = [await client.post("/api/runs", headers=headers, json=order) for _ in range(2)]
    assert first.json() == second.json()
    assert second.headers["Idempotency-Replayed"] == "true"


@pytest.mark.parametrize(
    ("company", "field"),
    [
        ({"company": "acme"}, "companies.0"),
        ({"company": "", "urls": ["https://a.example/"]}, "companies.0.company"),
        ({"company": "a", "urls": ["ftp://a.example/"]}, "companies.0.urls.0"),
        ({"company": "a", "urls": ["https://u:p@a.example/"]}, "companies.0.urls.0"),
        ({"company": "a", "sitemap": "https://a.example/ x"}, "companies.0.sitemap"),
        (
            {"company": "a", "start": {"url": "https://a.example/", "limit": 0}},
            "companies.0.start.limit",
        ),
        (
            {"company": "a", "urls": ["https://a.example/"], "sitemap": "https://a.example/s.xml"},
            "companies.0",
        ),
    ],
)
async def test_what_a_run_cannot_be(caller: Caller, company: object, field: str) -> None:
    client = await caller()
    answer = await client.post("/api/runs", json={"companies": [company]})
    problem = refused(answer, 422, "INVALID_PARAMETERS")
    assert problem.error.details["problems"][0]["field"].startswith(field)


async def test_other_jobs_are_no_runs(caller: Caller, bench: Bench) -> None:
    client = await caller()
    job = await bench.submit("noop", {"items": 1})
    refused(await client.get(f"/api/runs/{job}"), 404, "NOT_FOUND")
    refused(await client.post(f"/api/runs/{job}/abort"), 404, "NOT_FOUND")


async def test_an_abort_is_final(caller: Caller, bench: Bench) -> None:
    client = await caller()
    order = {"companies": [{"company": "acme", "urls": ["https://shop.example/p"]}]}
    run_id = (await client.post("/api/runs", json=order)).json()["runId"]
    first = shaped(RunShape, await client.post(f"/api/runs/{run_id}/abort"))
    assert first.status in ("aborting", "aborted")
    await bench.work()
    again = shaped(RunShape, await client.post(f"/api/runs/{run_id}/abort"))
    assert again.status == "aborted"
    assert again.finished_at is not None
