"""Crawl pages, and look at runs, versions and postings, as people do."""

from __future__ import annotations

import os
import re
from collections.abc import AsyncIterator
from pathlib import Path

import pytest
import pytest_asyncio
from playwright.async_api import Page, expect
from tests.browser.conftest import Theme, Visit
from tests.browser.test_access import violations
from tests.crawl.site import Reply, Site, posting_page, product_page

# A folder for pictures of the pages; unset: none.
SHOTS = os.environ.get("PENSTOCK_SHOTS")


@pytest_asyncio.fixture(loop_scope="session")
async def site() -> AsyncIterator[Site]:
    made = Site("lumina")
    made.pages = {
        "/p/1": Reply(product_page("Desk lamp", sku="LU-1")),
        "/p/2": Reply(product_page("Wall shelf", "64.00", sku="LU-2")),
        "/jobs/1": Reply(posting_page("Fitter")),
        "/robots.txt": Reply(b"User-agent: *\nDisallow: /secret\n"),
    }
    await made.start()
    yield made
    await made.close()


async def shoot(page: Page, name: str) -> None:
    if SHOTS:
        await page.wait_for_timeout(300)
        await page.screenshot(path=Path(SHOTS, f"{name}.png"))


async def crawl(page: Page, site: Site, *paths: str) -> None:
    await page.goto("/new?source=crawl")
    await page.get_by_label("Company", exact=True).fill(site.company)
    await page.get_by_label("Addresses").fill("\n".join(site.url(path) for path in paths))
    await page.get_by_label("Requests a second").select_option("20")
    await page.get_by_role("button", name="Start the run").click()
    await page.wait_for_url(re.compile("/runs/[0-9a-f-]+$"))
    await expect(page.get_by_text("Finished", exact=True).first).to_be_visible()


@pytest.mark.timeout(300)
async def test_a_run_from_the_preview_to_versions(visit: Visit, site: Site) -> None:
    page = await visit("/runs")
    await page.get_by_role("link", name="New run").first.click()
    await expect(page.get_by_role("radio", name="Web pages")).to_be_checked()
    await page.get_by_label("Company", exact=True).fill("lumina")
    await page.get_by_label("Addresses").fill(site.url("/p/1"))
    await page.get_by_role("button", name="Look at the page").click()
    fields = page.get_by_role("region", name="Extracted fields")
    await expect(fields.get_by_text("Desk lamp")).to_be_visible()
    await expect(fields.get_by_text("9.90")).to_be_visible()
    assert await violations(page) == []
    await shoot(page, "preview")
    secret = site.url("/secret")
    await page.get_by_label("Addresses").fill(secret)
    await page.get_by_role("button", name="Look at the page").click()
    await expect(page.get_by_text("robots.txt does not allow")).to_be_visible()

    await crawl(page, site, "/p/1", "/p/2", "/jobs/1", "/secret", "/gone")
    companies = page.get_by_role("region", name="Pages by company")
    row = companies.get_by_role("row", name=re.compile("lumina"))
    await expect(row.get_by_role("cell")).to_have_text(
        ["lumina", "", "5", "0", "0", "3", "1", "1", "0"]
    )
    assert await violations(page) == []
    await shoot(page, "run")

    site.pages["/p/1"] = Reply(product_page("Desk lamp", "11.50", sku="LU-1"))
    await crawl(page, site, "/p/1", "/p/2")
    await companies.get_by_role("link", name="lumina").click()
    await shoot(page, "pages")
    await page.get_by_role("link", name="Desk lamp").click()
    await expect(page.get_by_role("heading", name="Desk lamp")).to_be_visible()
    await expect(page.locator("del")).to_have_text("9.90")
    await expect(page.locator("ins")).to_have_text("11.50")
    assert await violations(page) == []
    await shoot(page, "versions")


@pytest.mark.parametrize(("theme", "width"), [("light", 1440), ("dark", 390)])
async def test_postings_are_searched(visit: Visit, site: Site, theme: Theme, width: int) -> None:
    page = await visit("/runs", theme=theme, width=width)
    await crawl(page, site, "/jobs/1", "/p/2")
    await shoot(page, f"run-{theme}-{width}")
    await page.get_by_role("link", name="of this run").click()
    await page.goto("/postings")
    await page.get_by_label("Search job postings").fill("fitter berlin")
    await page.locator("#main").get_by_role("button", name="Search").click()
    # Other tests of this organisation may have left some.
    fitters = page.get_by_role("link", name="Fitter")
    await expect(fitters.first).to_be_visible()
    postings = await fitters.count()
    assert await violations(page) == []
    await shoot(page, f"postings-{theme}-{width}")
    await page.get_by_role("button", name="Delete Fitter").first.click()
    await expect(page.get_by_role("dialog")).to_be_visible()
    assert await violations(page) == []
    await shoot(page, f"delete-posting-{theme}-{width}")
    await page.get_by_role("dialog").get_by_role("button", name="Delete").click()
    await expect(page.get_by_text("The job posting is deleted")).to_be_visible()
    await expect(fitters).to_have_count(postings - 1)
    # Its page stays until it is deleted, too.
    await page.goto("/pages?company=lumina")
    await expect(fitters.first).to_be_visible()
    pages = await fitters.count()
    await fitters.first.click()
    await page.get_by_role("button", name="Delete", exact=True).click()
    await shoot(page, f"delete-page-{theme}-{width}")
    await page.get_by_role("dialog").get_by_role("button", name="Delete").click()
    await expect(page.get_by_text("The page is deleted")).to_be_visible()
    await expect(fitters).to_have_count(pages - 1)
    await page.goto("/runs")
    await expect(page.get_by_role("link", name="Crawl of lumina").first).to_be_visible()
    assert await violations(page) == []
    await shoot(page, f"runs-{theme}-{width}")
    await page.goto("/new?source=crawl")
    await expect(page.get_by_label("Addresses")).to_be_visible()
    await shoot(page, f"new-{theme}-{width}")
    wide = await page.evaluate("document.documentElement.scrollWidth - innerWidth")
    assert wide <= 0


async def test_viewers_start_nothing(visit: Visit) -> None:
    page = await visit("/runs", role="viewer")
    await expect(page.get_by_role("heading", name="Crawl runs")).to_be_visible()
    await expect(page.get_by_role("link", name="New run")).to_have_count(0)
