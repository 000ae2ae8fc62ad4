"""Runs from the list of pages to products and postings, against sites of this machine."""

from __future__ import annotations

import pytest
from tests.crawl.site import Reply, Site, plan_of, product_page, sites
from tests.crawl.support import Crawler

from penstock.app.job_control import change_job
from penstock.model.bulk import BulkAction
from penstock.model.text.json_text import from_json
from penstock.store.accounts.audit_log import Caller

pytestmark = pytest.mark.slow


def _shop(site: Site, pages: int = 3) -> None:
    for number in range(1, pages + 1):
        body = product_page(f"Product {number}", sku=f"{site.company}-{number}")
        site.pages[f"/p/{number}"] = Reply(body)


async def test_pages_become_products(crawler: Crawler) -> None:
    async with sites() as [site]:
        _shop(site)
        run = await crawler.run(plan_of(site))
        assert run.status == "finished"
        assert run.counts == {
            "pending": 0, "crawled": 0, "ready": 3, "skipped": 0, "expired": 0, "error": 0,
        }  # fmt: skip
        assert site.paths() == ["/p/1", "/p/2", "/p/3"]
        products = await crawler.rows("SELECT * FROM products ORDER BY source_id")
        assert [row["source"] for row in products] == ["crawl:acme"] * 3
        assert [row["sku"] for row in products] == ["acme-1", "acme-2", "acme-3"]
        data = from_json(products[0]["data"])
        assert (data["title"], data["price"]["amount"]) == ("Product 1", "9.90")
        assert data["price"]["currency"] == "EUR"
        assert data["metadata"]["url"] == site.url("/p/1")
        pages = await crawler.rows("SELECT * FROM pages JOIN page_versions v ON v.page_id = id")
        assert {row["version"] for row in pages} == {1}
        assert all(row["simhash"] is not None and row["digest"] for row in pages)


async def test_a_second_run_skips_what_has_not_changed(crawler: Crawler) -> None:
    async with sites() as [site]:
        _shop(site, 4)
        await crawler.run(plan_of(site))
        # Another clock, another price, and words that no field shows.
        site.pages["/p/2"] = Reply(product_page("Product 2", sku="acme-2", more="<p>At 12:31</p>"))
        site.pages["/p/3"] = Reply(product_page("Product 3", "8.80", sku="acme-3"))
        other = " ".join(f"entirely different text {chr(97 + n) * 5}" for n in range(26))
        site.pages["/p/4"] = Reply(product_page("Product 4", sku="acme-4", more=other))
        run = await crawler.run(plan_of(site))
        assert (run.counts["skipped"], run.counts["ready"]) == (2, 2)
        codes = await crawler.codes(run.job.id)
        assert codes == {"/p/1": "UNCHANGED", "/p/2": "UNCHANGED", "/p/3": None, "/p/4": None}
        prices = await crawler.rows(
            "SELECT data->'price'->>'amount' AS price, version FROM products ORDER BY source_id"
        )
        assert [row["price"] for row in prices] == ["9.90", "9.90", "8.80", "9.90"]
        versions = await crawler.rows("SELECT version FROM pages ORDER BY url")
        assert [row["version"] for row in versions] == [1, 1, 2, 2]
        kept = await crawler.rows("SELECT * FROM blob_refs WHERE kind = 'page'")
        assert len(kept) == 6


async def test_conditional_requests(crawler: Crawler) -> None:
    def page(headers: dict[str, str]) -> Reply:
        known = headers.get("if-none-match") == '"v1"'
        body = b"" if known else product_page("Lamp")
        return Reply(body, 304 if known else 200, {"ETag": '"v1"'})

    async with sites() as [site]:
        site.pages["/p"] = page
        first = await crawler.run(plan_of(site))
        assert first.counts["ready"] == 1
        second = await crawler.run(plan_of(site))
        assert second.counts["skipped"] == 1
        assert await crawler.codes(second.job.id) == {"/p": "UNCHANGED"}
        # Asked for all of it again, although nothing has changed.
        third = await crawler.run(plan_of(site), recrawl=True)
        assert third.counts["ready"] == 1
        sent = [one.headers.get("if-none-match") for one in site.log if one.path == "/p"]
        assert sent == [None, '"v1"', None]
        assert site.log[0].headers["user-agent"].startswith("Penstock/")


@pytest.mark.parametrize("status", [404, 410])
async def test_a_page_that_is_gone_is_expired(crawler: Crawler, status: int) -> None:
    async with sites() as [site]:
        _shop(site, 1)
        await crawler.run(plan_of(site))
        site.pages["/p/1"] = Reply(b"gone", status)
        run = await crawler.run(plan_of(site))
        assert run.counts["expired"] == 1
        assert site.paths() == ["/p/1", "/p/1"]
        [page] = await crawler.rows("SELECT state, version FROM pages")
        assert (page["state"], page["version"]) == ("expired", 1)


async def test_five_failures_stop_one_company_only(crawler: Crawler) -> None:
    async with sites("broken", "fine") as [broken, fine]:
        for number in range(1, 9):
            broken.pages[f"/p/{number}"] = Reply(b"", 403)
        _shop(fine, 8)
        run = await crawler.run(plan_of(broken, fine))
        by_name = {one.company: one for one in run.companies}
        assert by_name["broken"].counts["error"] == 8
        assert by_name["broken"].stopped
        assert broken.paths() == [f"/p/{number}" for number in range(1, 6)]
        codes = await crawler.codes(run.job.id)
        assert by_name["fine"].counts["ready"] == 8
        assert not by_name["fine"].stopped
        assert codes["/p/1"] is None or codes["/p/1"] == "PAGE_UNAVAILABLE"
        stopped = await crawler.bench.items(run.job.id, "error->>'code' = 'COMPANY_STOPPED'")
        assert len(stopped) == 3
        assert run.status == "finished"


async def test_a_failing_page_is_tried_three_times(crawler: Crawler) -> None:
    answers = iter([Reply(b"", 503), Reply(b"", 500), Reply(product_page("Lamp"))])
    async with sites() as [site]:
        site.pages["/p/1"] = lambda _: next(answers)
        site.pages["/p/2"] = Reply(b"", 503)
        run = await crawler.run(plan_of(site))
        assert site.paths() == ["/p/1"] * 3 + ["/p/2"] * 3
        assert (run.counts["ready"], run.counts["error"]) == (1, 1)
        assert min(site.gaps()[1:3] + site.gaps()[4:]) >= 0.95


async def test_robots_are_honoured_and_read_once(crawler: Crawler) -> None:
    async with sites() as [site]:
        _shop(site)
        site.pages["/robots.txt"] = Reply(b"User-agent: *\nDisallow: /p/2\n")
        run = await crawler.run(plan_of(site))
        assert (run.counts["ready"], run.counts["skipped"]) == (2, 1)
        assert site.paths() == ["/p/1", "/p/3"]
        await crawler.run(plan_of(site))
        assert [one.path for one in site.log].count("/robots.txt") == 1
        ignored = await crawler.run(plan_of(site), robots=False)
        assert "/p/2" in site.paths()
        assert ignored.counts["ready"] == 1


async def test_redirects_are_followed_where_robots_of_their_site_allow(crawler: Crawler) -> None:
    async with sites("acme", "other") as [acme, other]:
        other.pages = {
            "/robots.txt": Reply(b"User-agent: *\nDisallow: /secret\n"),
            "/secret": Reply(product_page("Hidden")),
            "/open": Reply(product_page("Lamp")),
        }
        acme.pages = {
            f"/{name}": Reply(b"", 302, {"Location": other.url(f"/{name}")})
            for name in ("secret", "open")
        }
        run = await crawler.run(plan_of(acme))
        codes = await crawler.codes(run.job.id)
        assert codes == {"/secret": "ROBOTS_DISALLOWED", "/open": None}
        assert [one.path for one in other.log] == ["/robots.txt", "/open"]
        [page] = await crawler.rows("SELECT final_url FROM page_versions")
        assert page["final_url"] == other.url("/open")


async def test_the_crawl_delay_of_robots_is_kept(crawler: Crawler) -> None:
    async with sites() as [site]:
        _shop(site)
        site.pages["/robots.txt"] = Reply(b"User-agent: Penstock\nCrawl-delay: 0.4\n")
        await crawler.run(plan_of(site))
        assert min(site.gaps()[1:]) >= 0.38


async def test_the_rate_of_a_company_is_kept(crawler: Crawler) -> None:
    async with sites("one", "two") as [one, two]:
        _shop(one)
        _shop(two)
        await crawler.run(plan_of(one, two), rate=4)
        for site in (one, two):
            assert site.paths() == ["/p/1", "/p/2", "/p/3"]
            assert min(site.gaps()) >= 0.24


async def test_an_aborted_run_requests_nothing_more(crawler: Crawler) -> None:
    async with sites() as [site]:
        _shop(site, 50)
        run_id = await crawler.start(plan_of(site), rate=20)
        runtime = crawler.bench.runtime
        async with crawler.bench.worker() as worker:
            while len(site.paths()) < 3:
                await worker.run_once()
            await change_job(
                runtime, runtime.db.transaction, Caller(crawler.bench.who, None), run_id,
                BulkAction.CANCEL,
            )  # fmt: skip
            asked = len(site.paths())
        await crawler.work(run_id)
        assert len(site.paths()) == asked
        run = await crawler.look(run_id)
        assert run.status == "aborted"
        assert run.counts["pending"] == run.counts["crawled"] == 0
