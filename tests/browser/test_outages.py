"""Control, and what is said when a worker or the server is gone."""

from __future__ import annotations

from collections.abc import Iterator

import pytest
from playwright.async_api import expect
from tests.browser.conftest import Visit
from tests.browser.house import House


@pytest.fixture(autouse=True)
def whole_again(house: House) -> Iterator[None]:
    """Whatever a test kills is there again for the next."""
    yield
    if house.api is None or house.api.poll() is not None:
        house.start_api()
    if house.worker is None or house.worker.poll() is not None:
        house.start_worker()


async def test_pause_resume_cancel(visit: Visit, house: House) -> None:
    job_id = house.submit(items=5000, workMs=20)
    page = await visit(f"/jobs/{job_id}")
    title = page.get_by_role("heading", name="noop").locator("..")
    await expect(title).to_contain_text("Running")
    await page.get_by_role("button", name="Pause").click()
    await expect(title).to_contain_text("Paused")
    await page.get_by_role("tab", name="Pending").click()
    await expect(page.get_by_text("The job is paused. Resume it")).to_be_visible()
    await page.get_by_role("button", name="Resume").click()
    await expect(title).to_contain_text("Running")
    await page.get_by_role("button", name="Cancel").click()
    await page.get_by_role("button", name="Cancel the job").click()
    await expect(title).to_contain_text("Cancelled")


async def test_without_a_worker_it_is_said_and_the_page_can_do_the_work(
    visit: Visit, house: House
) -> None:
    page = await visit("/jobs")
    house.kill(house.worker)
    notice = page.get_by_text("No worker is running")
    await expect(notice).to_be_visible(timeout=60_000)
    job_id = house.submit(items=60, workMs=1)
    await page.goto(f"/jobs/{job_id}")
    await page.get_by_role("button", name="More actions").click()
    await page.get_by_role("menuitem", name="Process now").click()
    await expect(page.get_by_role("link", name="Done 60")).to_be_visible()
    house.start_worker()
    await expect(notice).to_have_count(0)


async def test_a_server_that_was_away_is_found_again(visit: Visit, house: House) -> None:
    job_id = house.submit(items=200, workMs=1)
    page = await visit(f"/jobs/{job_id}")
    await expect(page.get_by_role("heading", name="noop")).to_be_visible()
    await expect(page.get_by_text("Live", exact=True)).to_be_visible()
    house.kill(house.api)
    await expect(page.get_by_text("Reconnecting")).to_be_visible()
    await expect(page.get_by_text("this page connects again by itself")).to_be_visible()
    # What was shown stays in sight.
    await expect(page.get_by_role("heading", name="noop")).to_be_visible()
    house.start_api()
    await expect(page.get_by_text("Live", exact=True)).to_be_visible()
    await expect(page.get_by_role("link", name="Done 200")).to_be_visible()
