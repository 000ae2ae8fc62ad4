"""A large file: questions about its columns, a check of all rows, corrections, and the import."""

from __future__ import annotations

import asyncio
from pathlib import Path
from typing import Any

from playwright.async_api import Page, expect
from tests.browser.conftest import Visit
from tests.browser.test_access import violations


async def test_a_whole_file_is_checked_corrected_and_imported(visit: Visit, tmp_path: Path) -> None:
    file = tmp_path / "grosshandel.csv"
    rows = [f"WF-{n};Dose {n};{n},50;{n}" for n in range(1, 301)]
    rows[249] = "WF-250;Dose 250;12,3,4;250"
    file.write_text("Kz X;Bezeichnung;Betrag X;Lager\n" + "\n".join(rows) + "\n")
    page = await visit("/new")
    await page.get_by_label("File", exact=True).set_input_files(file)
    await page.get_by_role("button", name="Columns").last.click()

    price = page.get_by_label("Field that Betrag X fills")
    await price.select_option("#custom")
    question = page.get_by_role("alert", name="Which column is the price?")
    await expect(question).to_contain_text("Betrag X")
    await question.get_by_role("button", name="Use as price").first.click()
    await expect(question).to_have_count(0)
    question = page.get_by_role("alert", name="Which column is the SKU?")
    await question.get_by_role("button", name="Use as SKU").first.click()
    await expect(question).to_have_count(0)
    await page.get_by_label("Field that Lager fills").select_option("title")
    await expect(page.get_by_text("Another column fills this field, too.")).to_have_count(2)
    await page.get_by_label("Field that Lager fills").select_option("availability.quantity")
    await expect(page.get_by_text("Another column fills this field, too.")).to_have_count(0)
    currency = page.get_by_label("Currency", exact=True)
    await currency.fill("EUX")
    await currency.blur()
    await expect(page.get_by_text("“EUX” is not a currency code")).to_be_visible()
    await currency.fill("EUR")
    await currency.blur()

    await page.get_by_role("button", name="Dry run").last.click()
    await page.get_by_role("button", name="Check all 300 rows").click()
    await expect(page.get_by_text("All 300 rows checked. Nothing was written.")).to_be_visible()
    figures = page.get_by_role("region", name="Columns of the file")
    price = figures.get_by_role("row").filter(has_text="Betrag X")
    await expect(price.get_by_role("cell")).to_have_text(
        ["Betrag X", "Price", "300", "0", "0", "1", "0"]
    )
    await page.get_by_role("link", name="Review and correct rows").click()
    await page.get_by_role("tab", name="Errors").click()
    await page.get_by_role("gridcell", name="12,3,4", exact=True).dblclick()
    await page.get_by_label("Betrag X, row").fill("12,34")
    await page.keyboard.press("Enter")
    await expect(page.get_by_role("link", name="Done 300")).to_be_visible()

    await page.get_by_role("button", name="Import …").click()
    dialog = page.get_by_role("dialog", name="Import the checked rows")
    await dialog.get_by_role("button", name="Start the import").click()
    await expect(page.get_by_text("The rows are being imported")).to_be_visible()
    await expect(page.get_by_role("button", name="Import …")).to_have_count(0)
    # The rows are reopened in the background, and only then is the job live again.
    async with asyncio.timeout(45):
        while not (await answer_of(page, "/api/products?q=WF-250"))["items"]:
            await asyncio.sleep(0.2)
    await page.goto("/products?q=WF-250")
    await expect(page.get_by_text("Dose 250")).to_be_visible()
    await expect(page.get_by_text("12.34")).to_be_visible()


async def test_rows_of_a_small_file_are_corrected_before_the_import(
    visit: Visit, tmp_path: Path
) -> None:
    file = tmp_path / "kleinhandel.csv"
    file.write_text("Artikelnummer;Bezeichnung;Preis EUR\nWK-1;Dose;1,50\nWK-2;Deckel;1O,50\n")
    page = await visit("/new")
    await page.get_by_label("File", exact=True).set_input_files(file)
    await page.get_by_role("button", name="Columns").last.click()
    await page.get_by_role("button", name="Dry run").last.click()
    await page.get_by_role("button", name="Check and correct rows").click()
    await expect(page.get_by_text("All 2 rows checked. Nothing was written.")).to_be_visible()
    assert await violations(page) == []
    await page.get_by_role("link", name="Review and correct rows").click()
    await page.get_by_role("tab", name="Errors").click()
    await page.get_by_role("gridcell", name="1O,50", exact=True).dblclick()
    await page.get_by_label("Preis EUR, row").fill("10,50")
    await page.keyboard.press("Enter")
    await expect(page.get_by_role("link", name="Done 2")).to_be_visible()
    await expect(page.get_by_role("button", name="Import …")).to_be_visible()


async def answer_of(page: Page, path: str) -> Any:
    return await (await page.request.get(path)).json()
