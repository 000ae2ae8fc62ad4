"""A messy list and the next one, as its reader needs them: lines of the file, what an import would
hold back, headings that are no errors, and no JSON anywhere."""

from __future__ import annotations

from pathlib import Path

import openpyxl
from playwright.async_api import Page, expect
from tests.browser.conftest import Visit
from tests.browser.house import House
from tests.browser.test_access import violations

_ROWS = 230


def price_list(file: Path, *, later: bool) -> None:
    book = openpyxl.Workbook()
    sheet = book.active
    assert sheet is not None
    sheet.append(["Kolben Krause KG"])
    sheet.append([])
    sheet.append(["Art.-Nr.", "Bezeichnung", "VK netto EUR", "ab 10", "Lieferzeit"])
    for n in range(1, _ROWS + 1):
        if n in (1, 100):
            sheet.append(["Dichtungen" if n == 1 else "Ventile"])
        amount = n + 1.5 if later else n + 1
        amount = {5: 900.0, 6: 4000.0}.get(n, amount) if later else amount
        price = "1O,00" if n == 9 else f"{amount:.2f}".replace(".", ",")
        tier = f"{amount * 0.9:.2f}".replace(".", ",")
        sheet.append([f"KK-{n}", f"Ring {n}", price, tier, "auf Bestellung"])
    book.save(file)


async def test_lines_headings_and_held_rows(visit: Visit, house: House, tmp_path: Path) -> None:
    first, second = tmp_path / "first.xlsx", tmp_path / "krause.xlsx"
    price_list(first, later=False)
    price_list(second, later=True)
    house.wait_for(house.upload(first, config='{"intent": "merge", "source": "krause"}'))
    page = await visit("/new")
    await page.get_by_label("File", exact=True).set_input_files(second)
    sample = page.get_by_role("region", name="First rows as read")
    # The title and a blank row are above the header, and a heading above the first product.
    await expect(sample.get_by_role("row").nth(2)).to_contain_text("5KK-1")
    await page.get_by_role("button", name="Columns").last.click()
    await expect(page.get_by_label("Source")).to_have_value("krause")
    await page.get_by_role("button", name="Dry run").last.click()
    await dry_run_is_read(page)
    await page.get_by_role("button", name=f"Check all {_ROWS + 2} rows").click()
    held = page.get_by_role("region", name="Rows held back")
    await expect(held).to_contain_text("2 rows would be held back")
    await held.get_by_role("button", name="Review").click()
    review = page.get_by_role("dialog", name="Rows held back")
    await expect(review.get_by_role("row")).to_contain_text(["Product", "KK-6", "KK-5"])
    await expect(review).to_contain_text("row 7, line 10 of the file")
    assert await violations(page) == []
    await review.get_by_role("button", name="Close").last.click()
    await page.get_by_role("link", name="Review and correct rows").click()
    await errors_are_read(page)


async def dry_run_is_read(page: Page) -> None:
    await page.get_by_role("radio", name="Held back 2").click()
    rows = page.get_by_role("region", name="Rows as they would be imported")
    # The larger change first, with its tiers as a text.
    await expect(rows.get_by_role("row").nth(1)).to_contain_text("KK-6")
    await expect(rows).to_contain_text("10+: 3600.00")
    assert "minQuantity" not in await page.content()
    await page.get_by_role("radio", name="Errors 1").click()
    await expect(rows.get_by_role("row").nth(1)).to_contain_text("1013 Invalid")
    await expect(rows).to_contain_text("Price unreadable")
    # `on order` is a known word.
    await expect(page.get_by_role("radio", name="Warnings 0")).to_be_visible()
    assert await violations(page) == []


async def errors_are_read(page: Page) -> None:
    await expect(page.get_by_role("region", name="Rows held back")).to_contain_text("would be held")
    await page.get_by_role("tab", name="Errors").click()
    codes = page.get_by_role("list", name="Errors and skipped rows by code").get_by_role("link")
    await expect(codes).to_have_text(["Price unreadable1", "Heading2"])
    row = page.get_by_role("row").filter(has_text="KK-9")
    await expect(row.get_by_role("gridcell").nth(2)).to_have_text("13")
    await codes.nth(1).click()
    await expect(page.get_by_role("row").filter(has_text="Ventile")).to_contain_text("104")
    await page.get_by_role("tab", name="Results").click()
    await page.get_by_role("row").filter(has_text="KK-9").dblclick()
    drawer = page.get_by_role("dialog", name="Row 10 · line 13 of the file")
    await expect(drawer.get_by_role("region", name="Lineage")).to_contain_text("SKU")
    assert await violations(page) == []


async def test_an_undone_job_asks_for_nothing(visit: Visit, house: House, tmp_path: Path) -> None:
    """Rows that it held back cannot be accepted any more, and the undo names no zeros."""
    file = tmp_path / "undone.csv"
    jobs = []
    for prices in (("1,00", "2,00"), ("900,00", "2,10")):
        file.write_text("SKU;Title;Price EUR\n" + "".join(
            f"UN-{n};Cup {n};{price}\n" for n, price in enumerate(prices)
        ))  # fmt: skip
        jobs.append(house.upload(file, config='{"intent": "merge", "source": "undone"}'))
        house.wait_for(jobs[-1])
    page = await visit(f"/jobs/{jobs[-1]}")
    held = page.get_by_role("region", name="Rows held back")
    await expect(held).to_contain_text("1 row is held back")
    await page.get_by_role("button", name="More actions").click()
    await page.get_by_role("menuitem", name="Undo the import").click()
    dialog = page.get_by_role("dialog", name="Undo this import?")
    await expect(dialog).to_contain_text("1 product will be restored to the state before the job.")
    await dialog.get_by_role("button", name="Undo the import").click()
    await expect(page.get_by_text("Undone", exact=True)).to_be_visible()
    await expect(held).to_have_count(0)
