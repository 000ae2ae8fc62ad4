"""Schedules, retention and feeds, as people use them."""

from __future__ import annotations

import os
from pathlib import Path

import pytest
from playwright.async_api import Locator, Page, expect
from tests.browser.conftest import Visit
from tests.browser.house import House
from tests.browser.test_access import violations, wrong_in_both_themes
from tests.guards.servers import answering, serving

SHOTS = os.environ.get("PENSTOCK_SHOTS")


async def shot(page: Page, name: str) -> None:
    if SHOTS:
        await page.screenshot(path=str(Path(SHOTS) / f"{name}.png"), full_page=True)


async def test_a_schedule_is_made_run_paused_and_deleted(visit: Visit, house: House) -> None:
    async with serving(answering(body=b"sku,title\nSCH-1,Hammer\n")) as seen:
        page = await visit("/schedules")
        await expect(page.get_by_role("heading", name="No schedules yet")).to_be_visible()
        await page.get_by_role("button", name="New schedule").click()
        dialog = page.get_by_role("dialog")
        await dialog.get_by_label("Name").fill("Price list")
        await dialog.get_by_label("Address of the file").fill(
            f"http://127.0.0.1:{seen.port}/goods.csv"
        )
        await dialog.get_by_label("Products").select_option("Create and update")
        await dialog.get_by_label("Source (optional)").fill("scheduled")
        await choose_how_often(dialog)
        await dialog.get_by_label("Time zone").select_option("Europe/Berlin")
        await dialog.get_by_role("button", name="Create").click()
        await page.get_by_role("button", name="Show Price list").click()
        shown = page.get_by_role("dialog")
        await expect(
            shown.get_by_role("region", name="Next runs").get_by_role("listitem")
        ).to_have_count(5)
        await shown.get_by_role("button", name="Run now").click()
        runs = shown.get_by_role("region", name="Runs", exact=True)
        await expect(runs.get_by_text("done", exact=True)).to_be_visible()
        await expect(runs.get_by_role("link", name="Job")).to_be_visible()
        with house.client() as client:
            written = client.get("/api/products", params={"source": "scheduled"}).json()["items"]
        assert [one["sku"] for one in written] == ["SCH-1"]
        await shown.get_by_role("button", name="Pause").click()
        await expect(shown.get_by_text("Paused by a user.")).to_be_visible()
        await shown.get_by_role("button", name="Resume").click()
        await expect(shown.get_by_role("button", name="Pause")).to_be_visible()
        await shown.get_by_role("button", name="Delete").click()
        await (
            page.get_by_role("dialog", name="Delete Price list?")
            .get_by_role("button", name="Delete")
            .click()
        )
        await expect(page.get_by_role("heading", name="No schedules yet")).to_be_visible()


async def choose_how_often(dialog: Locator) -> None:
    """A cron expression that is wrong, then a choice that needs none."""
    often = dialog.get_by_label("How often")
    await expect(often).to_have_value("day")
    await often.select_option("Other (cron expression)")
    cron = dialog.get_by_label("Cron expression")
    await cron.fill("61 * * * *")
    await expect(dialog.get_by_text("is not allowed as minute")).to_be_visible()
    await often.select_option("Every week")
    await dialog.get_by_label("On", exact=True).select_option("Friday")
    await dialog.get_by_label("At", exact=True).fill("17:30")
    await expect(dialog.get_by_text("Next: ")).to_contain_text("5:30 PM")
    await often.select_option("Other (cron expression)")
    await expect(cron).to_have_value("30 17 * * FRI")
    await often.select_option("Every working day")


async def test_a_schedule_is_edited(visit: Visit) -> None:
    page = await visit("/schedules")
    await page.get_by_role("button", name="New schedule").click()
    dialog = page.get_by_role("dialog")
    await dialog.get_by_label("Name").fill("Night crawl")
    await dialog.get_by_label("What it does").select_option("crawl")
    await dialog.get_by_label("Company").fill("acme")
    await dialog.get_by_label("Addresses").fill("https://a.example/1\nhttps://a.example/2")
    await dialog.get_by_role("button", name="Create").click()
    await expect(dialog.get_by_text("one sitemap")).to_be_visible()
    await dialog.get_by_label("Pages").select_option("urls")
    await dialog.get_by_role("button", name="Create").click()
    await page.get_by_role("button", name="Show Night crawl").click()
    await page.get_by_role("button", name="Edit").click()
    form = page.get_by_role("dialog", name="Edit Night crawl")
    await expect(form.get_by_label("Addresses")).to_have_value(
        "https://a.example/1\nhttps://a.example/2"
    )
    await form.get_by_label("What it does").select_option("export")
    await form.get_by_label("Format").select_option("xlsx")
    await form.get_by_label("Send to").select_option("url")
    await form.get_by_label("Address").fill("https://files.example/upload")
    await form.get_by_label("Runs", exact=True).select_option("once")
    await form.get_by_label("When").fill("2031-05-06T07:08")
    assert await violations(page) == []
    await shot(page, "schedule-edit")
    await form.get_by_role("button", name="Save").click()
    await expect(page.get_by_text("The schedule is saved")).to_be_visible()
    await expect(page.get_by_text("products as XLSX to files.example").first).to_be_visible()
    shown = page.get_by_role("dialog")
    await expect(shown.get_by_text("2031")).to_have_count(1)
    await shown.get_by_role("button", name="Delete").click()
    await (
        page.get_by_role("dialog", name="Delete Night crawl?")
        .get_by_role("button", name="Delete")
        .click()
    )
    await expect(page.get_by_role("heading", name="No schedules yet")).to_be_visible()


async def test_retention_is_changed_by_admins(visit: Visit) -> None:
    page = await visit("/settings/retention", role="admin")
    rows = page.get_by_role("row", name="Rows and results")
    await expect(rows).to_contain_text("90 days")
    await page.get_by_role("button", name="Change", exact=True).click()
    await page.get_by_role("dialog").get_by_label("Rows (days)").fill("30")
    await page.get_by_role("dialog").get_by_role("button", name="Save").click()
    await expect(rows).to_contain_text("30 days")
    await page.get_by_role("button", name="What would be deleted").click()
    await expect(page.get_by_text("Nothing is old enough.")).to_be_visible()
    member = await visit("/settings/retention")
    await expect(member.get_by_role("row", name="Rows and results")).to_contain_text("30 days")
    await expect(member.get_by_role("button", name="Change", exact=True)).to_have_count(0)


async def test_a_feed_is_made_and_checked(visit: Visit, house: House) -> None:
    page = await visit("/settings/feeds")
    await page.get_by_role("button", name="New feed").click()
    await page.get_by_role("dialog").get_by_label("Name").fill("Google")
    await page.get_by_role("dialog").get_by_role("button", name="Create").click()
    told = page.get_by_role("dialog").get_by_text("/feeds/")
    await expect(told).to_be_visible()
    address = (await told.inner_text()).split()[0]
    assert (await page.request.get(address)).ok
    await page.get_by_role("button", name="I have saved it").click()
    await page.get_by_role("button", name="Check Google").click()
    await expect(page.get_by_text("not built yet")).to_have_count(0)
    with house.client() as client:
        for one in client.get("/api/feeds").json()["items"]:
            client.delete(f"/api/feeds/{one['id']}")


@pytest.mark.parametrize("width", [1440, 390])
async def test_the_pages_are_accessible(visit: Visit, house: House, width: int) -> None:
    action = {"kind": "file", "url": "http://127.0.0.1:9/goods.csv"}
    order = {"name": "Price list", "cron": "0 6 * * *", "timeZone": "UTC", "action": action}
    with house.client() as client:
        made = client.post("/api/schedules", json=order).json()
        feed = client.post("/api/feeds", json={"name": "Google"}).json()
    try:
        page = await visit("/schedules", width=width)
        await expect(page.get_by_role("button", name="Show Price list")).to_be_visible()
        wrong = await wrong_in_both_themes(page, f"schedules-{width}")
        await page.get_by_role("button", name="Show Price list").click()
        await expect(page.get_by_role("heading", name="Next runs")).to_be_visible()
        wrong += await wrong_in_both_themes(page, f"schedule-{width}")
        await page.keyboard.press("Escape")
        await page.get_by_role("button", name="New schedule").click()
        await expect(page.get_by_role("dialog").get_by_text("Next: ")).to_be_visible()
        wrong += await wrong_in_both_themes(page, f"new-schedule-{width}")
        for part, text in (("retention", "Rows and results"), ("feeds", "Google")):
            await page.goto(f"/settings/{part}")
            await expect(page.get_by_text(text).first).to_be_visible()
            wrong += await wrong_in_both_themes(page, f"{part}-{width}")
        assert wrong == []
    finally:
        with house.client() as client:
            client.delete(f"/api/schedules/{made['id']}")
            client.delete(f"/api/feeds/{feed['id']}")
