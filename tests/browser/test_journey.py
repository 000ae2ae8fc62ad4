"""From a supplier's file to clean products and back, as a person does it."""

from __future__ import annotations

import re
from pathlib import Path

from openpyxl import load_workbook
from playwright.async_api import Browser, Page, expect
from tests.browser.conftest import SAMPLE, Visit
from tests.browser.house import PASSWORD, House


async def sign_in(page: Page, email: str, password: str) -> None:
    await page.get_by_label("E-mail").fill(email)
    await page.get_by_label("Password").fill(password)
    await page.get_by_role("button", name="Sign in").click()


async def test_from_sign_in_to_export_and_undo(
    browser: Browser, house: House, tmp_path: Path
) -> None:
    page = await browser.new_page(base_url=house.url)
    page.set_default_timeout(45_000)
    await page.goto("/new")
    await expect(page).to_have_url(f"{house.url}/login?next=%2Fnew")
    await sign_in(page, "member@acme.example", "wrong-password-1")
    await expect(page.get_by_role("alert")).to_contain_text("E-mail or password is wrong")
    await sign_in(page, "member@acme.example", PASSWORD)

    await page.get_by_label("File", exact=True).set_input_files(SAMPLE)
    await expect(page.get_by_text("Read as")).to_contain_text("36 rows")
    await page.get_by_label("Encoding").select_option("cp1252")
    await expect(page.get_by_text("Nordström").first).to_be_visible()
    await page.get_by_role("button", name="Columns").last.click()
    stock = page.get_by_label("Field that Delivery (days) fills")
    await stock.select_option("availability.leadTimeDays")
    await page.get_by_role("button", name="Dry run").last.click()
    await expect(page.get_by_text("Duplicate of 3")).to_be_visible()
    await page.get_by_role("radio", name="Warnings").click()
    await expect(page.get_by_text("GTIN check digit").first).to_be_visible()
    await page.get_by_role("button", name="Start").last.click()
    plan = page.get_by_role("region", name="What will happen")
    await expect(plan).to_contain_text("Nothing is written to the catalog")
    await page.get_by_label("Create and update").check()
    await expect(plan).to_contain_text("32 products are created")
    await expect(plan).to_contain_text("3 rows become errors")
    await expect(plan).to_contain_text("warnings: values that cannot be read are left empty")
    await expect(plan).to_contain_text("It takes a few seconds")
    await page.get_by_role("button", name="Start the import").click()

    await expect(page.get_by_role("heading", name="sample.csv")).to_be_visible()
    await expect(page.get_by_role("link", name="Error 3")).to_be_visible()
    await fix_a_row(page)
    await expect(page.get_by_role("link", name="Error 2")).to_be_visible()

    await look_at_warnings(page)
    await page.get_by_role("button", name="Export").click()
    async with page.expect_download() as download:
        await page.get_by_role("menuitem", name="Excel .xlsx", exact=True).click()
    file = tmp_path / "export.xlsx"
    await (await download.value).save_as(file)
    sheet = load_workbook(file, read_only=True).active
    assert sheet is not None
    rows = [list(row) for row in sheet.iter_rows(values_only=True)]
    sku, price = rows[0].index("sku"), rows[0].index("price")
    prices = {row[sku]: row[price] for row in rows[1:]}
    assert prices["PS-1008"] == 1249
    assert prices["PS-1018"] == 12.34

    await page.get_by_role("button", name="More actions").click()
    await page.get_by_role("menuitem", name="Undo the import").click()
    await expect(page.get_by_role("dialog")).to_contain_text(
        "33 products that the job created will be removed"
    )
    await page.get_by_role("button", name="Undo the import").click()
    await expect(page.get_by_text("33 products restored")).to_be_visible()
    await expect(page.get_by_text("Undone", exact=True).first).to_be_visible()


async def test_the_same_file_again_and_what_it_lacks(
    visit: Visit, house: House, tmp_path: Path
) -> None:
    """Of a supplier of its own, so that nothing else is missing."""
    full, half = tmp_path / "full.csv", tmp_path / "half.csv"
    full.write_text("SKU;Title;Price\nSF-1;Saw;1\nSF-2;Axe;2\nSF-3;Rasp;3\n")
    half.write_text("SKU;Title;Price\nSF-1;Saw;1\n")
    merge = '{"intent": "merge", "source": "same file"}'
    first = house.upload(full, config=merge)
    house.wait_for(first)
    again = house.upload(full, config=merge)
    house.wait_for(again)
    page = await visit(f"/jobs/{again}")
    await page.get_by_role("link", name="an earlier job").click()
    await expect(page).to_have_url(re.compile(first))

    report = '{"intent": "check", "source": "same file", "missing": "report"}'
    lacking = house.upload(half, config=report)
    house.wait_for(lacking)
    await page.goto(f"/jobs/{lacking}?tab=summary")
    await expect(page.get_by_text("2 products of the source are not in it")).to_be_visible()
    await page.get_by_role("button", name="Export").click()
    async with page.expect_download() as download:
        await page.get_by_role("menuitem", name="In the catalog, not in the file").click()
    file = tmp_path / "missing.csv"
    await (await download.value).save_as(file)
    assert {"SF-2", "SF-3"} <= set(re.findall(r"SF-\d", file.read_text("utf-8")))
    assert "SF-1" not in file.read_text("utf-8")


async def look_at_warnings(page: Page) -> None:
    await page.get_by_role("tab", name="Warnings").click()
    await page.get_by_role("link", name="GTIN check digit").click()
    await expect(page).to_have_url(re.compile("problem=GTIN_CHECK_DIGIT"))
    await expect(page.get_by_role("row").filter(has_text="4001234528048")).to_be_visible()
    await page.get_by_role("tab", name="Results").click()


async def fix_a_row(page: Page) -> None:
    """The price of row 18, in the grid itself."""
    await expect(page.get_by_role("tab", name="Warnings")).to_be_visible()
    await page.get_by_role("tab", name="Errors").click()
    cell = page.get_by_role("row").filter(has_text="PS-1018").get_by_text("12,3,4", exact=True)
    await cell.dblclick()
    await page.get_by_label("Price EUR, row").fill("12,34")
    await page.keyboard.press("Enter")


async def test_a_row_shows_where_each_value_is_from(visit: Visit, house: House) -> None:
    job_id = house.upload(SAMPLE)
    house.wait_for(job_id)
    page = await visit(f"/jobs/{job_id}")
    await page.get_by_role("gridcell", name="Hex bolt DIN 933, zinc plated", exact=True).click()
    drawer = page.get_by_role("dialog", name="Row 1")
    lineage = drawer.get_by_role("region", name="Lineage")
    price = lineage.get_by_role("row").filter(
        has=page.get_by_role("cell", name="Price", exact=True)
    )
    await expect(price).to_contain_text("Price EUR")
    await expect(price).to_contain_text("0,18")
    await drawer.get_by_role("button", name="Next row").click()
    await expect(page.get_by_role("dialog", name="Row 2")).to_contain_text("Wood screw")
    await page.keyboard.press("Escape")
    await expect(page.get_by_role("dialog")).to_have_count(0)


async def test_everything_that_matches_is_selected_and_runs_again(
    visit: Visit, house: House
) -> None:
    job_id = house.submit(items=3000, failEvery=3)
    house.wait_for(job_id)
    page = await visit(f"/jobs/{job_id}?statuses=ERROR")
    await page.get_by_label("Select row 3", exact=True).check()
    await page.get_by_role("button", name="Select all 1,000 matching").click()
    await page.get_by_role("button", name="Reprocess").last.click()
    dialog = page.get_by_role("dialog", name="Run 1,000 rows again?")
    await dialog.get_by_role("button", name="Reprocess 1,000 rows").click()
    await expect(page.get_by_text("1,000 rows run again")).to_be_visible()
    await expect(page.get_by_role("region", name="Selected rows")).to_have_count(0)


async def test_a_viewer_only_looks(visit: Visit, house: House) -> None:
    job_id = house.upload(SAMPLE)
    house.wait_for(job_id)
    page = await visit(f"/jobs/{job_id}?tab=errors", role="viewer")
    await expect(page.get_by_role("gridcell", name="12,3,4", exact=True)).to_be_visible()
    for name in ("Reprocess", "New job", "More actions", "Cancel"):
        await expect(page.get_by_role("button", name=name)).to_have_count(0)
        await expect(page.get_by_role("link", name=name)).to_have_count(0)
    await expect(page.get_by_role("checkbox")).to_have_count(0)
    await page.get_by_role("gridcell", name="12,3,4", exact=True).dblclick()
    await expect(page.get_by_label("Price EUR, row")).to_have_count(0)
    await expect(page.get_by_role("dialog", name="Row 18")).to_be_visible()
    await expect(page.get_by_role("button", name="Save and rerun row")).to_have_count(0)
    await page.keyboard.press("Escape")
    await expect(page.get_by_role("button", name="Export")).to_be_visible()
    await page.goto("/new")
    await expect(page.get_by_text("Viewers cannot upload files")).to_be_visible()
