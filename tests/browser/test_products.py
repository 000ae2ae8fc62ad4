"""The products page: filters and orders in the address, edits with history, prices over time."""

from __future__ import annotations

import re

from playwright.async_api import expect
from tests.browser.conftest import Visit
from tests.browser.house import House
from tests.browser.test_access import violations

HEAD = "SKU;Title;Brand;Category;Price;Weight\n"


async def test_products_are_filtered_sorted_and_edited(visit: Visit, house: House) -> None:
    for number, price in enumerate(("9.90", "10.50")):
        file = house.folder / f"tools-{number}.csv"
        file.write_text(
            f"{HEAD}PG-1;Hamer;Picard;Tools;{price} EUR;500 g\nPG-2;Axe;Bahco;Tools;30.00 EUR;\n"
            "PG-3;Apron;Bahco;Clothes;5.00 EUR;\n"
        )
        job_id = house.upload(file, config='{"intent": "merge", "source": "pgtools"}')
        house.wait_for(job_id)
    page = await visit("/products?source=pgtools")
    rows = page.get_by_role("region", name="Products").get_by_role("row")
    await expect(rows).to_have_count(4)
    await page.get_by_label("Order").select_option("-price")
    await expect(rows.nth(1)).to_contain_text("Axe")
    await page.get_by_label("Brand").select_option("Bahco")
    await page.get_by_label("Category").select_option("Clothes")
    await expect(rows).to_have_count(2)
    query = re.compile("source=pgtools.*sort=-price.*brand=Bahco.*category=Clothes")
    await expect(page).to_have_url(query)
    await page.reload()
    await expect(rows).to_have_count(2)
    assert await violations(page) == []
    await page.get_by_role("button", name="Export").click()
    await expect(page.get_by_role("menuitem", name="Shopify")).to_be_visible()
    await page.keyboard.press("Escape")
    await page.goto("/products?q=PG-1")
    await page.get_by_role("link", name="Hamer").click()
    await expect(page.get_by_role("img", name="Price from 9.90 EUR to 10.50 EUR")).to_be_visible()
    await expect(page.get_by_text("500 g").first).to_be_visible()
    await page.get_by_role("button", name="Edit").click()
    form = page.get_by_role("dialog", name="Edit product")
    await form.get_by_label("Title").fill("Hammer")
    assert await violations(page) == []
    await form.get_by_role("button", name="Save").click()
    await expect(page.get_by_role("heading", name="Hammer", level=1)).to_be_visible()
    history = page.get_by_role("list", name="History")
    await expect(history).to_contain_text("Edited")
    await expect(page.get_by_text("Imports do not change them.")).to_be_visible()
    assert await violations(page) == []
    await history.get_by_role("button", name="Undo edit").click()
    await expect(page.get_by_role("heading", name="Hamer", level=1)).to_be_visible()


async def test_the_palette_finds_a_product_by_its_sku(visit: Visit, house: House) -> None:
    file = house.folder / "palette.csv"
    file.write_text("SKU;Title;Price\nPAL-77/X;Torque wrench;89.00 EUR\nPAL-78/X;Spanner;9 EUR\n")
    house.wait_for(house.upload(file, config='{"intent": "merge", "source": "palette"}'))
    page = await visit("/jobs")
    await expect(page.get_by_role("heading", name="Jobs", exact=True)).to_be_visible()
    await page.keyboard.press("Control+k")
    await expect(page.get_by_role("combobox", name="Search or run a command")).to_be_focused()
    await page.keyboard.type("PAL-7")
    await expect(page.get_by_role("option").filter(has_text="Spanner")).to_be_visible()
    # A product that was found before stays the one that Enter opens.
    await page.keyboard.type("7/X")
    found = page.get_by_role("option").filter(has_text="Torque wrench")
    await expect(found).to_contain_text("PAL-77/X")
    await expect(page.get_by_role("option").filter(has_text="Spanner")).to_have_count(0)
    await expect(found).to_have_attribute("aria-selected", "true")
    await page.keyboard.press("Enter")
    await expect(page.get_by_role("heading", name="Torque wrench")).to_be_visible()


async def test_products_of_one_job(visit: Visit, house: House) -> None:
    first = house.folder / "of-one-job.csv"
    first.write_text("SKU;Title;Price\nOJ-1;Saw;1.00 EUR\nOJ-2;Axe;2.00 EUR\n")
    job_id = house.upload(first, config='{"intent": "merge", "source": "one-job"}')
    house.wait_for(job_id)
    page = await visit(f"/jobs/{job_id}")
    await page.get_by_role("link", name="products of this job").click()
    await expect(page.get_by_role("status").filter(has_text="2 products")).to_be_visible()
    chip = page.get_by_role("button", name="Job: of-one-job.csv")
    await expect(chip).to_be_visible()
    assert await violations(page) == []
    await chip.click()
    await expect(page).to_have_url(re.compile("/products$"))
