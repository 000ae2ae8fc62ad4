"""From grouped headers to a correct catalog: question, check, held price, edit of rows, undo."""

from __future__ import annotations

from pathlib import Path

import openpyxl
from playwright.async_api import Locator, Page, expect
from tests.browser.conftest import Visit
from tests.browser.house import House
from tests.browser.test_access import violations


def grouped(file: Path) -> None:
    book = openpyxl.Workbook()
    sheet = book.active
    assert sheet is not None
    sheet.append(["Artikel", None, "Konditionen in EUR", None])
    sheet.append(["Art.-Nr.", "Bezeichnung", "Betrag X", "Bestand"])
    sheet.merge_cells("A1:B1")
    sheet.merge_cells("C1:D1")
    for n in range(1, 231):
        price = "1O,50" if n in (3, 7) else f"{n},50"
        sheet.append([f"BF-{n}", f"Dose {n}", price, "Rest?" if n > 227 else str(n)])
    book.save(file)


async def press(page: Page, control: Locator, key: str = "Enter") -> None:
    """By the keyboard alone."""
    await expect(control).to_be_enabled()
    await control.focus()
    await page.keyboard.press(key)


async def test_from_grouped_headers_to_an_edit_and_back(
    visit: Visit, house: House, tmp_path: Path
) -> None:
    known = house.folder / "known.csv"
    known.write_text("SKU;Title;Price\nBF-1;Dose 1;100,00 EUR\nBX-1;Deckel;1,00 EUR\n")
    house.wait_for(house.upload(known, config='{"intent": "merge", "source": "bulkfix"}'))
    file = tmp_path / "bulkfix.xlsx"
    grouped(file)
    page = await visit("/new")
    await page.get_by_label("File", exact=True).set_input_files(file)
    await press(page, page.get_by_role("button", name="Columns").last)
    column = page.get_by_label("Field that", exact=False).filter(visible=True)
    await expect(column.first).to_be_visible()
    price = page.get_by_label("Betrag X fills", exact=False)
    await price.select_option("#custom")
    question = page.get_by_role("alert", name="Which column is the price?")
    await expect(question).to_contain_text("Betrag X")
    await press(page, question.get_by_role("button", name="Use as price").first)
    await expect(question).to_have_count(0)
    await page.get_by_label("Source").fill("bulkfix")
    assert await violations(page) == []

    await press(page, page.get_by_role("button", name="Dry run").last)
    await press(page, page.get_by_role("button", name="Check all 230 rows"))
    await expect(page.get_by_text("All 230 rows checked. Nothing was written.")).to_be_visible()
    await press(page, page.get_by_role("link", name="Review and correct rows"))
    await press(page, page.get_by_role("button", name="Import …"))
    dialog = page.get_by_role("dialog", name="Import the checked rows")
    await press(page, dialog.get_by_role("button", name="Start the import"))
    held = page.get_by_role("region", name="Rows held back")
    await expect(held).to_contain_text("1 row is held back")

    await press(page, page.get_by_role("tab", name="Errors"))
    offers = page.get_by_role("region", name="Values that could not be read")
    await expect(offers).to_contain_text("Rest?")
    assert await violations(page) == []
    await press(page, page.get_by_role("button", name="Edit rows"))
    dialog = page.get_by_role("dialog", name="Edit rows")
    # The column with most errors is chosen.
    await expect(dialog.get_by_label("Column")).to_have_value(await named(dialog, "Betrag X"))
    await dialog.get_by_label("Find").fill("O")
    await dialog.get_by_label("Replace with").fill("0")
    await expect(dialog.get_by_text("2 rows would change")).to_be_visible()
    assert await violations(page) == []
    await press(page, dialog.get_by_role("button", name="Change 2 rows"))
    await expect(page.get_by_role("link", name="Done 229")).to_be_visible()
    await press(page, page.get_by_role("button", name="Undo edit"))
    await press(page, page.get_by_role("dialog").get_by_role("button", name="Restore 2 rows"))
    await expect(page.get_by_role("link", name="Done 227")).to_be_visible()


async def named(dialog: Locator, part: str) -> str:
    """The name of the column that contains a text."""
    names = await dialog.get_by_label("Column").locator("option").all_text_contents()
    return next(name for name in names if part in name)
