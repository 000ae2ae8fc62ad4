"""Add a source, test it, ask all sources, compare prices and export, as people do."""

from __future__ import annotations

import json
import os
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import httpx2
import pytest
from playwright.async_api import Page, expect
from tests.browser.conftest import Visit
from tests.browser.house import House
from tests.browser.test_access import violations, wrong_in_both_themes

SHOTS = os.environ.get("PENSTOCK_SHOTS")


@pytest.fixture
def sandbox(house: House) -> Iterator[str]:
    house.start_sandbox()
    yield house.sandbox_url
    house.stop_sandbox()
    with house.client() as client:
        for one in client.get("/api/sources").json()["items"]:
            client.delete(f"/api/sources/{one['id']}")


def configs(sandbox: str) -> list[dict[str, Any]]:
    found = httpx2.get(f"{sandbox}/sandbox/shops").json()["sources"]
    return [one["config"] for one in found]


def add_all(house: House, sandbox: str) -> None:
    with house.client() as client:
        for config in configs(sandbox):
            made = client.post("/api/sources", json=config)
            assert made.status_code == 201, made.text


async def shot(page: Page, name: str) -> None:
    if SHOTS:
        await page.screenshot(path=str(Path(SHOTS) / f"{name}.png"), full_page=True)


async def test_a_source_is_added_refused_tested_and_deleted(visit: Visit, sandbox: str) -> None:
    page = await visit("/sources")
    await expect(page.get_by_role("heading", name="No sources yet")).to_be_visible()
    await page.get_by_role("button", name="New source").click()
    dialog = page.get_by_role("dialog")
    config = configs(sandbox)[0]
    broken = {**config, "mapping": {"title": "__import__('os')"}}
    await dialog.get_by_label("Configuration").fill(json.dumps(broken, indent=2))
    await dialog.get_by_role("button", name="Create").click()
    await expect(dialog.get_by_role("alert")).to_contain_text("line ")
    await expect(dialog.get_by_role("alert")).to_contain_text("there is no function")
    await dialog.get_by_label("Configuration").fill(json.dumps(config, indent=2))
    await dialog.get_by_role("button", name="Create").click()
    card = page.get_by_role("list", name="Sources").get_by_role("listitem")
    await expect(card.get_by_text("Not tested")).to_be_visible()
    await card.get_by_role("button", name="Test").click()
    await page.get_by_role("dialog").get_by_label("Search for").fill("Mug")
    await page.get_by_role("dialog").get_by_role("button", name="Test").click()
    await expect(page.get_by_role("dialog").get_by_text("records in")).to_be_visible()
    token = config["credentials"]["token"]
    assert token not in await page.content()
    await page.get_by_role("button", name="Close").click()
    await expect(card.get_by_text("Works", exact=True)).to_be_visible()
    await card.get_by_role("button", name="More for Sandbox JSON").click()
    await page.get_by_role("menuitem", name="Delete").click()
    await page.get_by_role("dialog").get_by_role("button", name="Delete").click()
    await expect(page.get_by_role("heading", name="No sources yet")).to_be_visible()


async def test_all_sources_are_asked_and_prices_compared(
    visit: Visit, house: House, sandbox: str
) -> None:
    add_all(house, sandbox)
    page = await visit("/research")
    await page.get_by_label("What are you looking for?").fill("o")
    await page.get_by_role("button", name="Save the query").click()
    await expect(page.get_by_role("list", name="Saved queries")).to_contain_text("o")
    await page.get_by_role("button", name="Search all sources").click()
    sources = page.get_by_role("region", name="Sources of this request")
    await expect(sources.get_by_text("Answered")).to_have_count(3, timeout=30_000)
    products = page.get_by_role("region", name="Products", exact=True)
    compare = products.get_by_role("button", name="Compare 3 offers").first
    await compare.click()
    await expect(products.get_by_text("lowest").first).to_be_visible()
    await expect(products.get_by_text("same GTIN").first).to_be_visible()
    await shot(page, "research-result")
    await page.get_by_role("button", name="Export").click()
    async with page.expect_download() as coming:
        await page.get_by_role("menuitem", name="CSV").click()
    text = Path(await (await coming.value).path()).read_text("utf-8")
    assert text.startswith("rank,score") or "rank" in text.splitlines()[0]
    assert "request" not in text.splitlines()[1]
    await page.get_by_role("link", name="Research", exact=True).first.click()
    await expect(page.get_by_text("You, today")).to_be_visible()


async def test_queries_quotas_and_the_secret_belong_to_the_org(
    visit: Visit, house: House, sandbox: str
) -> None:
    add_all(house, sandbox)
    page = await visit("/research")
    await page.get_by_label("What are you looking for?").fill("M8 bolts 1/2")
    await page.get_by_label("Region").fill("Germany")
    await page.get_by_role("button", name="Save the query").click()
    await expect(page.get_by_text("The query is saved for your org")).to_be_visible()
    await page.reload()
    saved = page.get_by_role("list", name="Saved queries")
    await saved.get_by_role("button", name="M8 bolts 1 2", exact=True).click()
    await expect(page.get_by_label("Region")).to_have_value("Germany")
    await saved.get_by_role("button", name="Delete M8 bolts 1 2").click()
    await expect(saved.get_by_text("M8 bolts 1 2")).to_have_count(0)
    await expect(page.get_by_role("button", name="Change", exact=True)).to_have_count(0)
    await page.goto("/webhooks")
    await page.get_by_role("button", name="Secret of requests").click()
    shown = page.get_by_role("dialog", name="The secret of requests")
    first = await shown.get_by_text("whsec_").inner_text()
    assert await violations(page) == []
    await shown.get_by_role("button", name="Replace").click()
    await (
        page.get_by_role("dialog", name="Replace the secret?")
        .get_by_role("button", name="Replace")
        .click()
    )
    await expect(page.get_by_text("The secret is replaced")).to_be_visible()
    await expect(shown.get_by_text("whsec_")).not_to_have_text(first)


async def test_an_admin_changes_quotas(visit: Visit, house: House, sandbox: str) -> None:
    add_all(house, sandbox)
    page = await visit("/research", role="admin")
    await page.get_by_role("button", name="Change", exact=True).click()
    dialog = page.get_by_role("dialog", name="Quotas of your org")
    await dialog.get_by_label("The org, per month").fill("5000")
    assert await violations(page) == []
    await dialog.get_by_role("button", name="Save").click()
    await expect(page.get_by_text("of 5,000")).to_be_visible()


@pytest.mark.parametrize("width", [1440, 390])
async def test_the_pages_are_accessible(
    visit: Visit, house: House, sandbox: str, width: int
) -> None:
    add_all(house, sandbox)
    page = await visit("/research")
    await page.set_viewport_size({"width": width, "height": 900})
    await expect(page.get_by_text("You, today")).to_be_visible()
    wrong = await wrong_in_both_themes(page, f"research-{width}")
    await page.get_by_label("What are you looking for?").fill("o")
    await page.get_by_role("button", name="Search all sources").click()
    await expect(page.get_by_text("Answered")).to_have_count(3, timeout=30_000)
    await page.get_by_role("button", name="Compare 3 offers").first.click()
    wrong += await wrong_in_both_themes(page, f"result-{width}")
    await page.goto("/sources")
    await expect(page.get_by_role("list", name="Sources").get_by_role("listitem")).to_have_count(3)
    wrong += await wrong_in_both_themes(page, f"sources-{width}")
    assert wrong == []
