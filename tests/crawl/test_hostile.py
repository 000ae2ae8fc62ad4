"""Pages, servers and robots.txt that harm: each fails alone, within bounds, with a name."""

from __future__ import annotations

import gzip
from dataclasses import replace

import psutil
import pytest
from tests.crawl.site import Reply, plan_of, product_page, sites
from tests.crawl.support import Crawler
from tests.fixtures import Bench

from penstock.model.crawl.pages import CrawlSettings
from penstock.settings import Settings

pytestmark = pytest.mark.slow
_MEGABYTE = 1024 * 1024


@pytest.fixture
def settings(settings: Settings) -> Settings:
    return settings.model_copy(update={"crawl_max_page_bytes": 2 * _MEGABYTE})


def _cases() -> dict[str, tuple[Reply, str | None]]:
    """Replies, and the code of the error; None: anything but harm."""
    deep = b"<div>" * (2 * _MEGABYTE // 5 - 100)
    attributes = b"<p " + b" ".join(b"a%d=1" % n for n in range(150_000)) + b">"
    bomb = gzip.compress(b"<p>" * 20_000_000)
    return {
        "/deep": (Reply(deep), None),
        "/attributes": (Reply(attributes), None),
        "/bomb": (Reply(bomb, 200, {"Content-Encoding": "gzip"}), "FETCH_TOO_LARGE"),
        "/endless": (Reply(endless=b"<p>x" * 20_000), "FETCH_TOO_LARGE"),
        "/loop": (Reply(b"", 302, {"Location": "/loop"}), "TOO_MANY_REDIRECTS"),
        "/inside": (Reply(b"", 302, {"Location": "http://169.254.1.1/"}), "URL_NOT_ALLOWED"),
        "/picture": (Reply(b"\x89PNG", 200, {"Content-Type": "image/png"}), "UNSUPPORTED_TYPE"),
        "/nuls": (Reply(b"<html>\0\0<title>\0</title>" * 100), None),
        "/charset": (Reply(b"<p>\xff", 200, {"Content-Type": "text/html; charset=x"}), None),
        "/nothing": (Reply(b""), None),
    }  # fmt: skip


async def test_each_fails_alone_and_others_are_extracted(crawler: Crawler) -> None:
    cases = _cases()
    # A company each: five failures would stop one.
    async with sites(*(path[1:] for path in cases), "fine") as made:
        for site, (path, (reply, _)) in zip(made, cases.items(), strict=False):
            site.pages[path] = reply
        made[-1].pages["/fine"] = Reply(product_page("Lamp"))
        run = await crawler.run(plan_of(*made), robots=False)
        assert run.status == "finished"
        codes = await crawler.codes(run.job.id)
        assert codes["/fine"] is None
        for path, (_, code) in cases.items():
            allowed = {code} if code else {"NOTHING_EXTRACTED", "PAGE_UNREADABLE", None}
            assert codes[path] in allowed, (path, codes[path])


@pytest.mark.parametrize(
    "limit", [10 * _MEGABYTE, pytest.param(64 * _MEGABYTE, marks=pytest.mark.long)]
)
async def test_fifty_megabytes_of_nested_divs(crawler: Crawler, bench: Bench, limit: int) -> None:
    """Sent whole: refused by the usual limit, or, where that is raised, read by child processes
    within their bounds. A page of another company is extracted meanwhile."""
    settings = bench.runtime.settings.model_copy(update={"crawl_max_page_bytes": limit})
    ports = dict(bench.runtime.ports)
    ports[CrawlSettings] = settings.crawl_settings
    crawler.bench = Bench(replace(bench.runtime, settings=settings, ports=ports), bench.who)
    deep = b"<html><body>" + b"<div>" * (50 * _MEGABYTE // 5)
    before = psutil.Process().memory_info().rss
    async with sites("deep", "fine") as [site, fine]:
        site.pages["/deep"] = Reply(deep)
        fine.pages["/fine"] = Reply(product_page("Lamp"))
        run_id = await crawler.start(plan_of(site, fine), robots=False, kind="product")
        await crawler.work(run_id, seconds=120)
        run = await crawler.look(run_id)
        codes = await crawler.codes(run_id)
        assert run.status == "finished"
        assert codes["/fine"] is None
        small = limit < len(deep)
        unread = {"PAGE_UNREADABLE", "NOTHING_EXTRACTED", "REQUIRED_MISSING"}
        named = {"FETCH_TOO_LARGE"} if small else unread
        assert codes["/deep"] in named
    grown = (psutil.Process().memory_info().rss - before) / _MEGABYTE
    print(f"limit {limit // _MEGABYTE} MB: {codes['/deep']}, {grown:.0f} MB more")
    assert grown < 400


async def test_a_robots_txt_of_ten_megabytes_is_read_in_part(crawler: Crawler) -> None:
    async with sites() as [site]:
        rules = b"User-agent: *\nDisallow: /secret\n" + b"Disallow: /x\n" * 800_000
        site.pages |= {
            "/robots.txt": Reply(rules),
            "/p": Reply(product_page("Lamp")),
            "/secret": Reply(product_page("Hidden")),
        }
        run = await crawler.run(plan_of(site))
        assert (run.counts["ready"], run.counts["skipped"]) == (1, 1)
        assert site.paths() == ["/p"]


async def test_a_robots_txt_that_cannot_be_read_keeps_pages_waiting(crawler: Crawler) -> None:
    async with sites() as [site]:
        site.pages |= {"/robots.txt": Reply(b"", 503), "/p": Reply(product_page("Lamp"))}
        run = await crawler.run(plan_of(site))
        assert run.counts["error"] == 1
        assert site.paths() == []
