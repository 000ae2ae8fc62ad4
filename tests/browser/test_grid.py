"""The grid of a job: frozen columns, sorting, values of a column, and pasting, by the keyboard."""

from __future__ import annotations

import pytest
from playwright.async_api import Page, expect
from tests.browser.conftest import Visit
from tests.browser.house import House
from tests.browser.test_access import violations

ROWS = 40


@pytest.fixture(scope="module")
def job(house: House) -> str:
    file = house.folder / "wide.csv"
    extra = ";".join(f"Extra {n}" for n in range(12))
    rows = "".join(
        f"GR-{n};Dose {n};{(n * 7) % ROWS},50;{'A' if n % 4 else ''};{';'.join(['x'] * 12)}\n"
        for n in range(1, ROWS + 1)
    )
    file.write_text(f"Art.-Nr.;Bezeichnung;Preis;Marke;{extra}\n{rows}")
    job_id = house.upload(file, config='{"intent": "merge", "source": "grid", "currency": "EUR"}')
    house.wait_for(job_id)
    return job_id


async def cells(page: Page, column: int) -> list[str]:
    """The texts of a column of the first rows in sight."""
    found = page.locator(f'[role=gridcell][aria-colindex="{column}"]')
    await expect(found.nth(4)).not_to_have_text("")
    return [text.strip() for text in await found.all_inner_texts()][:5]


async def focused(page: Page) -> str:
    return str(await page.evaluate("document.activeElement.innerText.trim()"))


@pytest.mark.parametrize("width", [1440, 390])
async def test_row_number_and_sku_stay_in_sight(visit: Visit, job: str, width: int) -> None:
    page = await visit(f"/jobs/{job}", width=width)
    grid = page.get_by_role("grid")
    sku = page.get_by_role("gridcell", name="GR-1", exact=True).first
    await expect(sku).to_be_visible()
    before = await sku.bounding_box()
    await grid.evaluate("grid => { grid.scrollLeft = 600 }")
    await expect(page.get_by_role("columnheader", name="Status")).not_to_be_in_viewport()
    assert await sku.bounding_box() == before
    number = await page.locator('[role=gridcell][aria-colindex="1"]').first.bounding_box()
    frame = await grid.bounding_box()
    assert number is not None
    assert frame is not None
    assert abs(number["x"] - frame["x"]) <= 1
    assert await violations(page) == []


async def test_rows_are_sorted_by_the_keyboard(visit: Visit, job: str) -> None:
    page = await visit(f"/jobs/{job}")
    sku = page.get_by_role("gridcell", name="GR-1", exact=True).first
    await sku.focus()
    await page.keyboard.press("ArrowUp")
    await page.wait_for_function("document.activeElement.innerText.trim() === 'SKU'")
    while await focused(page) != "Price":
        before = await focused(page)
        await page.keyboard.press("ArrowRight")
        await page.wait_for_function(
            "was => document.activeElement.innerText.trim() !== was", arg=before
        )
    await page.keyboard.press("Enter")
    dialog = page.get_by_role("dialog", name="Price")
    await expect(dialog.get_by_text("40, from 0.50 to 39.50")).to_be_visible()
    await expect(dialog.get_by_role("listitem").first).to_contain_text("1 row")
    assert await violations(page) == []
    await dialog.get_by_role("button", name="Sort descending").focus()
    await page.keyboard.press("Enter")
    header = page.get_by_role("columnheader", name="Price", exact=False).first
    await expect(header).to_have_attribute("aria-sort", "descending")
    await expect(page.locator('[role=gridcell][aria-colindex="1"]').first).to_contain_text("17")
    prices = [item["result"]["price"] for item in (await items(page, job))]
    assert prices == sorted(prices, key=float, reverse=True)
    await page.get_by_role("button", name="Sorted by Price").click()
    await expect(page.locator('[role=gridcell][aria-colindex="2"]').first).to_have_text("GR-1")


async def items(page: Page, job: str) -> list[dict[str, dict[str, str]]]:
    answer = await page.request.get(f"/api/jobs/{job}/items?sort=-value&column=price")
    found: list[dict[str, dict[str, str]]] = (await answer.json())["items"]
    return found


async def test_a_value_of_a_column_is_searched_for(visit: Visit, job: str) -> None:
    page = await visit(f"/jobs/{job}")
    await page.get_by_role("radio", name="As in the file").click()
    await page.get_by_role("columnheader", name="Marke").click()
    dialog = page.get_by_role("dialog", name="Marke")
    await expect(dialog.get_by_text("10 (25 %)")).to_be_visible()
    await dialog.get_by_role("button", name="A 30 rows").click()
    await expect(page.get_by_label("Search in the rows")).to_have_value("A")


async def test_a_range_is_pasted_and_undone(visit: Visit, job: str) -> None:
    page = await visit(f"/jobs/{job}")
    await page.context.grant_permissions(["clipboard-read", "clipboard-write"])
    await page.get_by_role("radio", name="As in the file").click()
    title = page.get_by_role("gridcell", name="Dose 2", exact=True)
    await title.focus()
    await page.evaluate(
        "text => navigator.clipboard.writeText(text)", "Pasted 2\t22,22\nPasted 3\t33,33\n"
    )
    await page.keyboard.press("Control+V")
    await expect(page.get_by_text("2 rows are changed")).to_be_visible()
    for text in ("Pasted 2", "22,22", "Pasted 3", "33,33"):
        await expect(page.get_by_role("gridcell", name=text, exact=True)).to_be_visible()
    await expect(page.get_by_role("gridcell", name="Dose 4", exact=True)).to_be_visible()
    await expect(page.get_by_role("link", name=f"Done {ROWS}")).to_be_visible()
    await page.get_by_role("button", name="Undo edit").click()
    await page.get_by_role("dialog").get_by_role("button", name="Restore 2 rows").click()
    await expect(page.get_by_role("gridcell", name="Dose 2", exact=True)).to_be_visible()
    await expect(page.get_by_role("gridcell", name="Pasted 3", exact=True)).to_have_count(0)
