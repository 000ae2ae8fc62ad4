"""Stored pages are extracted again, runs are undone, and stages are served apart."""

from __future__ import annotations

import pytest
from tests.crawl.site import Reply, Site, plan_of, product_page, sites
from tests.crawl.support import Crawler

from penstock.app import bulk
from penstock.app.undo import undo
from penstock.model.reprocess import Selection
from penstock.model.states import ItemStatus
from penstock.store.jobs.claims import Served

pytestmark = pytest.mark.slow
_ENDED = (ItemStatus.DONE, ItemStatus.SKIPPED, ItemStatus.ERROR)


def _fill(site: Site) -> None:
    site.pages |= {
        "/p/1": Reply(product_page("Lamp 1", sku="L1")),
        "/p/2": Reply(product_page("Lamp 2", sku="L2")),
        "/broken": Reply(b"", 403),
    }


async def test_reprocess_from_extract_fetches_nothing(crawler: Crawler) -> None:
    async with sites() as [site]:
        _fill(site)
        run = await crawler.run(plan_of(site))
        assert (run.counts["ready"], run.counts["error"]) == (2, 1)
        # As an older extractor would have left it.
        await crawler.rows(
            "UPDATE page_versions SET fields = '{}', digest = 'old', extractor = '0' RETURNING 1"
        )
        asked = len(site.log)
        runtime, who = crawler.bench.runtime, crawler.bench.who
        selection = Selection(statuses=_ENDED, stage="extract")
        async with runtime.db.transaction() as conn:
            made = await bulk.reprocess_job(runtime, conn, who, run.job.id, selection)
        assert made.items == 2
        await crawler.work(run.job.id)
        assert len(site.log) == asked
        rows = await crawler.rows("SELECT DISTINCT digest FROM page_versions")
        assert all(row["digest"] != "old" for row in rows)
        assert (await crawler.look(run.job.id)).counts == run.counts


async def test_a_stopped_company_can_be_tried_again(crawler: Crawler) -> None:
    async with sites() as [site]:
        site.pages |= {f"/p/{number}": Reply(b"", 403) for number in range(7)}
        run = await crawler.run(plan_of(site))
        assert run.companies[0].stopped
        for number in range(7):
            site.pages[f"/p/{number}"] = Reply(product_page(f"Lamp {number}", sku=f"L{number}"))
        runtime, who = crawler.bench.runtime, crawler.bench.who
        async with runtime.db.transaction() as conn:
            await bulk.reprocess_job(runtime, conn, who, run.job.id, Selection())
        await crawler.work(run.job.id)
        again = await crawler.look(run.job.id)
        assert (again.counts["ready"], again.companies[0].stopped) == (7, False)


async def test_a_run_is_undone_like_an_import(crawler: Crawler) -> None:
    async with sites() as [site]:
        _fill(site)
        await crawler.run(plan_of(site))
        site.pages["/p/1"] = Reply(product_page("Lamp 1", "4.40", sku="L1"))
        run = await crawler.run(plan_of(site))
        prices = "SELECT data->'price'->>'amount' AS price FROM products ORDER BY sku"
        assert [row["price"] for row in await crawler.rows(prices)] == ["4.40", "9.90"]
        runtime = crawler.bench.runtime
        await undo(runtime, runtime.db.transaction, run.job.id, 10)
        assert [row["price"] for row in await crawler.rows(prices)] == ["9.90", "9.90"]


async def test_stages_are_served_by_workers_of_their_own(crawler: Crawler) -> None:
    async with sites() as [site]:
        _fill(site)
        run_id = await crawler.start(plan_of(site))
        async with crawler.bench.worker(Served(stages=["ingest", "crawl"])) as fetching:
            while (await crawler.look(run_id)).counts["pending"] or not site.log:
                await fetching.run_once()
        assert (await crawler.look(run_id)).counts["crawled"] == 2
        asked = len(site.log)
        async with crawler.bench.worker(Served(stages=["extract", "finish"])) as extracting:
            while await extracting.run_once():
                pass
        assert len(site.log) == asked
        run = await crawler.look(run_id)
        assert (run.status, run.counts["ready"]) == ("finished", 2)
