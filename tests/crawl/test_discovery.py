"""Pages that a run finds itself: by sitemaps, and by links."""

from __future__ import annotations

import gzip

import pytest
from tests.crawl.site import Reply, Site, product_page, sites
from tests.crawl.support import Crawler

from penstock.pipelines.crawl import sitemaps

pytestmark = pytest.mark.slow
_XML = {"Content-Type": "application/xml"}


def _urlset(*urls: str) -> bytes:
    places = "".join(
        f"<url><loc>{url}</loc><image:image><image:loc>{url}.jpg</image:loc></image:image></url>"
        for url in urls
    )
    return (
        '<?xml version="1.0"?><urlset xmlns="http://www.sitemaps.org/schemas/sitemap/0.9"'
        f' xmlns:image="http://www.google.com/schemas/sitemap-image/1.1">{places}</urlset>'
    ).encode()


def _index(*urls: str) -> bytes:
    places = "".join(f"<sitemap><loc><![CDATA[{url}]]></loc></sitemap>" for url in urls)
    return f"<sitemapindex>{places}</sitemapindex>".encode()


def _plan(site: Site, **source: object) -> dict[str, object]:
    return {"companies": [{"company": site.company, **source}]}


async def test_an_index_of_sitemaps(crawler: Crawler) -> None:
    async with sites() as [site]:
        for number in range(1, 5):
            site.pages[f"/p/{number}"] = Reply(product_page(f"Lamp {number}", sku=f"L{number}"))
        site.pages["/sitemap.xml"] = Reply(
            _index(site.url("/a.xml"), site.url("/b.xml.gz"), site.url("/sitemap.xml")), 200, _XML
        )
        site.pages["/a.xml"] = Reply(_urlset(site.url("/p/1"), site.url("/p/2")), 200, _XML)
        packed = gzip.compress(_urlset(site.url("/p/2"), site.url("/p/3?a=1&amp;b=2")))
        site.pages["/b.xml.gz"] = Reply(packed, 200, {"Content-Type": "application/gzip"})
        site.pages["/p/3?a=1&b=2"] = Reply(product_page("Lamp 3", sku="L3"))
        run = await crawler.run(_plan(site, sitemap=site.url("/sitemap.xml")))
        assert run.counts["ready"] == 3
        assert sum(run.counts.values()) == 3
        assert sorted(site.paths()) == [
            "/a.xml", "/b.xml.gz", "/p/1", "/p/2", "/p/3?a=1&b=2", "/sitemap.xml",
        ]  # fmt: skip


async def test_a_long_sitemap_is_read_once_and_added_in_parts(
    crawler: Crawler, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(sitemaps, "_ADDED_AT_ONCE", 40)
    async with sites() as [site]:
        urls = [site.url(f"/p/{number}") for number in range(90)]
        site.pages["/sitemap.txt"] = Reply("\n".join(urls).encode(), 200)
        site.pages["/robots.txt"] = Reply(b"User-agent: *\nDisallow: /p/\n")
        run = await crawler.run(_plan(site, sitemap=site.url("/sitemap.txt")))
        assert site.paths() == ["/sitemap.txt"]
        assert run.counts["skipped"] == 90
        [company] = run.companies
        assert company.found == 90
        parts = await crawler.bench.items(run.job.id, "key LIKE 'sitemap:%'")
        assert len(parts) == 3


@pytest.mark.parametrize(
    ("body", "code"),
    [
        (gzip.compress(b" " * 20_000_000), "SITEMAP_TOO_LARGE"),
        (b"\x1f\x8bnonsense", "SITEMAP_INVALID"),
    ],
)
async def test_sitemaps_that_harm(crawler: Crawler, body: bytes, code: str) -> None:
    async with sites() as [site]:
        site.pages["/s.xml.gz"] = Reply(body, 200, {"Content-Type": "application/gzip"})
        run = await crawler.run(_plan(site, sitemap=site.url("/s.xml.gz")))
        assert await crawler.codes(run.job.id) == {"/s.xml.gz": code}
        assert run.counts["error"] == 1


async def test_sitemaps_that_lead_to_ever_new_sitemaps_end(crawler: Crawler) -> None:
    async with sites() as [site]:
        for depth in range(8):
            site.pages[f"/s{depth}.xml"] = Reply(_index(site.url(f"/s{depth + 1}.xml")), 200, _XML)
        run = await crawler.run(_plan(site, sitemap=site.url("/s0.xml")))
        assert site.paths() == [f"/s{depth}.xml" for depth in range(4)]
        assert (await crawler.codes(run.job.id))["/s3.xml"] == "SITEMAP_TOO_DEEP"


async def test_links_are_followed_within_patterns_and_limit(crawler: Crawler) -> None:
    async with sites() as [site]:
        links = "".join(f'<a href="/p/{number}#top">x</a>' for number in range(1, 9))
        away = '<a href="https://other.example/p/1">x</a><a href="/about">x</a>'
        site.pages["/"] = Reply(f"<html><body>{links}{away}</body></html>".encode())
        for number in range(1, 9):
            more = f'<a class="next" href = "../p/{number + 1}?from={number}">next</a>'
            site.pages[f"/p/{number}"] = Reply(
                product_page(f"Lamp {number}", sku=f"L{number}", more=more)
            )
        start = {"url": site.url("/"), "follow": ["/p/*"], "limit": 6}
        run = await crawler.run(_plan(site, start=start))
        assert site.paths() == ["/", *(f"/p/{number}" for number in range(1, 6))]
        assert (run.counts["ready"], run.counts["skipped"]) == (5, 1)
        # Links of pages that have not changed are followed, too.
        again = await crawler.run(_plan(site, start={**start, "limit": 4}))
        assert again.counts["skipped"] == 4
