"""Dead letters, products, Pending, keys, webhooks and the monitor, as people use them."""

from __future__ import annotations

import re

import pytest
from playwright.async_api import Route, expect
from tests.browser.conftest import SAMPLE, Visit
from tests.browser.house import House
from tests.browser.test_access import violations


@pytest.fixture
def failed(house: House) -> str:
    """A job that fails for good: its mapping names a column that the file does not have."""
    job_id = house.upload(SAMPLE, name="Wrong mapping", config='{"mapping": {"Preis": "price"}}')
    house.wait_for(job_id, "failed")
    return job_id


async def test_a_dead_letter_is_judged_run_again_and_discarded(
    visit: Visit, house: House, failed: str
) -> None:
    page = await visit("/dead-letters")
    group = page.get_by_role("button", name=re.compile("INVALID_CONFIG"))
    await group.first.click()
    await page.get_by_role("button", name=re.compile("Wrong mapping")).first.click()
    drawer = page.get_by_role("dialog")
    await expect(drawer).to_contain_text("The mapping names columns the file does not have")
    await expect(drawer.get_by_role("link", name=failed)).to_be_visible()
    await drawer.get_by_role("button", name="Run again").click()
    await page.get_by_role("dialog").get_by_role("button", name="Run again").last.click()
    await expect(page.get_by_text("1 letter run again")).to_be_visible()
    with house.client() as client:
        [letter] = [
            one
            for one in client.get("/api/dead-letters?state=reprocessed").json()["items"]
            if one["jobId"] == failed
        ]
    house.wait_for(letter["newJobId"], "failed")

    await page.goto("/dead-letters")
    await page.get_by_role("button", name=re.compile("Discard all of INVALID_CONFIG")).first.click()
    discard = page.get_by_role("dialog").get_by_role("button", name="Discard")
    await expect(discard).to_be_disabled()
    await page.get_by_label("Why").fill("the supplier renamed the column")
    await discard.click()
    await expect(page.get_by_text(re.compile("letters? discarded"))).to_be_visible()


async def test_a_viewer_changes_nothing(visit: Visit, failed: str) -> None:
    page = await visit("/dead-letters", role="viewer")
    await expect(page.get_by_text("INVALID_CONFIG").first).to_be_visible()
    assert await page.get_by_role("button", name="Run again").count() == 0
    await page.goto("/webhooks")
    await expect(page.get_by_role("heading", name="No endpoints yet")).to_be_visible()
    assert await page.get_by_role("button", name="New endpoint").count() == 0


async def test_a_product_shows_lineage_and_history(visit: Visit, house: House) -> None:
    house.stock(SAMPLE, "LH")
    page = await visit("/products")
    await page.get_by_label("Search products").fill("LH-1001")
    await page.keyboard.press("Enter")
    rows = page.get_by_role("region", name="Products").get_by_role("row")
    await rows.filter(has_text="LH-1001").get_by_role("link").first.click()
    await expect(page.get_by_role("heading", name="Origin of each value")).to_be_visible()
    await expect(page.get_by_role("region", name="Lineage")).to_contain_text("title")
    await expect(page.get_by_text("created").first).to_be_visible()
    await page.get_by_role("link", name=re.compile("row 1$")).click()
    await expect(page.get_by_role("heading", name="Row 1")).to_be_visible()


async def test_pending_as_a_member_and_as_an_admin(visit: Visit, house: House) -> None:
    job_id = house.submit(items=2000, workMs=200)
    member = await visit("/pending")
    rows = member.get_by_role("region", name="Open rows")
    await expect(rows.get_by_role("link").first).to_be_visible()
    assert await member.get_by_label("Whose").count() == 0
    admin = await visit("/pending", role="admin")
    await expect(admin.get_by_text("No waiting rows")).to_be_visible()
    await admin.get_by_role("radio", name="Everyone's").click()
    await expect(
        admin.get_by_role("region", name="Open rows").get_by_role("link").first
    ).to_be_visible()
    with house.client() as client:
        client.post(f"/api/jobs/{job_id}/cancel")
    house.wait_for(job_id, "cancelled")


async def test_rows_that_wait_are_tried_now(visit: Visit, house: House) -> None:
    """Each is not found at first, and would be tried again after a quarter of an hour."""
    job_id = house.submit(items=40, failEvery=1, failHow="notFound", failTimes=1)
    page = await visit(f"/pending?job={job_id}")
    rows = page.get_by_role("region", name="Open rows").get_by_role("row")
    await expect(rows.filter(has_text="next try")).to_have_count(40)
    for number in (3, 5):
        await page.get_by_role("checkbox", name=f"Select row {number} of noop", exact=True).check()
    await page.get_by_role("button", name="Try now").click()
    await page.get_by_role("dialog").get_by_role("button", name="Try 2 rows now").click()
    await expect(page.get_by_text("2 rows are tried now")).to_be_visible()
    await expect(rows.filter(has_text="next try")).to_have_count(38)

    await page.goto(f"/jobs/{job_id}?tab=pending")
    chosen = page.get_by_role("checkbox", name=re.compile("^Select row"))
    await page.get_by_label("Search in the rows").fill("17")
    await expect(chosen).to_have_count(1)
    await page.get_by_label("Search in the rows").fill("no such row")
    await expect(page.get_by_text("No waiting row matches")).to_be_visible()
    assert await violations(page) == []
    await page.get_by_label("Search in the rows").fill("")
    await expect(chosen).to_have_count(38)
    await page.get_by_role("checkbox", name="Select row 1", exact=True).check()
    await page.get_by_role("button", name="Select all 38 matching").click()
    await page.get_by_role("button", name="Try now").click()
    await page.get_by_role("dialog").get_by_role("button", name="Try all that match now").click()
    await expect(page.get_by_text("38 rows are tried now")).to_be_visible()
    await expect(page.get_by_role("link", name="Done 40")).to_be_visible()


async def test_a_key_is_shown_once_works_and_is_revoked(visit: Visit, house: House) -> None:
    page = await visit("/settings/keys")
    await page.get_by_role("button", name="New key").click()
    await page.get_by_label("Name").fill("nightly import")
    await page.get_by_role("button", name="Create").click()
    key = await page.get_by_role("dialog").locator("code").inner_text()
    assert key.startswith("pk_")
    await page.get_by_role("button", name="I have saved it").click()
    row = page.get_by_role("row").filter(has_text="nightly import")
    await expect(row).to_contain_text("read, write")
    house.keys["nightly"] = key
    with house.client("nightly") as client:
        assert client.get("/api/jobs").status_code == 200
    await row.get_by_role("button", name="Revoke").click()
    await page.get_by_role("dialog").get_by_role("button", name="Revoke").click()
    await expect(row).to_contain_text("revoked")
    with house.client("nightly") as client:
        assert client.get("/api/jobs").status_code == 401


async def test_an_endpoint_is_made_and_deleted(visit: Visit) -> None:
    page = await visit("/webhooks", role="admin")
    await page.get_by_role("button", name="New endpoint").click()
    await page.get_by_label("Address").fill("https://hooks.example.com/penstock")
    await page.get_by_role("button", name="Create").click()
    await expect(page.get_by_role("dialog")).to_contain_text("whsec_")
    await page.get_by_role("button", name="I have saved it").click()
    await page.get_by_role("button", name="https://hooks.example.com/penstock").click()
    await expect(page.get_by_role("dialog")).to_contain_text("job.completed, job.failed")
    await page.get_by_role("button", name="Delete").click()
    await page.get_by_role("dialog").get_by_role("button", name="Delete").last.click()
    await expect(page.get_by_role("heading", name="No endpoints yet")).to_be_visible()


async def test_the_monitor_says_whether_all_is_well(visit: Visit, house: House) -> None:
    page = await visit("/monitor", role="admin")
    await expect(page.get_by_role("region", name="Workers")).to_be_visible()
    await expect(page.get_by_role("img", name=re.compile("Rows finished"))).to_be_visible()
    lane = page.get_by_role("row").filter(has_text="basic")
    await lane.get_by_role("button", name="Pause").click()
    await expect(lane).to_contain_text("Paused")
    await lane.get_by_role("button", name="Resume").click()
    await expect(lane).to_contain_text("Open")
    member = await visit("/jobs")
    assert await member.get_by_role("link", name="Monitor").count() == 0


async def test_only_open_alerts_can_be_silenced(visit: Visit) -> None:
    at = "2026-11-19T12:00:00Z"
    alert = {
        "key": "depth", "event": "queue.depth", "severity": "warning", "value": 1, "threshold": 1,
        "openedAt": at, "updatedAt": at, "resolvedAt": at, "silencedUntil": None,
        "silenceReason": None, "runbook": "docs/runbook.md",
    }  # fmt: skip
    shown = [
        alert | {"id": "01a1f623-0000-7000-8000-000000000001", "message": "Depth is high",
                 "resolvedAt": None},
        alert | {"id": "01a1f623-0000-7000-8000-000000000002", "message": "Depth was high"},
        alert | {"id": "01a1f623-0000-7000-8000-000000000003", "message": "Depth was told",
                 "silencedUntil": at},
    ]  # fmt: skip
    orders = []

    async def listed(route: Route) -> None:
        await route.fulfill(json={"items": shown, "next": None})

    async def silenced(route: Route) -> None:
        orders.append((route.request.url.split("/")[-2][-1], route.request.post_data_json))
        shown[2]["silencedUntil"] = None
        await route.fulfill(json=shown[2])

    page = await visit("/jobs", role="admin")
    await page.route("**/api/monitor/alerts?*", listed)
    await page.route("**/api/monitor/alerts/*/silence", silenced)
    await page.goto("/monitor")
    alerts = page.get_by_role("region", name="Alerts").get_by_role("row")
    opened = alerts.filter(has_text="Depth is high")
    await expect(opened.get_by_role("button", name="Silence")).to_be_visible()
    await expect(alerts.filter(has_text="Depth was high").get_by_role("button")).to_have_count(0)
    quiet = alerts.filter(has_text="Depth was told")
    assert await violations(page) == []
    await quiet.get_by_role("button", name="End silence").click()
    await expect(quiet.get_by_role("button")).to_have_count(0)
    assert orders == [("3", {"minutes": 0, "reason": ""})]
