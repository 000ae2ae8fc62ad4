"""Connect shops, choose products of one, and import them, as people do."""

from __future__ import annotations

import os
import re
from collections.abc import Iterator
from pathlib import Path

import httpx2
import pytest
from playwright.async_api import Locator, Page, expect
from tests.browser.conftest import Theme, Visit
from tests.browser.house import House
from tests.browser.test_access import violations


@pytest.fixture
def sandbox(house: House) -> Iterator[str]:
    house.start_sandbox()
    yield house.sandbox_url
    house.stop_sandbox()
    with house.client() as client:
        for one in client.get("/api/connections").json()["items"]:
            client.delete(f"/api/connections/{one['id']}")


def credentials(sandbox: str, provider: str) -> dict[str, str]:
    shops = httpx2.get(f"{sandbox}/sandbox/shops").json()["shops"]
    found: dict[str, str] = next(s for s in shops if s["provider"] == provider)["credentials"]
    return found


def card_of(page: Page, name: str) -> Locator:
    """Within the list: toasts are items of lists, too."""
    return (
        page.get_by_role("list", name="Connections").get_by_role("listitem").filter(has_text=name)
    )


async def connect_demo(page: Page) -> None:
    await page.get_by_role("button", name="Connect the sandbox").click()
    await expect(page.get_by_text("3 demo shops are connected")).to_be_visible()
    await expect(page.get_by_text("Works", exact=True)).to_have_count(3)


async def test_a_shop_is_connected_with_its_credentials(visit: Visit, sandbox: str) -> None:
    page = await visit("/connections")
    await expect(page.get_by_role("heading", name="No shops yet")).to_be_visible()
    await page.get_by_role("button", name="New connection").click()
    dialog = page.get_by_role("dialog")
    await dialog.get_by_label("Kind of shop").select_option("woocommerce")
    await dialog.get_by_label("Address").fill(f"{sandbox}/woocommerce/demo")
    await dialog.get_by_label("Name (optional)").fill("Corner shop")
    given = credentials(sandbox, "woocommerce")
    await dialog.get_by_label("Consumer key").fill(given["consumerKey"])
    await dialog.get_by_label("Consumer secret").fill("cs_wrong")
    await dialog.get_by_role("button", name="Connect and test").click()
    card = card_of(page, "Corner shop")
    await expect(card.get_by_text("Fails", exact=True)).to_be_visible()
    await expect(card).to_contain_text("does not accept the credentials")

    await card.get_by_role("button", name="More for Corner shop").click()
    await page.get_by_role("menuitem", name="Replace credentials").click()
    for label, name in (("Consumer key", "consumerKey"), ("Consumer secret", "consumerSecret")):
        await page.get_by_role("dialog").get_by_label(label).fill(given[name])
    await page.get_by_role("button", name="Replace and test").click()
    await expect(card.get_by_text("Works", exact=True)).to_be_visible()
    await expect(card).to_contain_text("45")

    await card.get_by_role("button", name="More for Corner shop").click()
    await page.get_by_role("menuitem", name="Rename").click()
    await page.get_by_role("dialog").get_by_label("Name").fill("Market shop")
    await page.get_by_role("button", name="Rename").click()
    card = card_of(page, "Market shop")
    await card.get_by_role("button", name="More for Market shop").click()
    await page.get_by_role("menuitem", name="Delete").click()
    await expect(page.get_by_role("dialog")).to_contain_text("stay in the catalog")
    await page.get_by_role("dialog").get_by_role("button", name="Delete").click()
    await expect(page.get_by_role("heading", name="No shops yet")).to_be_visible()


async def test_a_shop_is_connected_at_shopify(visit: Visit, sandbox: str) -> None:
    page = await visit("/connections")
    await page.get_by_role("button", name="New connection").click()
    dialog = page.get_by_role("dialog")
    await expect(dialog.get_by_label("Admin API access token")).to_have_count(0)
    await dialog.get_by_label("Address").fill(f"{sandbox}/shopify/demo")
    await dialog.get_by_role("button", name="Continue at Shopify").click()
    await page.wait_for_url(re.compile("/connections$"))
    await expect(card_of(page, "Shopify").get_by_text("Works", exact=True)).to_be_visible()
    # What comes back without a state that was begun here connects nothing.
    await page.goto("/connections/install?code=1&hmac=00&shop=x&state=forged&timestamp=1")
    await expect(page.get_by_role("alert")).to_contain_text("cannot be connected")


async def test_chosen_products_are_imported(visit: Visit, house: House, sandbox: str) -> None:
    page = await visit("/connections")
    await connect_demo(page)
    card = card_of(page, "Demo Shopify")
    await card.get_by_role("link", name="Import").click()
    await expect(page.get_by_text("All products of the shop are imported.")).to_be_visible()
    products = page.get_by_role("region", name="Products", exact=True)
    await expect(products.get_by_role("row")).to_have_count(21)
    await page.get_by_role("button", name="Choose some").click()
    start = page.get_by_role("button", name=re.compile("^Import 0 products"))
    await expect(start).to_be_disabled()
    await products.get_by_role("checkbox").nth(1).check()
    await products.get_by_role("checkbox").nth(3).check()
    await expect(page.get_by_text("2 products selected.")).to_be_visible()
    title = await products.get_by_role("row").nth(1).locator("td").nth(1).inner_text()
    word = title.split()[0]
    await page.get_by_role("searchbox", name="Search the shop").fill(word)
    await page.keyboard.press("Enter")
    await page.get_by_role("button", name=re.compile(r"Select all \d+ matching")).click()
    await expect(page.get_by_text(re.compile(r"^([3-9]|\d\d) products selected"))).to_be_visible()
    await page.get_by_role("button", name=re.compile(r"^Import \d+ products$")).click()
    await page.wait_for_url(re.compile("/jobs/"))
    job_id = page.url.rpartition("/")[2]
    house.wait_for(job_id, "done")
    await page.goto("/connections")
    card = card_of(page, "Demo Shopify")
    await expect(card.get_by_role("button", name="Sync now")).to_be_visible()
    await page.goto("/products?q=" + word)
    await expect(page.get_by_role("region", name="Products")).to_contain_text(word)


async def test_a_sync_imports_the_shop_and_a_failure_is_told(
    visit: Visit, house: House, sandbox: str
) -> None:
    page = await visit("/connections")
    await connect_demo(page)
    card = card_of(page, "Demo Roastify")
    await card.get_by_role("button", name="Sync now").click()
    await page.wait_for_url(re.compile("/jobs/"))
    job_id = page.url.rpartition("/")[2]
    with house.client() as client:
        client.post(f"/api/jobs/{job_id}/cancel")
    await page.goto("/connections")
    httpx2.post(f"{sandbox}/sandbox/faults", json={"share": 1, "kinds": ["expired"]})
    card = card_of(page, "Demo Shopify")
    await card.get_by_role("button", name="Test").click()
    await expect(card.get_by_text("Fails", exact=True)).to_be_visible()
    await page.goto("/new?source=shop")
    await page.get_by_label("Shop", exact=True).select_option(label="Demo Shopify (Shopify)")
    await expect(page.get_by_role("alert")).to_contain_text("does not accept the credentials")


async def test_sources_of_the_sandbox_are_added(visit: Visit, house: House, sandbox: str) -> None:
    page = await visit("/sources")
    await page.get_by_role("button", name="Add sandbox sources").click()
    await expect(page.get_by_text("3 demo sources are added")).to_be_visible()
    await expect(page.get_by_role("list", name="Sources").get_by_role("listitem")).to_have_count(3)
    with house.client() as client:
        for one in client.get("/api/sources").json()["items"]:
            assert client.delete(f"/api/sources/{one['id']}").is_success


async def test_a_viewer_connects_and_imports_nothing(visit: Visit, sandbox: str) -> None:
    page = await visit("/connections", role="viewer")
    await expect(page.get_by_role("heading", name="No shops yet")).to_be_visible()
    assert await page.get_by_role("button", name="New connection").count() == 0
    assert await page.get_by_role("button", name="Connect the sandbox").count() == 0


@pytest.mark.parametrize("width", [1440, 390])
async def test_the_pages_of_shops_are_accessible(visit: Visit, sandbox: str, width: int) -> None:
    page = await visit("/connections", width=width)
    await connect_demo(page)
    httpx2.post(f"{sandbox}/sandbox/faults", json={"share": 1, "kinds": ["expired"]})
    roastify = card_of(page, "Demo Roastify")
    await roastify.get_by_role("button", name="Test").click()
    await expect(roastify.get_by_text("Fails", exact=True)).to_be_visible()
    httpx2.post(f"{sandbox}/sandbox/faults", json={})
    wrong = await _wrong(page, "cards", width)
    await page.get_by_role("button", name="New connection").click()
    await page.get_by_role("dialog").get_by_label("Kind of shop").select_option("woocommerce")
    wrong += await _wrong(page, "dialog", width)
    await page.keyboard.press("Escape")
    await card_of(page, "Demo Shopify").get_by_role("link", name="Import").click()
    await page.get_by_role("button", name="Choose some").click()
    await page.get_by_role("checkbox").nth(2).check()
    await expect(page.get_by_text("1 product selected.")).to_be_visible()
    wrong += await _wrong(page, "picker", width)
    assert wrong == []


async def _wrong(page: Page, name: str, width: int) -> list[str]:
    """What axe objects to in both themes, and whether the page is wider than the window."""
    found = []
    themes: tuple[Theme, ...] = ("light", "dark")
    for theme in themes:
        await page.emulate_media(color_scheme=theme)
        is_dark = page.locator("html.dark")
        await expect(is_dark).to_have_count(1 if theme == "dark" else 0)
        found += [f"{name} {theme}: {one}" for one in await violations(page)]
        folder = os.environ.get("PENSTOCK_SCREENSHOTS")
        if folder:
            await page.screenshot(path=Path(folder, f"{name}-{theme}-{width}.png"))
    await page.emulate_media(color_scheme="light")
    main = "document.getElementById('main')"
    wide = await page.evaluate(f"{main}.scrollWidth - {main}.clientWidth")
    return [*found, *([f"{name}: wider than the window"] if wide > 0 else [])]


async def test_credentials_that_a_shop_refuses_are_not_stored(visit: Visit, sandbox: str) -> None:
    page = await visit("/connections")
    await connect_demo(page)
    card = card_of(page, "Demo Shopify")
    await card.get_by_role("button", name="More for Demo Shopify").click()
    await page.get_by_role("menuitem", name="Replace credentials").click()
    dialog = page.get_by_role("dialog")
    await dialog.locator("input[type=password]").first.fill("wrong-token")
    await dialog.get_by_role("button", name="Replace and test").click()
    await expect(dialog.get_by_role("alert")).to_contain_text("The old ones are kept")
    await dialog.get_by_role("button", name="Cancel").click()
    await expect(card.get_by_text("Works", exact=True)).to_be_visible()
