"""What people are asked: which column names products, whose they are, which prices are right."""

from __future__ import annotations

import asyncio
from pathlib import Path

from playwright.async_api import Page, Route, expect
from tests.browser.conftest import Visit
from tests.browser.house import House
from tests.browser.test_access import violations
from tests.checker.polling import until


async def test_a_file_without_names_is_asked_about_and_gets_a_source(
    visit: Visit, tmp_path: Path
) -> None:
    file = tmp_path / "Gadgets-Ltd_2026-11.csv"
    file.write_text("Wotsit;Frobz;Price\nred hammer;QN-1;9.90\nblue saw;QN-2;5.00\n")
    page = await visit("/new")
    await page.get_by_label("File", exact=True).set_input_files(file)
    await page.get_by_role("button", name="Columns").last.click()
    question = page.get_by_role("alert", name="A question about the columns")
    await expect(question).to_contain_text("Which column names the products?")
    await expect(page.get_by_label("Source")).to_have_value("gadgets-ltd")
    await expect(page.get_by_role("button", name="Dry run").last).to_be_disabled()
    row = question.get_by_role("listitem").filter(has_text="Wotsit")
    await row.get_by_role("button", name="Use as title").click()
    await expect(question).to_have_count(0)
    await page.get_by_label("Field that Frobz fills").select_option("identifiers.sku")
    await page.get_by_role("button", name="Dry run").last.click()
    await page.get_by_role("button", name="Start", exact=False).last.click()
    await expect(page.get_by_text("products of the source")).to_contain_text("gadgets-ltd")


async def test_held_prices_are_accepted_and_links_shown(visit: Visit, house: House) -> None:
    def run(name: str, text: str, source: str) -> str:
        file = house.folder / name
        file.write_text(text)
        config = f'{{"intent": "merge", "source": "{source}"}}'
        job_id = house.upload(file, config=config)
        house.wait_for(job_id)
        return job_id

    head = "SKU;Title;EAN;Price\n"
    run("one.csv", f"{head}QP-1;Lamp;4006381333931;10.00 EUR\nQP-2;Bulb;;2.00 EUR\n", "qone")
    other = run("two.csv", f"{head}QX-9;Desk lamp;4006381333931;11.00 EUR\n", "qtwo")
    dear = f"{head}QP-1;Lamp;4006381333931;1000.00 EUR\nQP-2;Bulb;;200.00 EUR\n"
    job_id = run("dear.csv", dear, "qone")
    page = await visit(f"/jobs/{other}?row=1")
    link = page.get_by_role("dialog").get_by_role("link", name="qone · QP-1")
    await link.click()
    await expect(page.get_by_role("heading", name="Possible matches")).to_be_visible()
    await expect(page.get_by_role("link", name="qtwo · QX-9")).to_be_visible()
    await links_are_reviewed(page, other)
    await page.goto(f"/jobs/{job_id}")
    held = page.get_by_role("region", name="Rows held back")
    await expect(held).to_contain_text("2 rows are held back")
    await held.get_by_role("link", name="Prices (2)").click()
    await expect(page.get_by_text("from 10.00 to 1000.00 EUR").first).to_be_visible()
    await held.get_by_role("button", name="Review").click()
    review = page.get_by_role("dialog", name="Rows held back")
    await expect(review.get_by_role("row")).to_contain_text(["Product", "+9,900 %", "+9,900 %"])
    assert await violations(page) == []
    await page.set_viewport_size({"width": 390, "height": 800})
    await expect(review.get_by_text("2.00 → 200.00 EUR")).to_be_in_viewport()
    assert await violations(page) == []
    await page.set_viewport_size({"width": 1440, "height": 900})
    await review.get_by_role("checkbox", name="Choose row 2").check()
    await review.get_by_role("button", name="Accept 1 row").click()
    await expect(held).to_contain_text("1 row is held back")
    house.wait_for(job_id)
    await held.get_by_role("button", name="Accept all").click()
    await page.get_by_role("dialog").get_by_role("button", name="Accept 1 row").click()
    await expect(held).to_have_count(0)

    async def is_written() -> bool:
        with house.client() as client:
            found = client.get("/api/products", params={"source": "qone", "sku": "QP-1"}).json()
        return bool(found["items"][0]["price"]["amount"] == "1000.00")

    await until(is_written, "the accepted price", timeout=60)


async def links_are_reviewed(page: Page, job_id: str) -> None:
    """Refused on the product, proposed again, accepted on the job, and shown with prices."""
    proposed = page.get_by_role("list", name="Proposed links")
    assert await violations(page) == []
    await proposed.get_by_role("button", name="Refuse").click()
    await expect(proposed).to_have_count(0)
    await page.get_by_text("Refused links (1)").click()
    await page.get_by_role("button", name="Propose again").click()
    await expect(proposed).to_be_visible()
    await page.goto(f"/jobs/{job_id}")
    note = page.get_by_role("region", name="Proposed links").first
    await expect(note).to_contain_text("1 possible match in other sources")
    await note.get_by_role("button", name="Review links").click()
    review = page.get_by_role("dialog", name="Links to other sources")
    await expect(review.get_by_role("row").nth(1)).to_contain_text("−9.1 %")
    assert await violations(page) == []
    await review.get_by_role("checkbox", name="Choose Desk lamp and Lamp").check()
    await review.get_by_role("button", name="Accept 1 link").click()
    await expect(review).to_contain_text("All links of this job are decided")
    await review.get_by_role("button", name="Close").last.click()
    await expect(note).to_have_count(0)
    await page.goto("/products?q=QX-9")
    await page.get_by_role("link", name="Desk lamp").click()
    linked = page.get_by_role("region", name="Linked products")
    await expect(linked).to_contain_text("10.00 EUR")
    await expect(linked).to_contain_text("Same GTIN")
    assert await violations(page) == []


async def test_admins_choose_the_key_that_sources_share(visit: Visit, house: House) -> None:
    page = await visit("/settings/account", role="admin")
    key = page.get_by_label("Products of several sources")
    await expect(key).to_have_value("none")
    async with page.expect_response(lambda answer: answer.request.method != "GET"):
        await key.select_option("gtin")
    await page.reload()
    await expect(key).to_have_value("gtin")
    with house.client("admin") as client:
        assert client.get("/api/org").json()["catalogKey"] == "gtin"
        client.patch("/api/org", json={"catalogKey": "none"}).raise_for_status()
    await page.reload()
    await expect(key).to_have_value("none")
    member = await visit("/settings/account")
    await expect(member.get_by_label("Products of several sources")).to_be_disabled()


async def test_a_job_without_names_is_mapped_anew(visit: Visit, house: House) -> None:
    file = house.folder / "unnamed.csv"
    file.write_text("SKU;Title;Price\nQM-1;Saw;1.00\nQM-2;Axe;2.00\n")
    job_id = house.upload(file)
    house.wait_for(job_id)
    with house.client() as client:
        config = {"mapping": {"SKU": None, "Title": None}}
        client.post(f"/api/jobs/{job_id}/remap", json={"config": config}).raise_for_status()
    house.wait_for(job_id, "failed")
    page = await visit(f"/jobs/{job_id}")
    problem = page.get_by_role("alert")
    await expect(problem).to_contain_text("MAPPING_NEEDED")
    await problem.get_by_role("button", name="Remap columns").click()
    assert await violations(page) == []
    await page.get_by_label("Field that Title fills").select_option("title")
    await page.get_by_role("button", name="Run all rows again").click()
    await expect(page.get_by_role("link", name="Done 2")).to_be_visible()


async def test_links_are_decided_in_the_wizard(visit: Visit, house: House, tmp_path: Path) -> None:
    head = "SKU;Title;EAN;Price\n"
    known = house.folder / "wl-known.csv"
    known.write_text(
        f"{head}WA-1;Lamp;4012345678901;10.00 EUR\nWA-2;Saw;4006381333962;20.00 EUR\n"
        "WA-3;Axe;9783161484100;30.00 EUR\n"
    )
    config = '{"intent": "merge", "source": "wl-known"}'
    house.wait_for(house.upload(known, config=config))
    file = tmp_path / "wl-new.csv"
    file.write_text(
        f"{head}WB-1;Desk lamp;4012345678901;9.00 EUR\nWB-2;Hand saw;4006381333962;19.00 EUR\n"
        "WB-3;Hatchet;9783161484100;29.00 EUR\n"
    )
    page = await visit("/new")
    await page.get_by_label("File", exact=True).set_input_files(file)
    for step in ("Columns", "Dry run"):
        await page.get_by_role("button", name=step).last.click()
    await page.get_by_role("radio", name="Links 3").click()
    accept = page.get_by_role("button", name="Accept the link to wl-known · WA-1")
    refuse = page.get_by_role("button", name="Refuse the link to wl-known · WA-2")
    # By keyboard: a decision, the same key again undoes it, and the focus stays.
    await accept.focus()
    await page.keyboard.press("Enter")
    await expect(accept).to_have_attribute("aria-pressed", "true")
    await page.keyboard.press("Enter")
    await expect(accept).to_have_attribute("aria-pressed", "false")
    await page.keyboard.press("Enter")
    await expect(accept).to_have_text("Accepted")
    await refuse.focus()
    await page.keyboard.press("Space")
    await expect(refuse).to_have_text("Refused")
    assert await violations(page) == []
    await page.get_by_role("button", name="Accept 1 link").click()
    await expect(
        page.get_by_role("button", name="Accept the link to wl-known · WA-3")
    ).to_have_attribute("aria-pressed", "true")
    await page.get_by_role("button", name="Start", exact=False).last.click()
    await page.get_by_role("radio", name="Create and update", exact=False).check()
    await page.get_by_role("button", name="Start the import").click()
    await page.wait_for_url("**/jobs/*")
    job_id = page.url.rpartition("/")[2].partition("?")[0]
    house.wait_for(job_id)
    with house.client() as client:
        assert client.get(f"/api/jobs/{job_id}/links").json()["items"] == []
        found = client.get("/api/product-links", params={"source": "wl-known"}).json()["items"]
    decided = {
        side["sourceId"]: one["state"] for one in found for side in (one["product"], one["other"])
    }
    assert {name: decided[name] for name in ("WB-1", "WB-2", "WB-3")} == {
        "WB-1": "accepted", "WB-2": "refused", "WB-3": "accepted",
    }  # fmt: skip


async def test_links_wait_until_the_file_is_read_with_its_source(
    visit: Visit, house: House, tmp_path: Path
) -> None:
    """Else a decision would be about a product of another source, and the focus would be lost."""
    head = "SKU;Title;EAN;Price\n"
    known = house.folder / "ws-known.csv"
    known.write_text(f"{head}WS-1;Lamp;4012345678918;10.00 EUR\n")
    house.wait_for(house.upload(known, config='{"intent": "merge", "source": "ws-known"}'))
    file = tmp_path / "wsnovum.csv"
    file.write_text(f"{head}WT-1;Desk lamp;4012345678918;9.00 EUR\n")
    page = await visit("/new")
    slow = asyncio.Event()

    async def late(route: Route) -> None:
        if "wsnovum" in (route.request.post_data or ""):
            await slow.wait()
        await route.continue_()

    await page.route("**/api/jobs/preview", late)
    await page.get_by_label("File", exact=True).set_input_files(file)
    await page.get_by_role("button", name="Columns").last.click()
    following = page.get_by_role("button", name="Dry run").last
    await expect(
        page.get_by_role("status").filter(has_text="Reading the file again")
    ).to_be_visible()
    await expect(following).to_be_disabled()
    await expect(page.get_by_role("button", name="4 Dry run")).to_be_disabled()
    slow.set()
    await following.click()
    await page.get_by_role("radio", name="Links 1").click()
    accept = page.get_by_role("button", name="Accept the link to ws-known · WS-1")
    await accept.focus()
    await page.keyboard.press("Enter")
    await expect(accept).to_have_text("Accepted")
    await expect(accept).to_be_focused()
    with house.client() as client:
        found = client.get("/api/product-links", params={"source": "ws-known"}).json()["items"]
    assert {side["source"] for one in found for side in (one["product"], one["other"])} == {
        "ws-known", "wsnovum",
    }  # fmt: skip


async def test_the_currency_is_asked_for_where_the_file_has_none(
    visit: Visit, tmp_path: Path
) -> None:
    file = tmp_path / "bare.csv"
    file.write_text("SKU;Title;Price\nQC-1;Saw;9.90\nQC-2;Axe;5.00\n")
    page = await visit("/new")
    await page.get_by_label("File", exact=True).set_input_files(file)
    await page.get_by_role("button", name="Columns").last.click()
    question = page.get_by_role("alert", name="Which currency are the prices in?")
    await expect(question).to_be_visible()
    assert await violations(page) == []
    await question.get_by_role("button", name="CHF").click()
    await expect(question).to_have_count(0)
    await expect(page.get_by_label("Currency", exact=True)).to_have_value("CHF")
    await page.get_by_role("button", name="Dry run").last.click()
    await expect(page.get_by_role("row").filter(has_text="QC-1")).to_contain_text("CHF")
