"""From a file to the undo of an edit with nothing but the keyboard: Tab, arrows, Enter, typing.

`test_bulk_fix.py` is the short form, which goes to controls directly.
"""

from __future__ import annotations

from pathlib import Path

import pytest
from playwright.async_api import Locator, Page, expect
from tests.browser.conftest import Visit
from tests.browser.house import House
from tests.browser.test_access import violations
from tests.browser.test_bulk_fix import grouped, named

_MOST_TABS = 300


async def go_to(page: Page, control: Locator) -> None:
    """Press Tab until the control has the focus."""
    await expect(control).to_be_enabled()
    for _ in range(_MOST_TABS):
        if await control.evaluate("one => one === document.activeElement"):
            return
        await page.keyboard.press("Tab")
    raise AssertionError(f"{control} cannot be reached by Tab")


async def press(page: Page, control: Locator) -> None:
    await go_to(page, control)
    await page.keyboard.press("Enter")


async def write(page: Page, control: Locator, text: str) -> None:
    await go_to(page, control)
    await page.keyboard.press("Control+A")
    await page.keyboard.type(text)


async def choose(page: Page, control: Locator, option: str) -> None:
    """An option of a list, by typing its name."""
    await go_to(page, control)
    await page.keyboard.type(option)
    await expect(control.locator("option:checked")).to_have_text(option)


async def choose_tab(page: Page, name: str) -> None:
    """Tabs are one stop of Tab; the arrows go through them."""
    await go_to(page, page.get_by_role("tab", selected=True))
    tab = page.get_by_role("tab", name=name)
    for _ in range(8):
        if await tab.get_attribute("aria-selected") == "true":
            return
        await page.keyboard.press("ArrowRight")
    raise AssertionError(f"no tab {name}")


@pytest.mark.long
@pytest.mark.timeout(300)
async def test_the_whole_way_by_the_keyboard(visit: Visit, house: House, tmp_path: Path) -> None:
    known = house.folder / "keyboard.csv"
    known.write_text("SKU;Title;Price\nBF-1;Dose 1;100,00 EUR\n")
    house.wait_for(house.upload(known, config='{"intent": "merge", "source": "keyboard"}'))
    file = tmp_path / "keyboard.xlsx"
    grouped(file)
    page = await visit("/new")
    async with page.expect_file_chooser() as chooser:
        await press(page, page.get_by_role("button", name="Choose a file"))
    await (await chooser.value).set_files(file)
    assert await violations(page) == []
    await press(page, page.get_by_role("button", name="Columns").last)
    await choose(
        page, page.get_by_label("Betrag X fills", exact=False), "Custom field, kept as it is"
    )
    question = page.get_by_role("alert", name="Which column is the price?")
    await press(page, question.get_by_role("button", name="Use as price").first)
    await expect(question).to_have_count(0)
    await write(page, page.get_by_label("Source"), "keyboard")
    assert await violations(page) == []

    await press(page, page.get_by_role("button", name="Dry run").last)
    await press(page, page.get_by_role("button", name="Check all 230 rows"))
    await expect(page.get_by_text("All 230 rows checked. Nothing was written.")).to_be_visible()
    assert await violations(page) == []
    await press(page, page.get_by_role("link", name="Review and correct rows"))
    await press(page, page.get_by_role("button", name="Import …"))
    dialog = page.get_by_role("dialog", name="Import the checked rows")
    await press(page, dialog.get_by_role("button", name="Start the import"))
    await expect(page.get_by_role("region", name="Rows held back")).to_contain_text("1 row is held")
    assert await violations(page) == []

    await choose_tab(page, "Errors")
    await press(page, page.get_by_role("button", name="Edit rows"))
    dialog = page.get_by_role("dialog", name="Edit rows")
    await choose(page, dialog.get_by_label("Column"), await named(dialog, "Betrag X"))
    await write(page, dialog.get_by_label("Find"), "O")
    await write(page, dialog.get_by_label("Replace with"), "0")
    await expect(dialog.get_by_text("2 rows would change")).to_be_visible()
    assert await violations(page) == []
    await press(page, dialog.get_by_role("button", name="Change 2 rows"))
    await expect(page.get_by_role("link", name="Done 229")).to_be_visible()
    await press(page, page.get_by_role("button", name="Undo edit"))
    dialog = page.get_by_role("dialog")
    assert await violations(page) == []
    await press(page, dialog.get_by_role("button", name="Restore 2 rows"))
    await expect(page.get_by_role("link", name="Done 227")).to_be_visible()
