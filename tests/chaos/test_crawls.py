"""Runs over many companies, and workers that are killed in both stages."""

from __future__ import annotations

import signal
import time
from collections.abc import AsyncIterator
from typing import Any
from uuid import UUID

import pytest
from tests.chaos.worker_pool import WorkerPool
from tests.checker.polling import until
from tests.crawl.site import Reply, Site, plan_of, product_page, sites
from tests.crawl.support import Crawler
from tests.fixtures import Bench

from penstock.app.job_control import change_job
from penstock.model.bulk import BulkAction
from penstock.settings import Settings
from penstock.store.accounts.audit_log import Caller

LONG = (pytest.mark.long, pytest.mark.timeout(3600))
COMPANIES = 20


@pytest.fixture
def settings(settings: Settings) -> Settings:
    return settings.model_copy(update={"crawl_allow": "127.0.0.1"})


@pytest.fixture
def crawler(bench: Bench) -> Crawler:
    return Crawler(bench)


@pytest.fixture
async def shops() -> AsyncIterator[list[Site]]:
    async with sites(*(f"company{number:02}" for number in range(COMPANIES))) as made:
        yield made


def _fill(shops: list[Site], pages: int) -> None:
    for site in shops:
        for number in range(pages):
            body = product_page(f"Lamp {number}", sku=f"{site.company}-{number}")
            site.pages[f"/p/{number}"] = Reply(body)


async def _ends(crawler: Crawler, run_id: UUID, timeout: float = 120) -> None:
    async def ended() -> bool:
        return (await crawler.bench.job(run_id))["state"] in ("done", "failed", "cancelled")

    await until(ended, "the run to end", timeout=timeout)


async def _requests_after_storing(crawler: Crawler, shops: list[Site]) -> list[str]:
    """Pages that were requested after they were stored."""
    stored = {
        row["url"]: row["at"]
        for row in await crawler.rows(
            "SELECT p.url, extract(epoch FROM v.fetched_at)::float8 AS at"
            " FROM pages p JOIN page_versions v ON v.page_id = p.id AND v.version = 1"
        )
    }
    return [
        site.url(one.path)
        for site in shops
        for one in site.log
        if site.url(one.path) in stored and one.clock > stored[site.url(one.path)] + 0.05
    ]


async def test_workers_are_killed_after_every_commit(
    crawler: Crawler, worker_pool: WorkerPool
) -> None:
    """What is committed is neither fetched nor extracted again. Companies of one claim are worked
    on side by side, so that the commit of one kills a worker whose other requests are on their
    way: each lease that was lost then repeats one request at most."""
    async with sites("a", "b", "c") as shops:
        _fill(shops, 3)
        run_id = await crawler.start(plan_of(*shops), rate=20)
        deaths = 0

        async def over() -> bool:
            return bool((await crawler.bench.job(run_id))["state"] == "done")

        while await worker_pool.start("after_commit:kill:2", worker_slots=1).dies_unless(over):
            deaths += 1
            assert deaths < 60
        worker_pool.start()
        await _ends(crawler, run_id)
        assert deaths >= 5
        assert await _requests_after_storing(crawler, shops) == []
        for site in shops:
            assert list(dict.fromkeys(site.paths())) == [f"/p/{number}" for number in range(3)]
        lost = await crawler.rows(
            "SELECT 1 FROM events WHERE event = 'worker.error' AND data->>'stage' = 'crawl'"
        )
        repeated = sum(len(site.paths()) for site in shops) - 9
        print(f"{deaths} deaths, {len(lost)} leases lost in crawl, {repeated} requests repeated")
        assert repeated <= len(lost)
        run = await crawler.look(run_id)
        assert run.counts["ready"] == 9
        assert len(await crawler.rows("SELECT 1 FROM products WHERE version = 1")) == 9


@pytest.mark.parametrize("place", ["after_claim", "after_work", "before_commit"])
async def test_workers_are_killed_before_their_commit(
    crawler: Crawler, worker_pool: WorkerPool, place: str
) -> None:
    async with sites("a", "b", "c") as shops:
        _fill(shops, 4)
        run_id = await crawler.start(plan_of(*shops), rate=20)
        for nth in (2, 3, 5):
            victim = worker_pool.start(f"{place}:kill:{nth}")
            assert await victim.dies(60) == -signal.SIGKILL
        worker_pool.start()
        await _ends(crawler, run_id)
        run = await crawler.look(run_id)
        assert run.counts["ready"] == 12
        assert await _requests_after_storing(crawler, shops) == []
        for site in shops:
            # In order, however often one was repeated, and never faster than asked for.
            assert sorted(site.paths()) == site.paths()
            assert min(site.gaps()) >= 0.049


@pytest.mark.parametrize(("pages", "rate"), [(4, 10), pytest.param(100, 5, marks=LONG)])
async def test_twenty_companies_in_order_and_at_their_rate(
    crawler: Crawler, worker_pool: WorkerPool, shops: list[Site], pages: int, rate: float
) -> None:
    """With pages that are gone, a company that fails, and a worker that is killed."""
    _fill(shops, pages)
    gone, broken = shops[3], shops[7]
    gone.pages["/p/1"] = Reply(b"", 404)
    broken.pages = {f"/p/{number}": Reply(b"", 403) for number in range(max(pages, 8))}
    run_id = await crawler.start(plan_of(*shops), rate=rate)
    began = time.monotonic()
    workers = [worker_pool.start() for _ in range(2)]
    await gone.until_asked(min(2, pages))
    workers[0].kill()
    worker_pool.start()
    await _ends(crawler, run_id, 120 + 5 * pages / rate)
    took = time.monotonic() - began
    run = await crawler.look(run_id)
    by_name = {one.company: one for one in run.companies}
    assert run.counts["expired"] == 1
    assert by_name[broken.company].stopped
    assert broken.paths() == [f"/p/{number}" for number in range(5)]
    assert [one.company for one in run.companies if one.stopped] == [broken.company]
    assert run.counts["ready"] == 19 * pages - 1
    assert await _requests_after_storing(crawler, shops) == []
    slowest = 0.0
    for site in shops:
        assert sorted(site.paths(), key=_number) == site.paths()
        assert min(site.gaps()) >= 1 / rate - 0.002
        slowest = max(slowest, site.log[-1].at - site.log[0].at)
    requests = sum(len(site.log) for site in shops)
    print(f"{requests} requests of {COMPANIES} companies in {took:.1f} s, slowest {slowest:.1f} s")
    await _second_run(crawler, shops, pages, rate)


async def _second_run(crawler: Crawler, shops: list[Site], pages: int, rate: float) -> None:
    changed = shops[0]
    changed.pages["/p/0"] = Reply(product_page("Lamp 0", "11.50", sku=f"{changed.company}-0"))
    fine = [site for site in shops if site.company not in ("company03", "company07")]
    for site in fine:
        site.log.clear()
    run_id = await crawler.start(plan_of(*fine), rate=rate)
    await _ends(crawler, run_id, 120 + 5 * pages / rate)
    run = await crawler.look(run_id)
    assert (run.counts["ready"], run.counts["skipped"]) == (1, len(fine) * pages - 1)
    [row] = await crawler.rows(
        "SELECT data->'price'->>'amount' AS price FROM products WHERE sku = $1",
        f"{changed.company}-0",
    )
    assert row["price"] == "11.50"


def _number(path: str) -> int:
    return int(path.rpartition("/")[2])


async def test_an_abort_stops_all_workers_within_a_slice(
    crawler: Crawler, worker_pool: WorkerPool, shops: list[Site]
) -> None:
    _fill(shops, 50)
    run_id = await crawler.start(plan_of(*shops), rate=20)
    for _ in range(2):
        worker_pool.start()
    await shops[0].until_asked(5)
    runtime: Any = crawler.bench.runtime
    caller = Caller(crawler.bench.who, None)
    await change_job(runtime, runtime.db.transaction, caller, run_id, BulkAction.CANCEL)
    at = time.monotonic()
    await _ends(crawler, run_id)
    # A request that had begun may still arrive.
    late = [one for site in shops for one in site.log if one.at > at + 1]
    assert late == []
    run = await crawler.look(run_id)
    assert run.status == "aborted"
    assert run.counts["pending"] == run.counts["crawled"] == 0
