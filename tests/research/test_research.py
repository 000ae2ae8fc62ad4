"""Research requests: the whole way, partial failures, retries, filters and quotas."""

from __future__ import annotations

import time
from dataclasses import replace
from uuid import uuid4

import pytest
from tests.fixtures import Bench
from tests.research.support import Researcher

from penstock.app import bulk
from penstock.app.result_rows import first_result
from penstock.model.errors import BadInput, RateLimited
from penstock.model.reprocess import Selection
from penstock.model.states import ItemStatus
from penstock.model.text.json_text import from_json
from penstock.providers.sandbox import faults
from penstock.providers.sandbox.faults import FaultPlan
from penstock.providers.sandbox.server import Sandbox
from penstock.store.catalog.job_tables import table_of


async def test_products_of_all_sources_are_one_list(
    research: Researcher, sandbox: Sandbox, bench: Bench
) -> None:
    await research.add_sources()
    job = await research.run("Mug")
    assert (await bench.job(job))["state"] == "done"
    products = await research.products(job)
    assert products
    assert [one["rank"] for one in products] == list(range(1, len(products) + 1))
    scores = [one["score"] for one in products]
    assert scores == sorted(scores, reverse=True)
    gtins = [one["gtin"] for one in products]
    assert len(gtins) == len(set(gtins)), "the same GTIN is one product"
    assert {entry["source"] for one in products for entry in one["sources"]} == {
        "sandbox-json", "sandbox-xml", "sandbox-csv",
    }  # fmt: skip
    assert any(one["sourceCount"] > 1 for one in products)
    assert all("Mug" in one["title"] or "MUG" in one["title"] for one in products)
    summary = await research.summary(job)
    assert summary["requestId"] == str(job)
    assert summary["products"] == len(products)
    for name in ("sandbox-json", "sandbox-xml", "sandbox-csv"):
        told = summary["sources"][name]
        assert told["failed"] is None
        assert told["found"] == told["kept"] > 0
        assert told["calls"] == 1
        assert len(told["rawAnswers"]) == 1
        assert told["latencyMs"] >= 0
    assert summary["sources"]["sandbox-json"]["cost"] == [{"amount": "0.002", "currency": "USD"}]
    assert sandbox.stats.total.repeated == 0


async def test_progress_has_the_documented_members(research: Researcher, bench: Bench) -> None:
    await research.add_sources()
    job = await research.run("Mug", requestId="req-1")
    events = await research.events(job, "research.progress")
    members = {"requestId", "stage", "progress", "message", "estimatedTimeRemaining", "timestamp"}
    assert all(members <= set(one) for one in events)
    assert {one["requestId"] for one in events} == {"req-1"}
    for name in ("sandbox-json", "sandbox-xml", "sandbox-csv"):
        steps = [one["progress"] for one in events if one.get("source") == name]
        assert steps == [10, 50, 60, 80, 100]
    whole = [one["progress"] for one in events if "source" not in one]
    assert whole == [10, 90, 100]


async def test_all_pages_are_asked_for_once(research: Researcher, sandbox: Sandbox) -> None:
    await research.add_sources(
        "json", paging={"kind": "page", "parameter": "page", "sizeParameter": "pageSize", "size": 5}
    )
    job = await research.run("o")
    summary = await research.summary(job)
    told = summary["sources"]["sandbox-json"]
    assert told["calls"] == 5
    assert told["found"] == 25
    assert sandbox.stats.total.calls == 5


async def test_one_source_that_is_down_leaves_the_others_whole(
    research: Researcher, sandbox: Sandbox, bench: Bench
) -> None:
    await research.add_sources()
    sandbox.faults.plan = FaultPlan(1.0, ("expired",), shops=("xml",))
    job = await research.run("Mug")
    assert (await bench.job(job))["state"] == "done"
    summary = await research.summary(job)
    failed = summary["sources"]["sandbox-xml"]["failed"]
    assert failed["code"] == "AUTHENTICATION_FAILED"
    assert (summary["sourcesAnswered"], summary["sourcesFailed"]) == (2, 1)
    assert await research.sources(job) == {"sandbox-json", "sandbox-csv"}

    # By hand: only the source that failed is asked again.
    sandbox.faults.plan = FaultPlan()
    before = sandbox.stats.total.calls
    again = await research.ask(pipeline="research-retry", originalRequestId=str(job))
    await research.work(again)
    assert sandbox.stats.total.calls == before + 1
    summary = await research.summary(again)
    assert summary["sourcesFailed"] == 0
    assert summary["sources"]["sandbox-json"]["reused"]
    assert await research.sources(again) == {"sandbox-json", "sandbox-xml", "sandbox-csv"}


async def test_reprocessing_failed_sources_merges_again(
    research: Researcher, sandbox: Sandbox, bench: Bench
) -> None:
    await research.add_sources()
    sandbox.faults.plan = FaultPlan(1.0, ("expired",), shops=("xml", "csv"))
    job = await research.run("Mug")
    runtime, who = bench.runtime, bench.who

    async def again(answers: str, still_failing: tuple[str, ...]) -> None:
        share = 1.0 if still_failing else 0.0
        sandbox.faults.plan = FaultPlan(share, ("expired",), shops=still_failing)
        before = sandbox.stats.total.calls
        async with runtime.db.transaction() as conn:
            made = await bulk.reprocess_job(
                runtime, conn, who, job, Selection(statuses=(ItemStatus.ERROR,))
            )
        assert made.items == 1 + len(still_failing)
        await research.work(job)
        assert sandbox.stats.total.calls == before + made.items
        assert (await research.summary(job))["sources"][answers]["failed"] is None

    async def shown() -> tuple[set[str], list[int]]:
        """Sources and ranks of the rows that lists and exports have."""
        async with runtime.db.acquire() as conn:
            row = await table_of(conn, job)
            assert row is not None
            first = await first_result(runtime, conn, job, row)
            found = await conn.fetch(
                "SELECT result FROM job_items WHERE job_id = $1 AND row_no >= $2 ORDER BY row_no",
                job, first,
            )  # fmt: skip
        results = [from_json(one["result"]) for one in found]
        sources = {one["source"] for result in results for one in result["sources"]}
        return sources, [result["rank"] for result in results]

    alone, ranks = await shown()
    assert alone == {"sandbox-json"}
    await again("sandbox-csv", ("xml",))
    assert (await shown())[0] == {"sandbox-json", "sandbox-csv"}
    await again("sandbox-xml", ())
    sources, more = await shown()
    assert sources == {"sandbox-json", "sandbox-xml", "sandbox-csv"}
    assert more == list(range(1, len(more) + 1))
    assert len(more) >= len(ranks)
    summary = await research.summary(job)
    assert (summary["products"], summary["sourcesFailed"]) == (len(more), 0)
    # As if all had answered at first.
    whole = await research.summary(await research.run("Mug"))
    assert summary["products"] == whole["products"]


async def test_a_request_is_tried_five_times_in_all(research: Researcher, bench: Bench) -> None:
    await research.add_sources("json")
    first = await research.run("Mug", requestId="many")
    jobs = [first]
    for _ in range(5):
        job = await research.ask(pipeline="research-retry", originalRequestId="many")
        await research.work(job)
        jobs.append(job)
    errors = [(await bench.job(one))["error"] for one in jobs]
    assert errors == [0, 0, 0, 0, 0, 1]
    unknown = await research.ask(pipeline="research-retry", originalRequestId=str(uuid4()))
    await research.work(unknown)
    assert (await bench.job(unknown))["error"] == 1


async def test_the_body_of_research_process(research: Researcher, bench: Bench) -> None:
    await research.add_sources()
    body = {
        "requestId": "6f1a4c52-1b7c-4f0b-9e21-3a2b8f0c7d11", "userId": "u-1",
        "parameters": {"categories": ["Kitchen"], "priceRange": {"max": 10_000, "currency": "EUR"},
                       "suppliers": ["Sandbox"], "region": "DE"},
        "priority": "high",
    }  # fmt: skip
    job = await research.ask("o", "research-process", **body)
    assert (await bench.job(job))["priority"] == 10
    await research.work(job)
    summary = await research.summary(job)
    assert summary["requestId"] == body["requestId"]
    products = await research.products(job)
    places = {entry["supplier"]["location"] for one in products for entry in one["sources"]}
    assert places == {"DE"}
    left_out = [one["leftOut"].get("region", 0) for one in summary["sources"].values()]
    assert sum(left_out) > 0


async def test_a_price_range_counts_in_its_own_currency(research: Researcher) -> None:
    await research.add_sources("json")
    free = await research.products(await research.run("Mug"))
    prices = sorted(float(one["price"]) for one in free)
    middle = prices[len(prices) // 2]
    job = await research.run("Mug", priceRange={"max": middle, "currency": "EUR"})
    kept = [float(one["price"]) for one in await research.products(job)]
    assert sorted(kept) == [one for one in prices if one <= middle]


async def test_without_sources_the_request_says_so(research: Researcher, bench: Bench) -> None:
    job = await research.ask("Mug")
    await research.work(job)
    row = await bench.job(job)
    assert (row["error"], row["total"]) == (1, 1)


async def test_quotas_of_user_and_org(research: Researcher, bench: Bench) -> None:
    await research.add_sources("json")
    limited = bench.runtime.settings.model_copy(update={"research_user_day": 2})
    object.__setattr__(bench.runtime, "settings", limited)
    await research.ask("Mug")
    await research.ask("Mug")
    with pytest.raises(RateLimited) as refused:
        await research.ask("Mug")
    assert refused.value.code == "QUOTA_EXCEEDED"
    assert refused.value.details["quota"] == "user.day"
    assert refused.value.retry_after_ms


async def test_jobs_begin_at_the_pace_of_the_installation(
    research: Researcher, bench: Bench
) -> None:
    # So slow that a busy machine does not submit them at this pace by itself.
    changed = bench.runtime.settings.model_copy(update={"research_rate": "10/min burst 10"})
    await research.add_sources("json")
    research.bench = Bench(replace(bench.runtime, settings=changed), bench.who)
    jobs = [await research.ask("Mug") for _ in range(14)]
    due = [(await bench.job(one))["due_at"] for one in jobs]
    later = [one for one in due if one is not None]
    assert 1 <= len(later) <= 4
    assert later == sorted(later)


async def test_a_webhook_to_a_private_address_is_refused(
    research: Researcher, bench: Bench
) -> None:
    await research.add_sources("json")
    job = await research.ask("Mug", webhookUrl="http://169.254.169.254/hook")
    await research.work(job)
    assert (await bench.job(job))["error"] == 1


async def test_bad_configs_are_refused_at_submit(research: Researcher) -> None:
    for config in ({"maxSeconds": 5}, {"priceRange": {"min": 5, "max": 1}}, {"nope": 1}):
        with pytest.raises(BadInput):
            await research.ask("Mug", **config)


@pytest.mark.parametrize(
    "seconds",
    [5.0, pytest.param(65.0, marks=(pytest.mark.long, pytest.mark.timeout(200)))],
)
async def test_a_source_may_answer_late(
    research: Researcher, sandbox: Sandbox, bench: Bench, monkeypatch: pytest.MonkeyPatch,
    seconds: float,
) -> None:  # fmt: skip
    """Longer than its lease, and than items of other stages may work: the lease is extended, and
    the source is asked once."""
    runtime = bench.runtime
    if seconds < 60:
        assert runtime.settings.lock_cap_ms < seconds * 1000
        changed = runtime.settings.model_copy(update={"item_timeout_ms": 4000})
        research.bench = Bench(replace(runtime, settings=changed), bench.who)
    monkeypatch.setattr(faults, "_SLOW_SECONDS", seconds)
    sandbox.faults.plan = FaultPlan(1.0, ("slow",), count=1)
    limits = {"timeoutSeconds": 300}
    await research.add_sources("json", limits=limits)
    began = time.monotonic()
    job = await research.ask("Mug", maxSeconds=300)
    await research.work(job, seconds=seconds + 60)
    assert time.monotonic() - began >= seconds
    summary = await research.summary(job)
    [source] = summary["sources"].values()
    assert (source["failed"], source["found"] > 0, summary["products"] > 0) == (None, True, True)
    assert sandbox.stats.total.repeated == 0
    async with bench.runtime.db.acquire() as conn:
        [row] = await conn.fetch("SELECT max(crashes) AS c, max(attempts) AS n FROM job_items")
        lost = await conn.fetchval("SELECT count(*) FROM events WHERE event = 'worker.error'")
    assert (row["c"], row["n"], lost) == (0, 1, 0)
