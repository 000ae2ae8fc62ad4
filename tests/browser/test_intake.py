"""Other ways in: a file on the web, and a supplier whose columns are known."""

from __future__ import annotations

import re
from pathlib import Path

from playwright.async_api import expect
from tests.browser.conftest import Visit
from tests.browser.house import PASSWORD, House
from tests.guards.servers import answering, serving

LIST = b"Artikel;Bezeichnung;Preis;Gewicht (kg)\nUR-1;Saege;9,90;1,5\nUR-2;Axt;;0,9\n"


async def test_a_file_on_the_web_becomes_a_job(visit: Visit) -> None:
    page = await visit("/new")
    address = page.get_by_label("Or a file on the web")
    await address.fill("http://10.1.2.3/list.csv")
    await page.get_by_role("button", name="Download").click()
    await expect(page.get_by_role("alert")).to_contain_text("URL_NOT_ALLOWED")
    await expect(page.get_by_role("alert")).to_contain_text("Use a public address")
    async with serving(answering(body=LIST)) as shop:
        await address.fill(f"http://127.0.0.1:{shop.port}/autumn%20list.csv?token=secret")
        await page.get_by_role("button", name="Download").click()
        await expect(page.get_by_text("Read as")).to_contain_text("2 rows")
    await expect(page).to_have_url(re.compile("name=autumn"))
    assert "secret" not in page.url
    await page.get_by_role("button", name="Start", exact=False).first.click()
    await page.get_by_role("button", name="Check the file").click()
    await expect(page.get_by_role("heading", name="autumn list.csv")).to_be_visible()
    await expect(page.get_by_role("link", name="Done 2")).to_be_visible()


async def test_the_next_file_finds_the_profile_that_was_saved(visit: Visit, tmp_path: Path) -> None:
    first, second = tmp_path / "may.csv", tmp_path / "june.csv"
    first.write_text("Nr;Was;Netto;Masse (kg)\nPF-1;Hobel;9,90;1,5\n")
    second.write_text("NR;WAS;NETTO;MASSE (KG)\nPF-2;Feile;3,50;0,2\n")
    page = await visit("/new")
    await page.get_by_label("File", exact=True).set_input_files(first)
    await page.get_by_role("button", name="Columns").last.click()
    await page.get_by_label("Field that Was fills").select_option("title")
    await page.get_by_label("Field that Nr fills").select_option("identifiers.sku")
    await page.get_by_label("Field that Masse (kg) fills").select_option("specifications.weight")
    await page.get_by_label("Save this mapping for the supplier").fill("found again")
    await page.get_by_role("button", name="Save profile").click()
    await expect(page.get_by_text("Saved as profile “found again”")).to_be_visible()
    await page.goto("/new")
    await page.get_by_label("File", exact=True).set_input_files(second)
    await page.get_by_role("button", name="Columns").last.click()
    await expect(page.get_by_text("Mapped by the profile “found again”, version 1")).to_be_visible()
    await page.get_by_role("button", name="Dry run").last.click()
    await expect(page.get_by_role("cell", name="0.2", exact=True)).to_be_visible()


async def test_sessions_are_listed_and_ended(visit: Visit, house: House) -> None:
    page = await visit("/settings/account", role="viewer")
    other = await visit("/jobs", role="viewer")
    await page.reload()
    table = page.get_by_role("region", name="Sessions")
    await expect(table.get_by_text("This session")).to_have_count(1)
    await table.get_by_role("button", name="Sign out").first.click()
    await expect(page.get_by_role("dialog")).to_contain_text("has to sign in again")
    await page.get_by_role("dialog").get_by_role("button", name="Sign out").click()
    await expect(page.get_by_text("That session is signed out")).to_be_visible()
    with house.client("viewer") as client:
        again = {"email": "viewer@acme.example", "password": PASSWORD}
        client.post("/api/session", json=again).raise_for_status()
    await page.reload()
    await page.get_by_role("button", name="Sign out all others").click()
    await page.get_by_role("dialog").get_by_role("button", name="Sign out").click()
    await expect(table.get_by_role("row")).to_have_count(2)
    await other.reload()
    await expect(other).to_have_url(re.compile("/login"))


async def test_the_monitor_judges_extraction(visit: Visit) -> None:
    page = await visit("/monitor", role="admin")
    checks = page.get_by_role("region", name="Checks of extraction")
    await expect(checks.get_by_role("row")).to_have_count(5)
    await expect(checks).to_contain_text("Jobs that succeed")
    await expect(checks).to_contain_text("at least 90.0 %")


async def test_what_the_filter_shows_can_be_exported(visit: Visit, house: House) -> None:
    file = house.folder / "filtered.csv"
    file.write_text("SKU;Title;Price\nFI-1;Saw;1\nFI-2;Axe;abc\nFI-3;Rasp;3\n")
    job_id = house.upload(file)
    house.wait_for(job_id)
    page = await visit(f"/jobs/{job_id}?q=Axe")
    await page.get_by_role("button", name="Export").click()
    async with page.expect_download() as download:
        await page.get_by_role("menuitem", name="CSV, filtered").click()
    found = await download.value
    assert found.suggested_filename == "filtered results.csv"
    assert "FI-2" in (await found.path()).read_text("utf-8")
    assert "FI-1" not in (await found.path()).read_text("utf-8")
    await page.goto(f"/jobs/{job_id}")
    await page.get_by_role("button", name="Export").click()
    await expect(page.get_by_role("menuitem", name="CSV", exact=False).first).to_be_visible()
    assert await page.get_by_role("menuitem", name="CSV, filtered").count() == 0
    assert await page.get_by_role("menuitem", name="As rows, CSV").count() == 0


async def test_variants_of_a_job_are_exported_as_rows(visit: Visit, house: House) -> None:
    file = house.folder / "shirts.csv"
    file.write_text(
        "Handle,Title,Option1 Name,Option1 Value,Variant SKU,Variant Price\n"
        "shirt,Shirt,Color,red,VR-1,9.90\nshirt,,,blue,VR-2,10.90\n"
    )
    job_id = house.upload(file)
    house.wait_for(job_id)
    page = await visit(f"/jobs/{job_id}")
    await page.get_by_role("button", name="Export").click()
    async with page.expect_download() as download:
        await page.get_by_role("menuitem", name="As rows, CSV").click()
    lines = (await (await download.value).path()).read_text("utf-8").splitlines()
    assert [("Color: red" in line, "Color: blue" in line) for line in lines[1:]] == [
        (True, False), (False, True),
    ]  # fmt: skip
