"""Limits and circuits, phases of an import and thumbnails, as people see them."""

from __future__ import annotations

import httpx2
import pytest
from playwright.async_api import Page, expect
from tests.browser.conftest import Visit
from tests.browser.house import House
from tests.browser.test_shops import _wrong, sandbox

__all__ = ["sandbox"]


@pytest.fixture
def connection(house: House, sandbox: str) -> str:
    shops = httpx2.get(f"{sandbox}/sandbox/shops").json()["shops"]
    shop = next(one for one in shops if one["provider"] == "shopify")
    with house.client() as client:
        made = client.post("/api/connections", json={"name": "Seen", **shop})
        return str(made.json()["id"])


async def wrong_with(page: Page, name: str) -> list[str]:
    """As it stands, wide and narrow."""
    found = []
    for width in (390, 1440):
        await page.set_viewport_size({"width": width, "height": 900})
        found += await _wrong(page, name, width)
    return found


async def test_an_import_is_watched_and_its_provider_reset(
    visit: Visit, house: House, sandbox: str, connection: str
) -> None:
    with house.client() as client:
        asked = {"connectionId": connection, "all": True}
        job_id = client.post("/api/products/import", json=asked).json()["jobId"]
    page = await visit(f"/jobs/{job_id}")
    phases = page.get_by_role("list", name="Phases of the import")
    await expect(phases.get_by_role("listitem")).to_have_count(7)
    await expect(page.get_by_text("45 products from shopify")).to_be_visible()
    wrong = await wrong_with(page, "phases")
    house.wait_for(job_id)
    await page.reload()
    await expect(phases.locator("[aria-current=step]")).to_have_count(0)

    await page.goto("/products")
    picture = page.locator("img").first
    await expect(picture).to_be_visible()
    await page.wait_for_function(
        "one => one.complete && one.naturalWidth > 0", arg=await picture.element_handle()
    )
    wrong += await wrong_with(page, "imported")

    await page.goto("/providers")
    shopify = page.get_by_role("region", name="shopify", exact=True)
    await expect(shopify.get_by_text("Working").first).to_be_visible()
    await expect(shopify).to_contain_text("2 calls a second, 40 at once")
    wrong += await wrong_with(page, "providers")
    await shopify.get_by_role("button", name="Reset").click()
    await expect(shopify.get_by_role("button", name="Reset")).to_be_enabled()
    assert wrong == []
