"""The pace of a company: from one answer to the next request, and none where nothing is asked."""

from __future__ import annotations

import asyncio
from uuid import UUID

import pytest
from tests.crawl.site import Reply, Site, plan_of, product_page, sites
from tests.crawl.support import Crawler

from penstock.engine.worker.loop import Worker
from penstock.settings import Settings

pytestmark = pytest.mark.slow
_SLOW = 0.4


@pytest.fixture
def settings(settings: Settings) -> Settings:
    """A worker that misses a due time is seen: it looks again after a second, as it does outside of
    tests."""
    return settings.model_copy(update={"poll_ms": 1000})


async def claims_until_done(crawler: Crawler, run_id: UUID) -> int:
    count = 0
    async with asyncio.timeout(60), crawler.bench.worker() as worker:
        while (await crawler.bench.job(run_id))["state"] not in ("done", "failed"):
            if await worker.run_once():
                count += 1
            else:
                await asyncio.sleep(0.01)
    return count


async def test_the_pace_counts_from_the_answer(crawler: Crawler) -> None:
    """What is done with an answer, such as reading a slow body, does not delay the next request."""
    async with sites() as [site]:
        for number in range(4):
            page = product_page(f"Lamp {number}", sku=f"L{number}")
            site.pages[f"/p/{number}"] = Reply(page, body_after=_SLOW)
        run = await crawler.run(plan_of(site), rate=2, robots=False)
        assert run.counts["ready"] == 4
        assert min(site.gaps()) >= 0.499
        # From the settle it would be 0.9 s at the least.
        assert min(site.gaps()) < 0.5 + _SLOW


def _broken(site: Site, pages: int) -> None:
    site.pages |= {f"/p/{number:03}": Reply(b"", 403) for number in range(pages)}


async def test_pages_without_a_request_are_claimed_together(crawler: Crawler) -> None:
    async with sites() as [site]:
        _broken(site, 200)
        run_id = await crawler.start(plan_of(site), robots=False)
        claims = await claims_until_done(crawler, run_id)
        run = await crawler.look(run_id)
        assert run.counts["error"] == 200
        assert len(site.paths()) == 5
        # Five requests, 195 pages in claims of 1, 2, 4 … 64, and the steps of the job itself.
        assert claims <= 25


async def test_a_request_ends_a_claim_of_several_pages(crawler: Crawler) -> None:
    """Pages that robots.txt refuses are followed by allowed ones: these keep order and pace."""
    async with sites() as [site]:
        site.pages["/robots.txt"] = Reply(b"User-agent: *\nDisallow: /no/\n")
        for number in range(20):
            site.pages[f"/no/{number:02}"] = Reply(product_page(f"Hidden {number}"))
        for number in range(4):
            page = product_page(f"Lamp {number}", sku=f"L{number}")
            site.pages[f"/p/{number}"] = Reply(page)
        run = await crawler.run(plan_of(site), rate=5)
        assert (run.counts["ready"], run.counts["skipped"]) == (4, 20)
        assert site.paths() == [f"/p/{number}" for number in range(4)]
        assert min(site.gaps()[1:]) >= 0.199


async def work_until_done(crawler: Crawler, run_id: UUID) -> None:
    """With the loop of a worker process, which waits for due times."""

    async def stop_at_the_end(worker: Worker) -> None:
        while (await crawler.bench.job(run_id))["state"] not in ("done", "failed"):
            await asyncio.sleep(0.05)
        worker.stop()

    async with asyncio.timeout(60), crawler.bench.worker() as worker, asyncio.TaskGroup() as tasks:
        tasks.create_task(stop_at_the_end(worker))
        await worker.run()


async def test_a_page_slower_than_the_pace_delays_the_next_no_further(crawler: Crawler) -> None:
    """While a page is read, claims find its company held. The end of the page makes it free."""
    async with sites() as [site]:
        for number in range(12):
            page = product_page(f"Lamp {number}", sku=f"L{number}")
            site.pages[f"/p/{number:02}"] = Reply(page, body_after=0.1)
        run_id = await crawler.start(plan_of(site), rate=20, robots=False)
        await work_until_done(crawler, run_id)
        assert site.paths() == sorted(site.paths())
        # The first page waits for a child process to start.
        gaps = sorted(site.gaps()[1:])
        assert gaps[0] >= 0.1
        # A company that was looked at too early waited for half a second.
        assert gaps[len(gaps) // 2] < 0.3


async def test_the_rate_is_nearly_reached(crawler: Crawler) -> None:
    async with sites("acme", "other") as made:
        for site in made:
            for number in range(30):
                page = product_page(f"Lamp {number}", sku=f"{site.company}-{number}")
                site.pages[f"/p/{number:02}"] = Reply(page)
        run_id = await crawler.start(plan_of(*made), rate=10, robots=False)
        await work_until_done(crawler, run_id)
        for site in made:
            assert site.paths() == sorted(site.paths())
            gaps = sorted(site.gaps()[1:])
            assert gaps[0] >= 0.0999
            assert gaps[len(gaps) // 2] < 0.25
