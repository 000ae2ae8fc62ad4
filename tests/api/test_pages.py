"""Crawled pages, job postings and the preview of a page over HTTP."""

from __future__ import annotations

import pytest
from tests.api.conftest import Caller, refused, shaped
from tests.crawl.site import Reply, plan_of, product_page, sites
from tests.crawl.support import Crawler
from tests.fixtures import Bench

from penstock.api.crawl.page_schemas import (
    FullPage,
    PagePage,
    PagePreview,
    PostingPage,
    PostingShape,
)
from penstock.model.crawl.pages import KeepPage, KeepPosting
from penstock.model.ids import new_id
from penstock.settings import Settings
from penstock.store.crawl import pages, postings

pytestmark = pytest.mark.slow


@pytest.fixture
def settings(settings: Settings) -> Settings:
    return settings.model_copy(update={"crawl_allow": "127.0.0.1"})


async def test_versions_of_a_page_and_what_changed(caller: Caller, bench: Bench) -> None:
    client = await caller()
    async with sites() as [site]:
        for price in ("9.90", "8.80"):
            site.pages["/p"] = Reply(product_page("Lamp", price))
            await Crawler(bench).run(plan_of(site))
        [listed] = shaped(
            PagePage, await client.get("/api/pages", params={"company": "acme"})
        ).items
        assert (listed.version, listed.kind) == (2, "product")
        page = shaped(FullPage, await client.get(f"/api/pages/{listed.id}"))
        newest, oldest = page.versions
        assert [(one.field, one.before, one.after) for one in newest.changes or ()] == [
            ("price", "9.90", "8.80")
        ]
        assert oldest.changes is None
        raw = await client.get(oldest.raw_url)
        assert raw.content == product_page("Lamp", "9.90")
        assert raw.headers["content-type"] == "application/octet-stream"
        assert raw.headers["content-disposition"].startswith("attachment")
        assert shaped(PagePage, await client.get("/api/pages", params={"company": "x"})).items == []
        refused(await client.get(f"/api/pages/{listed.id}/versions/9/raw"), 404, "NOT_FOUND")


async def test_a_preview_fetches_and_stores_nothing(caller: Caller, bench: Bench) -> None:
    client = await caller()
    async with sites() as [site]:
        site.pages = {
            "/p": Reply(product_page("Lamp")),
            "/robots.txt": Reply(b"User-agent: *\nDisallow: /secret\n"),
        }
        order = {"url": site.url("/p")}
        found = shaped(PagePreview, await client.post("/api/runs/preview", json=order))
        assert (found.kind, found.fields["name"], found.fields["price"]) == (
            "product", "Lamp", "9.90",
        )  # fmt: skip
        assert found.lineage["price"]["source"]
        assert "details of Lamp" in found.text
        secret = {"url": site.url("/secret")}
        refused(await client.post("/api/runs/preview", json=secret), 422, "ROBOTS_DISALLOWED")
        gone = {"url": site.url("/gone")}
        refused(await client.post("/api/runs/preview", json=gone), 422, "URL_REFUSED")
    assert shaped(PagePage, await client.get("/api/pages")).items == []


async def test_a_preview_of_html(caller: Caller) -> None:
    client = await caller()
    order = {"url": "https://shop.example/p", "html": product_page("Desk").decode()}
    found = shaped(PagePreview, await client.post("/api/runs/preview", json=order))
    assert found.fields["name"] == "Desk"
    inside = {"url": "http://10.0.0.1/"}
    refused(await client.post("/api/runs/preview", json=inside), 422, "URL_NOT_ALLOWED")


async def test_postings_are_searched_and_exported(caller: Caller, bench: Bench) -> None:
    client = await caller()
    for title, place in (("Fitter", "Berlin"), ("Welder 100%", "Köln"), ("Fitter", "Köln")):
        await _posting(bench, title, place)
    for query, titles in (
        ("", ["Fitter", "Welder 100%", "Fitter"]),
        ("FITTER köln", ["Fitter"]),
        ("100%", ["Welder 100%"]),
        ("50%", []),
    ):
        answer = await client.get("/api/postings", params={"q": query})
        assert [one.title for one in shaped(PostingPage, answer).items] == titles, query
    first = shaped(PostingPage, await client.get("/api/postings", params={"pageSize": 2}))
    assert len(first.items) == 2
    rest = await client.get("/api/postings", params={"pageSize": 2, "after": first.next})
    assert len(shaped(PostingPage, rest).items) == 1
    one = shaped(PostingShape, await client.get(f"/api/postings/{first.items[0].id}"))
    assert one.fields["locations"] == ["Berlin"]
    lines = (await client.post("/api/postings/export", params={"q": "köln"})).text.splitlines()
    assert lines[0].startswith("title,company,locations,")
    assert lines[1].startswith("Welder 100%,Acme,Köln,")
    documents = await client.post("/api/postings/export", params={"format": "json"})
    assert documents.json()[0]["salary"] == {"min": "50000", "max": "60000", "currency": "EUR"}


async def test_pages_and_postings_are_deleted(caller: Caller, bench: Bench) -> None:
    client, viewer, stranger = await caller(), await caller(role="viewer"), await caller("other")
    for title in ("Fitter", "Welder"):
        await _posting(bench, title, "Berlin")
    fitter, welder = shaped(PostingPage, await client.get("/api/postings")).items
    places = (f"/api/postings/{fitter.id}", f"/api/pages/{welder.page_id}")
    for path in places:
        refused(await viewer.delete(path), 403, "INSUFFICIENT_PERMISSIONS")
        refused(await stranger.delete(path), 404, "NOT_FOUND")
        assert (await client.delete(path)).json() == {"id": path.rpartition("/")[2]}
        refused(await client.delete(path), 404, "NOT_FOUND")
    # The page of the first stays, and the posting of the second goes with its page.
    assert shaped(PostingPage, await client.get("/api/postings")).items == []
    [left] = shaped(PagePage, await client.get("/api/pages")).items
    assert left.id == fitter.page_id
    async with bench.runtime.db.acquire() as conn:
        refs = await conn.fetch("SELECT owner FROM blob_refs")
        audited = await conn.fetch("SELECT action, target FROM audit ORDER BY id")
    assert [row["owner"] for row in refs] == [f"{left.id}:1"]
    assert [(row["action"], row["target"]) for row in audited[-2:]] == [
        ("posting.delete", f"posting:{fitter.id}"), ("page.delete", f"page:{welder.page_id}"),
    ]  # fmt: skip


async def _posting(bench: Bench, title: str, place: str) -> None:
    page_id = new_id()
    page = KeepPage(
        page_id, "acme", f"https://x.example/{page_id}", 1, True, "https://x.example/", None, None,
        None, "blob", "sha", 1, None,
    )  # fmt: skip
    data = {
        "title": title, "company": "Acme", "locations": [place], "datePosted": "2026-01-15",
        "salary": {"min": "50000", "max": "60000", "currency": "EUR"},
    }  # fmt: skip
    posting = KeepPosting(page_id, "acme", f"https://x.example/{page_id}", data)
    async with bench.runtime.db.transaction() as conn:
        await pages.save_page(conn, bench.who.org_id, new_id(), 1, page)
        await postings.save(conn, bench.who.org_id, new_id(), 1, posting)
