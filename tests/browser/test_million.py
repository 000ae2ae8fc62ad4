"""A job of a million rows: any row at once, few of them drawn, little memory, a quick server."""

from __future__ import annotations

import asyncio
from statistics import median

import pytest
from playwright.async_api import Page, Response, expect
from tests.browser.conftest import Visit
from tests.browser.house import House

pytestmark = [pytest.mark.long, pytest.mark.timeout(600)]
ROWS = 1_000_000
_EVERY = 100
_SEED = """
INSERT INTO job_items (job_id, row_no, org_id, user_id, job_type, status, attempts, input,
                       result, error)
SELECT j.id, n, j.org_id, j.user_id, j.pipeline,
       CASE WHEN n % $4 = 0 THEN 'ERROR' ELSE 'DONE' END, 1, jsonb_build_object('n', n),
       CASE WHEN n % $4 <> 0 THEN jsonb_build_object('row', n) END,
       CASE WHEN n % $4 = 0 THEN '{"code": "VALIDATION_ERROR", "message": "as told"}'::jsonb END
FROM jobs j, generate_series($2::integer, $3::integer) n WHERE j.id = $1
"""
_COUNT = """
UPDATE jobs SET total = $2::integer, done = $2::integer - $2::integer / $3::integer,
                error = $2::integer / $3::integer WHERE id = $1
"""


_BEST_OF_FIVE = """async url => {
    const times = [];
    for (let n = 0; n < 5; n++) {
        const begun = performance.now();
        await fetch(url);
        times.push(performance.now() - begun);
    }
    return Math.min(...times);
}"""


@pytest.fixture(scope="module")
def million(house: House) -> str:
    job_id = house.submit(items=1)
    house.wait_for(job_id)

    async def seed() -> None:
        async with house.database() as conn:
            await conn.execute("SET statement_timeout = 0")
            for first in range(2, ROWS, 100_000):
                last = min(ROWS, first + 99_999)
                await conn.execute(_SEED, job_id, first, last, _EVERY, timeout=300)
            await conn.execute(_COUNT, job_id, ROWS, _EVERY)
            await conn.execute("VACUUM (ANALYZE) job_items", timeout=300)

    asyncio.run(seed())
    return job_id


async def drawn(page: Page) -> int:
    return await page.locator('[role="grid"] [role="row"]').count()


async def test_any_of_a_million_rows_is_there_at_once(visit: Visit, million: str) -> None:
    page = await visit(f"/jobs/{million}")
    slow: set[str] = set()
    times: list[float] = []

    def timed(response: Response) -> None:
        took = response.request.timing["responseStart"] - response.request.timing["requestStart"]
        if "/items" in response.url:
            times.append(took)
            if took > 100:
                slow.add(response.url)

    grid = page.get_by_role("grid")
    await expect(grid).to_have_attribute("aria-rowcount", str(ROWS + 1))
    await expect(page.get_by_role("gridcell", name="1", exact=True).first).to_be_visible()
    # What the server does for the first time is not what it does from then on.
    page.on("response", timed)

    await grid.evaluate("element => element.scrollTo({ top: element.scrollHeight })")
    await expect(page.get_by_label(f"Select row {ROWS}", exact=True)).to_be_visible()
    assert await drawn(page) <= 60
    await page.get_by_label("Go to row").fill("765,432")
    await page.keyboard.press("Enter")
    await expect(page.get_by_label("Select row 765432", exact=True)).to_be_visible()
    await page.keyboard.press("ArrowDown")
    await expect(page.locator(":focus")).to_contain_text("765,433")
    assert await drawn(page) <= 60

    for _ in range(40):
        await grid.hover()
        await page.mouse.wheel(0, 2000)
    await page.get_by_role("link", name="Error 10,000").click()
    await expect(page.get_by_label("Select row 100", exact=True)).to_be_visible()
    for _ in range(6):
        await grid.evaluate("element => element.scrollTo({ top: element.scrollHeight })")
        await page.wait_for_timeout(300)
    await page.get_by_role("checkbox").first.check()
    await page.get_by_role("button", name="Select all 10,000 matching").click()
    await expect(page.get_by_text("All 10,000 matching rows selected")).to_be_visible()
    assert await drawn(page) <= 60

    heap = await page.evaluate("performance.memory.usedJSHeapSize")
    print(f"{len(times)} pages of rows, the middle one in {median(times):.0f} ms")
    print(f"{await drawn(page)} rows drawn, {heap / 1024**2:.0f} MiB of heap")
    assert heap <= 150 * 1024 * 1024
    # On a machine that does other things beside, one answer may wait; never the best of five.
    assert {
        url: took for url in slow if (took := await page.evaluate(_BEST_OF_FIVE, url)) > 100
    } == {}
