"""Watch a folder, scan it, and look at what became of its files, as people do."""

from __future__ import annotations

import os
import re
from pathlib import Path

import pytest
from playwright.async_api import Locator, Page, expect
from tests.browser.conftest import Theme, Visit
from tests.browser.house import House
from tests.browser.test_access import violations


@pytest.fixture
def folder(house: House) -> Path:
    made = house.folder / "watched" / "acme"
    made.mkdir(parents=True, exist_ok=True)
    (made / "goods.csv").write_bytes(b"sku,title,price\n1,Hammer,9.90\n")
    (made / "broken.csv").write_bytes(b"")
    for name in ("goods.csv", "broken.csv"):
        (made / f"{name}.done").write_bytes(b"")
    return made


async def edit(page: Page, card: Locator, name: str) -> None:
    await card.get_by_role("button", name=f"More for {name}").click()
    await page.get_by_role("menuitem", name="Edit").click()
    form = page.get_by_role("dialog", name=f"Edit {name}")
    await expect(form.get_by_label("Source (optional)")).to_have_value("acme")
    await form.get_by_label("Taken files").select_option("rename")
    await form.get_by_label("Seconds between scans").fill("3600")
    assert await violations(page) == []
    await form.get_by_role("button", name="Save").click()
    await expect(card.get_by_text("every 3,600 s")).to_be_visible()
    await expect(card.get_by_text("Rename them to NAME.taken")).to_be_visible()


@pytest.mark.parametrize(("theme", "width"), [("light", 1440), ("dark", 390)])
async def test_a_folder_is_watched(
    visit: Visit, house: House, folder: Path, theme: Theme, width: int
) -> None:
    page = await visit("/watchers", theme=theme)
    await page.set_viewport_size({"width": width, "height": 900})
    name = f"Acme {theme} {width}"
    await page.get_by_role("button", name="New watcher").first.click()
    dialog = page.get_by_role("dialog")
    await dialog.get_by_label("Kind of place").select_option("sftp")
    await expect(dialog.get_by_label("Private key (optional)")).to_be_visible()
    assert await violations(page) == []
    await dialog.get_by_label("Kind of place").select_option("folder")
    await dialog.get_by_label("Address").fill("/etc")
    await dialog.get_by_role("button", name="Test and create").click()
    await expect(dialog.get_by_text("PENSTOCK_WATCH_ROOTS")).to_be_visible()
    await dialog.get_by_label("Address").fill(str(folder))
    await dialog.get_by_label("Name (optional)").fill(name)
    await dialog.get_by_label("Complete when").select_option("marker")
    await dialog.get_by_label("Source (optional)").fill("acme")
    await dialog.get_by_role("button", name="Test and create").click()
    card = page.get_by_role("list", name="Watchers").get_by_role("listitem").filter(has_text=name)
    await expect(card).to_be_visible()
    await card.get_by_role("button", name="Scan now").click()
    await expect(card.get_by_text("Works", exact=True)).to_be_visible()
    await expect(card.get_by_text("Check only")).to_be_visible()
    assert await violations(page) == []
    await card.get_by_role("button", name="Files").click()
    drawer = page.get_by_role("dialog")
    await expect(drawer.get_by_text("goods.csv")).to_be_visible()
    await expect(drawer.get_by_text("EMPTY_FILE")).to_be_visible()
    assert await violations(page) == []
    await drawer.get_by_role("button", name="Retry broken.csv").click()
    await expect(page.get_by_text("The next scan tries it again").first).to_be_visible()
    shots = os.environ.get("PENSTOCK_TEST_SHOTS")
    if shots:
        await page.screenshot(path=f"{shots}/files-{theme}-{width}.png")
    await drawer.get_by_role("link", name="Open").click()
    await expect(page).to_have_url(re.compile(r"/jobs/[0-9a-f-]{36}"))
    await page.go_back()
    await page.keyboard.press("Escape")
    if shots:
        await page.screenshot(path=f"{shots}/watchers-{theme}-{width}.png")
    await edit(page, card, name)
    await card.get_by_role("button", name=f"More for {name}").click()
    await page.get_by_role("menuitem", name="Pause").click()
    await expect(card.get_by_text("Paused", exact=True)).to_be_visible()
    await card.get_by_role("button", name=f"More for {name}").click()
    await page.get_by_role("menuitem", name="Delete").click()
    await page.get_by_role("button", name="Delete").click()
    await expect(card).to_have_count(0)
