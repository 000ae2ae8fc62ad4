"""Every page in both themes, wide and narrow, held to what assistive technology needs."""

from __future__ import annotations

import os
import re
from importlib.resources import files
from pathlib import Path
from typing import Any

import pytest
from playwright.async_api import Page, expect
from tests.browser.conftest import SAMPLE, Theme, Visit
from tests.browser.house import House

AXE = files("axe_playwright_python").joinpath("axe.min.js").read_text("utf-8")
_NOTHING_FADES = """document.getAnimations().every(
    one => one.playState !== "running" || one.effect.getTiming().iterations === Infinity
)"""
PAGES = {
    "/jobs": "Jobs",
    "/new": "New job",
    "/jobs/{job}": "AX.csv",
    "/jobs/{job}?tab=errors": "AX.csv",
    "/jobs/{job}?tab=pending": "AX.csv",
    "/jobs/{job}?tab=events": "AX.csv",
    "/jobs/{job}?tab=summary": "AX.csv",
    "/jobs/{job}?row=18": "Row 18",
    "/pending": "Pending",
    "/dead-letters": "Dead letters",
    "/products": "Products",
    "/connections": "Connections",
    "/providers": "Providers",
    "/research": "Research",
    "/sources": "Sources",
    "/watchers": "Watchers",
    "/schedules": "Schedules",
    "/new?source=shop": "New job",
    "/new?source=crawl": "New job",
    "/runs": "Crawl runs",
    "/pages": "Crawled pages",
    "/postings": "Job postings",
    "/monitor": "Monitor",
    "/webhooks": "Webhooks",
    "/settings/keys": "Settings",
    "/settings/notifications": "Settings",
    "/settings/profiles": "Settings",
    "/settings/account": "Settings",
    "/settings/users": "Settings",
    "/settings/audit": "Settings",
}

# Shown once their figures are there.
CHARTS = {"/jobs/{job}?tab=summary": "Duration by stage", "/monitor": "Works on"}


async def violations(page: Page, only: str | None = None) -> list[str]:
    """By the rules of axe (or one of them), with what breaks them."""
    # A transition's colours are of neither end.
    while not await page.evaluate(_NOTHING_FADES):
        await page.wait_for_timeout(50)
    if not await page.evaluate("'axe' in window"):
        await page.evaluate(AXE)
    rules = f", runOnly: ['{only}']" if only else ""
    found: dict[str, Any] = await page.evaluate(
        # Style sheets and media are fetched for rules that are tried out, and for videos.
        f"axe.run(document, {{resultTypes: ['violations'], preload: false{rules}}})"
    )
    return [
        f"{one['id']}: {one['help']}: {node['html'][:200]} {node.get('failureSummary', '')[:300]}"
        for one in found["violations"]
        for node in one["nodes"][:3]
    ]


async def wrong_in_both_themes(page: Page, name: str) -> list[str]:
    """What `violations` tells of the page as it stands, in the light and in the dark."""
    found = []
    themes: tuple[Theme, ...] = ("dark", "light")
    for theme in themes:
        await page.emulate_media(color_scheme=theme)
        await expect(page.locator("html.dark")).to_have_count(1 if theme == "dark" else 0)
        found += [f"{name}, {theme}: {one}" for one in await violations(page)]
        if folder := os.environ.get("PENSTOCK_SHOTS"):
            await page.screenshot(path=Path(folder, f"{name}-{theme}.png"), full_page=True)
    return found


@pytest.fixture(scope="module")
def job(house: House) -> str:
    return house.stock(SAMPLE, "AX")


@pytest.mark.timeout(300)
@pytest.mark.parametrize("width", [1440, 390])
async def test_every_page_is_accessible(visit: Visit, house: House, job: str, width: int) -> None:
    """In the dark only colours are others, so that only these are looked at again."""
    page = await visit("/jobs", role="admin", width=width)
    told = {}
    with house.client() as client:
        [product, *_] = client.get("/api/products?pageSize=1&q=AX-").json()["items"]
    for path, heading in {**PAGES, f"/products/{product['id']}": product["title"]}.items():
        await page.emulate_media(color_scheme="light")
        await page.goto(path.format(job=job))
        await expect(page.get_by_role("heading", name=heading).first).to_be_visible()
        if "tab=" not in path and "{job}" in path:
            await expect(page.get_by_text("AX-1001").first).to_be_visible()
        if path in CHARTS:
            await expect(page.get_by_text(CHARTS[path]).first).to_be_visible()
        wide = await page.evaluate("document.documentElement.scrollWidth - innerWidth")
        wrong = [*await violations(page), *(["wider than the window"] if wide > 0 else [])]
        await page.emulate_media(color_scheme="dark")
        await expect(page.locator("html")).to_have_class(re.compile("dark"))
        wrong += [f"dark: {one}" for one in await violations(page, "color-contrast")]
        told[path] = wrong
    assert {path: found for path, found in told.items() if found} == {}


async def test_the_way_in_is_accessible(visit: Visit) -> None:
    page = await visit("/jobs")
    await page.context.clear_cookies()
    await page.goto("/login")
    await expect(page.get_by_role("button", name="Sign in")).to_be_visible()
    assert await violations(page) == []


async def test_the_wizard_by_keyboard_alone(visit: Visit) -> None:
    page = await visit("/jobs")
    await expect(page.get_by_role("heading", name="Jobs", exact=True)).to_be_visible()
    await page.keyboard.press("n")
    await tab_to(page, "Try it with a sample file")
    await page.keyboard.press("Enter")
    await expect(page.get_by_text("Read as")).to_be_visible()
    for step in ("Columns", "Dry run", "Start"):
        assert await violations(page) == []
        await tab_to(page, step, last=True)
        await page.keyboard.press("Enter")
    await expect(page.get_by_text("What may be written")).to_be_visible()
    await tab_to(page, "Check the file")
    await page.keyboard.press("Enter")
    await expect(page.get_by_role("link", name="Done 32")).to_be_visible()
    await page.keyboard.press("e")
    await expect(page.get_by_role("tab", name="Errors", selected=True)).to_be_visible()
    await expect(page.get_by_role("row")).to_have_count(4)
    await page.keyboard.press("j")
    for _ in range(9):
        await page.keyboard.press("ArrowDown")
    for _ in range(2):
        await page.keyboard.press("ArrowUp")
    await page.keyboard.press("Enter")
    await expect(page.get_by_role("dialog", name=re.compile("^Row "))).to_be_visible()
    await page.keyboard.press("Escape")
    await page.keyboard.press("Control+k")
    await expect(page.get_by_role("combobox", name="Search or run a command")).to_be_focused()
    await page.keyboard.type("go to jobs")
    await page.keyboard.press("Enter")
    await expect(page.get_by_role("heading", name="Jobs", exact=True)).to_be_visible()


async def test_shortcuts_are_told_and_can_be_turned_off(visit: Visit) -> None:
    page = await visit("/jobs")
    await expect(page.get_by_role("heading", name="Jobs", exact=True)).to_be_visible()
    await page.keyboard.press("?")
    await page.get_by_label("Single keys are shortcuts").uncheck()
    await page.keyboard.press("Escape")
    await page.keyboard.press("n")
    await page.wait_for_timeout(200)
    assert page.url.endswith("/jobs")


async def tab_to(page: Page, name: str, *, last: bool = False) -> None:
    """Tab until what has the focus is called so; ``last``: the last such thing on the page."""
    wanted = page.get_by_role("button", name=name, exact=True)
    wanted = wanted.last if last else wanted.first
    await expect(wanted).to_be_enabled()
    for _ in range(80):
        if await wanted.evaluate("element => element === document.activeElement"):
            return
        await page.keyboard.press("Tab")
    raise AssertionError(f"no way to {name} by the tab key")
